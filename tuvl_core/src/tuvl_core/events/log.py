"""A run's latest events, kept for any number of readers who come, go and come back."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from tuvl_core.events.event import StepEvent

if TYPE_CHECKING:
    import asyncio

__all__ = ["EventLog", "RecordedEvent"]


@attrs.frozen
class RecordedEvent:
    """An event as it is sent: by number, with its text.

    Attributes:
        seq: Its number within the run, from 1.
        type: `step`, `progress` or `run`.
        json: The event as one line of strict JSON.
    """

    seq: int
    type: str
    json: str

    @property
    def terminal(self) -> bool:
        """Whether this is the last event of its run."""
        return self.type == "run"

    def to_json(self) -> str:
        """Give the event as one line of strict JSON."""
        return self.json

    def to_dict(self) -> dict[str, Any]:
        """Give the event as JSON-ready data."""
        parsed: dict[str, Any] = json.loads(self.json)
        return parsed

    @classmethod
    def parse(cls, text: str) -> RecordedEvent:
        """Read an event from its text.

        Raises:
            ValueError: It is no event.
        """
        data = json.loads(text)
        if not isinstance(data, Mapping) or not isinstance(data.get("seq"), int) or "type" not in data:
            raise ValueError("this is no event of a run")
        return cls(data["seq"], str(data["type"]), text)


class EventLog:
    """A sink that keeps a run's latest events, and lets any number of readers follow them.

    Readers share one copy and each has a place of its own in it. One that is too slow, or comes back after too
    long, goes on with the oldest event that is still kept; the gap shows in `seq`. The last event is always kept.

    Args:
        most: How many events are kept.
        most_bytes: How many characters of JSON are kept at most, whatever their number.
        wants_snapshots: Whether step events should carry the masked context.
    """

    def __init__(self, most: int = 1000, most_bytes: int = 1_000_000, *, wants_snapshots: bool = True) -> None:
        self.wants_snapshots = wants_snapshots
        self.closed = False
        self._most = max(most, 1)
        self._most_bytes = most_bytes
        self._events: deque[StepEvent] = deque()
        self._size = 0
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def last_seq(self) -> int:
        """The number of the latest event; 0 before the first."""
        return self._events[-1].seq if self._events else 0

    @property
    def first_seq(self) -> int:
        """The number of the oldest event that is kept; 0 before the first."""
        return self._events[0].seq if self._events else 0

    def emit(self, event: StepEvent) -> None:
        """Take one event; the oldest give way."""
        if self.closed:
            return
        events = self._events
        events.append(event)
        self._size += len(event.snapshot_json)
        while len(events) > self._most or (self._size > self._most_bytes and len(events) > 1):
            self._size -= len(events.popleft().snapshot_json)
        self._wake()

    def close(self) -> None:
        """Nothing follows; readers end once they have read what is kept."""
        self.closed = True
        self._wake()

    def kept(self, after: int = 0) -> list[StepEvent]:
        """The events that are kept and come after a number, without looking at those before it."""
        events = self._events
        new = min(self.last_seq - after, len(events))
        return [events[i] for i in range(-new, 0)]

    async def follow(self, after: int = 0) -> AsyncIterator[StepEvent]:
        """Yield events from a number on, as they come, to the last.

        Args:
            after: The number of the last event that the reader has; 0: from the start.
        """
        while True:
            event = self._next(after)
            if event is not None:
                after = event.seq
                yield event
                if event.terminal:
                    return
            elif self.closed:
                return
            else:
                await self._wait()

    def _next(self, after: int) -> StepEvent | None:
        """The oldest kept event after a number, found without looking at all: numbers have no gaps."""
        events = self._events
        if not events or events[-1].seq <= after:
            return None
        return events[max(after + 1 - events[0].seq, 0)]

    async def _wait(self) -> None:
        import asyncio  # which checking a project can do without

        future = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        try:
            await future
        finally:
            if not future.done() or future.cancelled():
                self._waiting = [other for other in self._waiting if other is not future]

    def _wake(self) -> None:
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            for future in waiting:
                if not future.done():
                    future.set_result(None)
