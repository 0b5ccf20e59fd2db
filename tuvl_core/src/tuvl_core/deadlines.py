"""Time limits of an event loop, all on one timer.

An engine that bounds every model call and every tool call starts and ends thousands of limits a second,
and next to none of them ever passes. A timer of its own for each costs more than keeping it in a table;
so the table has one timer, set for whichever limit passes first. Limits that have ended stay out of the
event loop's own heap of timers, too.

A limit fires on the event loop. Code that never awaits keeps the loop from firing it, which only another
thread can notice: the watchdog looks into the same tables and says so.
"""

from __future__ import annotations

import asyncio
import math
from types import TracebackType
from typing import Any, Final, Protocol

from tuvl_core.watchdog import WATCHDOG

__all__ = ["Deadlines", "TimeLimit", "deadlines"]


class Limit(Protocol):
    """One time limit that is running."""

    due: float
    """When it passes, on the event loop's clock, which is `time.monotonic`."""
    label: str
    """Names the work it is around."""

    def expire(self) -> None:
        """It has passed; it is no longer in the table."""
        ...


class Deadlines:
    """The limits that are running on one event loop.

    Args:
        loop: The event loop.
    """

    __slots__ = ("__weakref__", "_next", "_timer", "loop", "running")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.running: dict[Limit, None] = {}
        self._next = math.inf
        self._timer: asyncio.TimerHandle | None = None
        WATCHDOG.look_into(self)

    def start(self, limit: Limit) -> None:
        """Let the limit expire when it is due, unless it is ended before."""
        self.running[limit] = None
        if limit.due < self._next:
            self._set_timer(limit.due)
        if WATCHDOG.sleeps:
            WATCHDOG.wake()

    def end(self, limit: Limit) -> None:
        """The work is done, or its clock stands still."""
        self.running.pop(limit, None)

    def _set_timer(self, due: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._next = due
        self._timer = self.loop.call_at(due, self._look)

    def _look(self) -> None:
        """Expire what is due, and come again for the next; limits that have ended cost this one look."""
        now = max(self.loop.time(), self._next)
        self._next, self._timer = math.inf, None
        expired = [limit for limit in self.running if limit.due <= now]
        for limit in expired:
            del self.running[limit]
        if self.running:
            self._set_timer(min([limit.due for limit in self.running]))
        for limit in expired:
            limit.expire()


_tables: Final[dict[asyncio.AbstractEventLoop, Deadlines]] = {}
_recent: Deadlines | None = None


def deadlines() -> Deadlines:
    """The table of the running event loop."""
    global _recent
    loop = asyncio.get_running_loop()
    found = _recent  # read once: another thread may have a loop, too
    if found is None or found.loop is not loop:
        found = _recent = _table_of(loop)
    return found


def _table_of(loop: asyncio.AbstractEventLoop) -> Deadlines:
    found = _tables.get(loop)
    if found is None:
        for other in [other for other in _tables if other.is_closed()]:
            _tables.pop(other, None)
        found = _tables[loop] = Deadlines(loop)
    return found


class TimeLimit:
    """`asyncio.timeout` on the shared timer: cancels the current task and becomes `TimeoutError`.

    As with `asyncio.timeout`, the work is waited for while it cleans up, and a cancellation that comes from
    elsewhere goes on as one.

    Args:
        seconds: The limit.
        label: Names the work in log lines.

    Raises:
        TimeoutError: On leaving the block, after the limit has passed inside it.
    """

    __slots__ = ("_asked_before", "_deadlines", "_expired", "_task", "due", "label")

    def __init__(self, seconds: float, label: str) -> None:
        self.label = label
        self.due = seconds
        self._expired = False

    def __enter__(self) -> TimeLimit:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a time limit needs a task to cancel")
        self._task: asyncio.Task[Any] = task
        self._asked_before = task.cancelling()
        self._deadlines = table = deadlines()
        self.due += table.loop.time()
        table.start(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._deadlines.end(self)
        if self._expired and self._task.uncancel() <= self._asked_before and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def expire(self) -> None:
        """Cancel the work; the table calls this."""
        self._expired = True
        self._task.cancel()
