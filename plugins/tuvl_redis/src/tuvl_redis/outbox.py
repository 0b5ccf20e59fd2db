"""Tells Redis what goes on in this worker, beside the runs and never in their way."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final

from tuvl_core import log_event, wire_dumps
from tuvl_redis.batch import Batch
from tuvl_redis.board import Board
from tuvl_redis.link import AWAY, Backoff, Link
from tuvl_redis.runs import OwnRun

if TYPE_CHECKING:
    from tuvl_core import LoopRegistry

__all__ = ["Outbox"]

_BUSY_S: Final = 0.05
_IDLE_S: Final = 0.5
_MOST_OVER: Final = 1000
_log = logging.getLogger("tuvl.redis")


class Outbox:
    """Tells Redis of this worker's loops, runs and events, batch by batch, in a task of its own.

    Nothing waits in a queue of its own: events wait in their run's log, which lets the oldest go, and loops and
    records are looked at when they are sent. What Redis has lost (it was restarted, or forgot) is told again.

    Args:
        link: Redis.
        loops: The loops of this process.
        worker: This worker's id.
    """

    def __init__(self, link: Link, loops: LoopRegistry, worker: str) -> None:
        self._link = link
        self._config = link.config
        self._worker = worker
        self._loops = loops
        self._client = link.client(1)
        self._board = Board(loops, self._config, worker)
        self._live: OrderedDict[str, OwnRun] = OrderedDict()
        self._over: OrderedDict[str, OwnRun] = OrderedDict()
        self._beat_due = 0.0
        self._known = False
        self._wake = asyncio.Event()
        self._stop = asyncio.Event()

    # --- what the worker says ---------------------------------------------------------------

    def began(self, own: OwnRun) -> None:
        """A run has begun."""
        self._live[own.run_id] = own
        self._wake.set()

    def own(self, run_id: str) -> OwnRun | None:
        """A run of this worker, one that goes or one of the latest that are over."""
        return self._live.get(run_id) or self._over.get(run_id)

    def beat(self) -> None:
        """Tell everything again soon: Redis may be another one."""
        self._beat_due = 0.0
        self._wake.set()

    def close(self) -> None:
        """Tell what is left, then end."""
        self._stop.set()
        self._wake.set()

    # --- the task ---------------------------------------------------------------------------

    async def run(self) -> None:
        """Go on until `close`."""
        backoff = Backoff()
        while True:
            closing = self._stop.is_set()
            try:
                more = await self._flush()
            except AWAY as error:
                self._failed(error)
                if closing:
                    return
                await self._rest(backoff.next(), woken=False)
                continue
            except Exception:
                log_event(_log, logging.ERROR, "redis.outbox_failed", {}, exc_info=True)
                self._unsure()
                await self._rest(backoff.next(), woken=False)
                continue
            self._link.answered()
            backoff.reset()
            if not more:
                if closing:
                    await self._leave()
                    return
                busy = bool(self._live) or len(self._loops) > 0
                await self._rest(_BUSY_S if busy else _IDLE_S, woken=not busy)

    async def _rest(self, seconds: float, *, woken: bool) -> None:
        """Wait; `close` always ends it, and with `woken` so does news."""
        try:
            async with asyncio.timeout(seconds):
                await (self._wake if woken else self._stop).wait()
        except TimeoutError:
            pass
        self._wake.clear()

    def _failed(self, error: BaseException) -> None:
        self._link.failed(error)
        self._unsure()

    def _unsure(self) -> None:
        self._beat_due = 0.0
        self._board.forget()
        for own in self._live.values():
            own.forget()

    async def _flush(self) -> bool:
        """Send one batch; give whether there is more."""
        now = time.monotonic()
        beat = now >= self._beat_due
        batch = Batch(self._client)
        if beat:
            self._beat_due = now + self._config.ttl_s / 3
            self._add_marker(batch)
            self._forget_old(now)
        self._board.fill(batch, beat=beat)
        for own in list(self._live.values()):
            if batch.full:
                break
            own.fill(batch, self._config, self._worker, beat=beat)
            self._live.move_to_end(own.run_id)  # whoever found no place is first next time
        await batch.send()
        for own in [own for own in self._live.values() if own.done]:
            self._over[own.run_id] = self._live.pop(own.run_id)
        untold = any(own.ended is not None for own in self._live.values())
        return batch.full or (untold and self._stop.is_set())

    def _add_marker(self, batch: Batch) -> None:
        text = wire_dumps({"pid": os.getpid(), "seen": time.time()})
        alive_ms = int(self._config.ttl_s * 1000)
        batch.add(self._marked, "SET", self._config.keys.worker(self._worker), text, "PX", alive_ms, "GET")

    def _marked(self, before: Any) -> None:
        if before is None and self._known:  # Redis has lost this worker: it was restarted, or away for long
            log_event(_log, logging.WARNING, "redis.told_again", {"runs": len(self._live) + len(self._over)})
            self._live.update(self._over)
            self._over.clear()
            self._unsure()
        self._known = True

    def _forget_old(self, now: float) -> None:
        """Let go of runs that are over for long, or too many; while Redis is away they lie among those that go."""
        over = [own for own in (*self._over.values(), *self._live.values()) if own.ended is not None]
        old = [own for own in over if now - (own.ended or now) > self._config.keep_s]
        for own in {id(own): own for own in (*old, *over[:-_MOST_OVER])}.values():
            self._over.pop(own.run_id, None)
            self._live.pop(own.run_id, None)

    async def _leave(self) -> None:
        """Take back what says that this worker lives; its runs that are over stay until their time."""
        batch = Batch(self._client)
        self._board.clear(batch)
        batch.add(None, "UNLINK", self._config.keys.worker(self._worker))
        try:
            await batch.send()
        except AWAY as error:
            self._link.failed(error)
