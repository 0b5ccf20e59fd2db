"""Time limits that hold even when the other side does not cooperate.

`asyncio.timeout` and `wait_for` wait for the clean-up of what they cancel, so a tool that catches its
cancellation, or cleans up for ever, outlives them. A `Bound` runs the work as a task of its own and
waits for a future that either the task or the clock sets; what is left of the work is reported, not
awaited. It can be suspended: while an agent inside is paused, the clocks around it stand still.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

from tuvl_core.deadlines import Deadlines, deadlines
from tuvl_core.engine.eager import start_task
from tuvl_core.telemetry import log_event

__all__ = ["Bound", "BoundExpired"]

T = TypeVar("T")
_log = logging.getLogger("tuvl.engine")

CANCEL_GRACE_S: Final = 1.0
"""How long a cancelled run waits for the clean-up of what it cancelled before leaving it behind."""


class BoundExpired(Exception):
    """The limit passed before the work was done."""


class Bound:
    """One time limit around one piece of work.

    Args:
        seconds: The limit; None only makes the work cancellable without waiting for its clean-up.
        label: Names the work in log lines.

    Attributes:
        due: When the limit passes, on the event loop's clock.
        running: Whether its clock runs.
        abandoned: Whether the work was left behind.
    """

    __slots__ = ("_done", "_left", "_suspended", "_table", "_task", "abandoned", "due", "label", "running")

    def __init__(self, seconds: float | None, label: str) -> None:
        self._left = seconds
        self.label = label
        self._table: Deadlines = deadlines()
        self._done: asyncio.Future[bool] | None = None
        self.running = False
        self._suspended = 0
        self._task: asyncio.Task[Any] | None = None
        self.abandoned = False
        self.due = 0.0

    @property
    def deadline(self) -> float | None:
        """When the limit passes, on the event loop's clock; None while it stands still."""
        return self.due if self.running else None

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do the work within the limit.

        Raises:
            BoundExpired: The limit passed. The work has been cancelled and is not waited for.
        """
        self._start()
        try:
            task: asyncio.Task[T] = start_task(self._table.loop, self._do(work))
            self._task = task
            if task.done():
                return task.result()
            self._done = self._table.loop.create_future()
            try:
                expired = await self._done
            except asyncio.CancelledError:
                await self._cancelled(task, work)
                raise
        finally:
            self._stop()
            self._left = None  # so that nothing starts the clock again
        if expired:
            self._abandon(task, work)
            raise BoundExpired
        if task.cancelled():
            work.close()  # where it was cancelled before it began, nobody has awaited it
        return task.result()

    def cancel(self) -> None:
        """Cancel the work now; `run` then raises what the work makes of it."""
        if self._task is not None:
            # A task that has not begun yet ends without running any of `_do`.
            self._task.add_done_callback(self._finished)
            self._task.cancel()

    def suspend(self) -> None:
        """Let the clock stand still; calls nest."""
        self._suspended += 1
        if self._suspended == 1 and self.running:
            self._left = max(self.due - self._table.loop.time(), 0.0)
            self._stop()

    def resume(self) -> None:
        """Let the clock run on with what was left."""
        self._suspended -= 1
        if self._suspended == 0:
            self._start()

    async def _do(self, work: Coroutine[Any, Any, T]) -> T:
        # Tells the waiting side from within: a done-callback would cost a turn of the event loop.
        try:
            return await work
        finally:
            self._finish(False)

    def expire(self) -> None:
        """The limit has passed; the table calls this."""
        self.running = False
        self._finish(True)

    def _start(self) -> None:
        if self._left is not None:
            self.due = self._table.loop.time() + self._left
            self.running = True
            self._table.start(self)

    def _stop(self) -> None:
        if self.running:
            self.running = False
            self._table.end(self)

    def _finished(self, task: asyncio.Task[Any]) -> None:
        self._finish(False)

    def _finish(self, expired: bool) -> None:
        if self._done is not None and not self._done.done():
            self._done.set_result(expired)

    async def _cancelled(self, task: asyncio.Task[Any], work: Coroutine[Any, Any, Any]) -> None:
        """The caller was cancelled: pass it on, and give the work a moment to clean up."""
        task.cancel()
        await asyncio.wait({task}, timeout=CANCEL_GRACE_S)
        if not task.done():
            self._abandon(task, work)
        elif task.cancelled():
            work.close()
        else:
            task.exception()  # retrieved, so that asyncio does not report it as lost

    def _abandon(self, task: asyncio.Task[Any], work: Coroutine[Any, Any, Any]) -> None:
        self.abandoned = True
        task.cancel()
        task.add_done_callback(_Leftover(self.label, work))
        log_event(_log, logging.WARNING, "step.left_behind", {"step": self.label})


class _Leftover:
    """Reports how abandoned work ended, so that nothing of it is silently lost."""

    __slots__ = ("_label", "_work")

    def __init__(self, label: str, work: Coroutine[Any, Any, Any]) -> None:
        self._label = label
        self._work = work

    def __call__(self, task: asyncio.Task[Any]) -> None:
        self._work.close()
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            fields = {"step": self._label, "error": type(error).__name__}
            log_event(_log, logging.WARNING, "step.left_behind_failed", fields)
