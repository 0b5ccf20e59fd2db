"""Follows runs of other workers, for any number of readers with one command at a time."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from typing import Any, Final

import attrs

from tuvl_core import RecordedEvent, log_event
from tuvl_redis.link import AWAY, Link, heeding
from tuvl_redis.reader import Found, Reader, lost_event, lost_record
from tuvl_redis.scripts import TAILS

__all__ = ["Tails"]

_LOOK_S: Final = 0.1
_AT_ONCE: Final = 200
_log = logging.getLogger("tuvl.redis")


@attrs.define(eq=False)
class _Tail:
    """How far one run has come, by the last look.

    Attributes:
        run_id: The run.
        worker: Whose run it is.
        readers: How many follow it.
        last: The number of its last event in Redis.
        over: Whether it has ended.
        lost_since: Since when its worker is gone, on the monotonic clock; None while it lives.
        changed: Set at each look that found something new.
    """

    run_id: str
    worker: str
    readers: int = 0
    last: int = 0
    over: bool = False
    lost_since: float | None = None
    changed: asyncio.Event = attrs.field(factory=asyncio.Event)

    def looked(self, last: int, over: bytes, alive: int, grace_s: float) -> None:
        """Take what a look found; a run that Redis does not know may be told again, and has time for that."""
        now = time.monotonic()
        if over == b"1" or alive:
            self.lost_since = None
        elif self.lost_since is None:
            self.lost_since = now + (0.0 if over else grace_s)
        news = last > self.last or (over == b"1" and not self.over) or self.lost(now)
        self.last, self.over = last, over == b"1"
        if news:
            self.changed.set()
            self.changed = asyncio.Event()

    def lost(self, now: float) -> bool:
        """Whether its worker is gone for good."""
        return self.lost_since is not None and now >= self.lost_since


class Tails:
    """Looks ten times a second how far the runs have come that somebody follows; idle while nobody does.

    Args:
        link: Redis.
        reader: Reads the events themselves.
    """

    def __init__(self, link: Link, reader: Reader) -> None:
        self._link = link
        self._reader = reader
        self._client: Any = link.client(1)
        self._tails: dict[str, _Tail] = {}
        self._some = asyncio.Event()

    async def follow(self, run_id: str, found: Found, after: int) -> AsyncIterator[RecordedEvent]:
        """Yield a run's events from a number on, as they come, to the last; waits while Redis is away."""
        tail = self._tails.setdefault(run_id, _Tail(run_id, found.worker))
        tail.readers += 1
        self._some.set()
        try:
            while True:
                changed, over, last = tail.changed, tail.over, tail.last
                page = await self._page(run_id, after)
                for event in page:
                    after = event.seq
                    yield event
                    if event.terminal:
                        return
                if page:
                    continue
                if over and last <= after:
                    return
                if tail.lost(time.monotonic()):
                    yield lost_event(lost_record(found.record, time.time()), after)
                    return
                await changed.wait()
        finally:
            tail.readers -= 1
            if not tail.readers:
                self._tails.pop(run_id, None)
                if not self._tails:
                    self._some.clear()

    async def _page(self, run_id: str, after: int) -> list[RecordedEvent]:
        try:
            return await heeding(self._reader.page(run_id, after))
        except AWAY as error:
            self._link.failed(error)
            await asyncio.sleep(_LOOK_S)
            return []

    async def run(self) -> None:
        """Look, for ever."""
        while True:
            await self._some.wait()
            try:
                await self._look(list(self._tails.values()))
            except AWAY as error:
                self._link.failed(error)
                await asyncio.sleep(_LOOK_S * 5)
            except Exception:
                log_event(_log, logging.ERROR, "redis.follow_failed", {}, exc_info=True)
            await asyncio.sleep(_LOOK_S)

    async def _look(self, tails: list[_Tail]) -> None:
        keys, grace_s = self._link.config.keys, self._link.config.ttl_s
        for start in range(0, len(tails), _AT_ONCE):
            some = tails[start : start + _AT_ONCE]
            names: list[Any] = []
            for tail in some:
                names += (keys.events(tail.run_id), keys.run(tail.run_id), keys.worker(tail.worker))
            looks = await heeding(self._client.execute_command("EVAL", TAILS, len(names), *names))
            for tail, (last, over, alive) in zip(some, looks, strict=True):
                tail.looked(int(last), over, int(alive), grace_s)
