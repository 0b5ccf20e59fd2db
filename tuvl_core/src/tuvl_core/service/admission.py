"""How much runs at a time."""

from __future__ import annotations

import asyncio
from collections import deque

from tuvl_core.errors import BusyError

__all__ = ["Admission"]


class Admission:
    """Lets so many runs go at a time, and so many wait for their turn, first come first served.

    Args:
        running: How many go.
        queued: How many wait; whoever comes then is told to come back.
    """

    def __init__(self, running: int, queued: int) -> None:
        self._free = running
        self._queued = queued
        self._waiting: deque[asyncio.Future[None]] = deque()
        self.closed = False

    async def enter(self) -> None:
        """Wait for a place; whoever got one leaves it.

        Raises:
            BusyError: Too many wait already, or nothing new begins.
        """
        if self.closed:
            raise BusyError("this server is about to end and starts nothing new", retry_after_s=5, draining=True)
        if self._free > 0 and not self._waiting:
            self._free -= 1
            return
        if len(self._waiting) >= self._queued:
            raise BusyError("this server is busy: too many runs go already, and too many wait", retry_after_s=2)
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled() and place.exception() is None:
                self.leave()  # the place came at the same moment
            raise

    def leave(self) -> None:
        """Give a place back."""
        self._free += 1
        while self._free > 0 and self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                self._free -= 1
                place.set_result(None)

    def close(self) -> None:
        """Let nothing new begin: whoever waits is told."""
        self.closed = True
        while self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                text = "this server is about to end and starts nothing new"
                place.set_exception(BusyError(text, retry_after_s=5, draining=True))
