"""A queue between a run and one reader."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator

from tuvl_core.events.event import StepEvent

__all__ = ["QueueSink"]


class QueueSink:
    """A bounded queue between a run and one reader.

    A reader that is too slow loses the oldest events it has not read, never the terminal one; `lost`
    counts them, and the gap shows in `seq`.

    Args:
        size: How many events may wait.
        wants_snapshots: Whether step events should carry the masked context.
    """

    def __init__(self, size: int = 1000, *, wants_snapshots: bool = True) -> None:
        self.wants_snapshots = wants_snapshots
        self.lost = 0
        self._events: deque[StepEvent] = deque()
        self._size = max(size, 1)
        self._closed = False
        import asyncio  # which checking a project can do without

        self._wake = asyncio.Event()

    def emit(self, event: StepEvent) -> None:
        """Take one event; the oldest waiting one gives way when the queue is full."""
        if self._closed:
            return
        if len(self._events) >= self._size:
            self._events.popleft()
            self.lost += 1
        self._events.append(event)
        self._wake.set()

    def close(self) -> None:
        """End the reader once it has read what waits."""
        self._closed = True
        self._wake.set()

    async def __aiter__(self) -> AsyncIterator[StepEvent]:
        while True:
            while self._events:
                event = self._events.popleft()
                yield event
                if event.terminal:
                    return
            if self._closed:
                return
            self._wake.clear()
            await self._wake.wait()
