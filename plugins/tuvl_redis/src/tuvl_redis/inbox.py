"""What other workers ask of this one, and what they answer."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Final

from redis.asyncio.client import PubSub

from tuvl_core import log_event, wire_dumps
from tuvl_redis.link import AWAY, Backoff, Link, heeding

__all__ = ["UNKNOWN", "Inbox"]

UNKNOWN: Final = "unknown"
"""The answer of a worker that has no such loop or run, or none of that tenant."""

_MOST_BYTES: Final = 64_000
_REMEMBERED: Final = 1000
_FIRST_WAIT_S: Final = 0.3
_LONGEST_WAIT_S: Final = 1.0
_WORKER: Final = re.compile(r"[0-9a-f]{32}")
_log = logging.getLogger("tuvl.redis")

Answer = str | bool


class Inbox:
    """Listens on this worker's channel, answers what is asked there, and asks others on theirs.

    A question that is not answered in time is sent again under the same id, and whoever has answered it before
    gives the same answer without doing anything.

    Args:
        link: Redis.
        worker: This worker's id.
        land: Does what is asked: called with a message, gives the answer; raises `ValueError` where the message is
            no such thing.
        connected: Called when the channel is listened on, at first and after each time it was not.
    """

    def __init__(
        self,
        link: Link,
        worker: str,
        land: Callable[[Mapping[str, Any]], Answer],
        connected: Callable[[], None],
    ) -> None:
        self._link = link
        self._worker = worker
        self._land = land
        self._connected = connected
        self._channel = link.config.keys.inbox(worker)
        self._listening = link.client(1)
        self._sending = link.client(4)
        self._answered: OrderedDict[tuple[str, str], Answer] = OrderedDict()
        self._asked: dict[str, asyncio.Future[Answer]] = {}
        self._complained: dict[str, tuple[float, int]] = {}

    # --- asking -----------------------------------------------------------------------------

    async def ask(self, worker: str, message: Mapping[str, Any]) -> Answer | None:
        """Ask another worker, as often as it takes; None where it has not answered in time."""
        id = uuid.uuid4().hex
        text = wire_dumps({**message, "id": id, "from": self._worker})
        answer = self._asked[id] = asyncio.get_running_loop().create_future()
        due, wait = time.monotonic() + self._link.config.directive_s, _FIRST_WAIT_S
        try:
            while not answer.done() and (left := due - time.monotonic()) > 0:
                await self._publish(worker, text)
                await asyncio.wait({answer}, timeout=min(wait, left))
                wait = min(wait * 1.5, _LONGEST_WAIT_S)
            return answer.result() if answer.done() else None
        finally:
            del self._asked[id]
            answer.cancel()

    async def _publish(self, worker: str, text: str) -> None:
        try:
            await heeding(self._sending.publish(self._link.config.keys.inbox(worker), text))
        except AWAY as error:
            self._link.failed(error)

    # --- listening --------------------------------------------------------------------------

    async def run(self) -> None:
        """Listen for ever; where Redis is away, come back later and later."""
        backoff = Backoff()
        while True:
            try:
                async with self._listening.pubsub() as channel:
                    await self._listen(channel, backoff)
            except AWAY as error:
                self._link.failed(error)
            except Exception:
                log_event(_log, logging.ERROR, "redis.inbox_failed", {}, exc_info=True)
            await asyncio.sleep(backoff.next())

    async def _listen(self, channel: PubSub, backoff: Backoff) -> None:
        await heeding(channel.subscribe(self._channel))
        quiet_s = max(self._link.config.ttl_s / 3, self._link.config.timeout_s)
        pinged = False
        while True:
            message = await heeding(channel.get_message(timeout=quiet_s))
            if message is None:
                # A connection that is cut off without a word looks like one on which nobody asks anything.
                if pinged:
                    raise TimeoutError
                pinged = True
                await heeding(channel.ping())
                continue
            pinged = False
            if message["type"] == "subscribe":
                backoff.reset()
                self._connected()
            elif message["type"] == "message":
                await self._receive(message["data"])

    async def _receive(self, data: bytes) -> None:
        try:
            message = _read(data)
            if message["op"] == "answer":
                self._take_answer(message)
                return
            answer = self._once(message)
        except ValueError as problem:
            self._complain(str(problem), len(data))
            return
        reply = {"op": "answer", "to": message["id"], "answer": answer, "id": message["id"], "from": self._worker}
        await self._publish(message["from"], wire_dumps(reply))

    def _once(self, message: Mapping[str, Any]) -> Answer:
        key = (message["from"], message["id"])
        if key in self._answered:
            return self._answered[key]
        answer = self._land(message)
        if answer == UNKNOWN:
            return answer
        self._answered[key] = answer
        if len(self._answered) > _REMEMBERED:
            self._answered.popitem(last=False)
        return answer

    def _take_answer(self, message: Mapping[str, Any]) -> None:
        answer = message.get("answer")
        if not isinstance(answer, (str, bool)):
            raise ValueError("an answer that is none")
        waiting = self._asked.get(str(message.get("to")))
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)

    def _complain(self, problem: str, size: int) -> None:
        """Log what was refused: the first of a kind at once, more of it once in ten seconds with their number."""
        now = time.monotonic()
        last, more = self._complained.get(problem, (-1e9, 0))
        if now - last < 10:
            self._complained[problem] = (last, more + 1)
            return
        if len(self._complained) > 100:
            self._complained.clear()
        self._complained[problem] = (now, 0)
        fields = {"channel": self._channel, "problem": problem, "bytes": size, "more": more}
        log_event(_log, logging.WARNING, "redis.refused", fields)


def _read(data: bytes) -> dict[str, Any]:
    if len(data) > _MOST_BYTES:
        raise ValueError("a message that is too large")
    try:
        message = json.loads(data)
    except (ValueError, RecursionError):
        raise ValueError("a message that is no JSON") from None
    if not isinstance(message, dict) or not all(isinstance(message.get(key), str) for key in ("op", "id", "from")):
        raise ValueError("a message without op, id and from")
    if len(message["id"]) > 100 or not _WORKER.fullmatch(message["from"]):
        raise ValueError("a message from no worker")
    return message
