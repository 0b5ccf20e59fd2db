"""A thread between a run and something slow that reads about it, so that the run never waits."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from tuvl_core import StepEvent

__all__ = ["EventLines", "Outlet"]

T = TypeVar("T")

_MOST: Final = 32 * 1024 * 1024
"""How much may wait for a slow reader; what is older gives way."""


class Outlet(Generic[T]):
    """Hands items to a consumer, in order, on a thread of its own.

    What a consumer that is too slow loses is the oldest; the last item is never lost.

    Args:
        consume: Takes one item; what it raises ends the outlet.
        broken: Called, on the outlet's thread, when the consumer has raised an OSError.
        most: How much may wait, in the unit of `put`'s size.
    """

    def __init__(
        self, consume: Callable[[T], None], *, broken: Callable[[], None] = lambda: None, most: int = _MOST
    ) -> None:
        self.lost = 0
        self.failure: Exception | None = None
        self._consume = consume
        self._broken = broken
        self._most = most
        self._waiting: deque[tuple[T, int]] = deque()
        self._size = 0
        self._closed = False
        self._changed = threading.Condition()
        # A daemon: a reader that never reads must not keep the process from ending.
        self._thread = threading.Thread(target=self._work, name="tuvl-output", daemon=True)
        self._thread.start()

    def put(self, item: T, size: int) -> None:
        """Take one item; never blocks."""
        with self._changed:
            if self._closed or self.failure is not None:
                return
            while self._waiting and self._size + size > self._most:
                self._size -= self._waiting.popleft()[1]
                self.lost += 1
            self._waiting.append((item, size))
            self._size += size
            self._changed.notify()

    def close(self, timeout_s: float | None = None) -> None:
        """Let the consumer take what waits, and wait for it as long as the timeout says."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join(timeout_s)

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._closed:
                    self._changed.wait()
                if not self._waiting:
                    return
                item, size = self._waiting.popleft()
                self._size -= size
            try:
                self._consume(item)
            except Exception as error:
                self.failure = error
                self._waiting.clear()
                if isinstance(error, OSError):
                    self._broken()
                return


class EventLines:
    """A sink that writes each event as a line of JSON.

    Args:
        fileno: Where to.
        gone: Called on another thread when nobody reads any more.
    """

    wants_snapshots = True

    def __init__(self, fileno: int, gone: Callable[[], None]) -> None:
        self._fileno = fileno
        self._outlet: Outlet[bytes] = Outlet(self._write, broken=gone)

    def emit(self, event: StepEvent) -> None:
        """Take one event."""
        line = f"{event.to_json()}\n".encode("utf-8", "backslashreplace")
        self._outlet.put(line, len(line))

    def close(self) -> None:
        """The run is over; `finish` waits for the reader."""

    def finish(self) -> tuple[int, Exception | None]:
        """Wait until everything is written; gives how many events are lost, and why writing ended."""
        self._outlet.close()
        return self._outlet.lost, self._outlet.failure

    def _write(self, line: bytes) -> None:
        # Straight to the descriptor: a buffer's lock could not be had any more if the process must end
        # while the reader does not read.
        rest = memoryview(line)
        while rest:
            rest = rest[os.write(self._fileno, rest) :]
