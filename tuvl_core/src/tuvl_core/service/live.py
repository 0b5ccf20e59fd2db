"""A run that somebody has started through the service."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from tuvl_core.events import StepEvent
from tuvl_core.runs import RunResult
from tuvl_core.service.records import RunRecord

if TYPE_CHECKING:
    from tuvl_core.engine import RunHandle

__all__ = ["LiveRun"]


class LiveRun:
    """A run that goes on, in the hands of the request that started it.

    The request owns it: when its reader goes away it calls `left`, which cancels the run unless it is detached.

    Attributes:
        record: What the server knows of it.
    """

    def __init__(self, record: RunRecord, handle: RunHandle) -> None:
        self.record = record
        self._handle = handle

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self.record.run_id

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self._handle.task.done()

    def events(self, after: int = 0) -> AsyncIterator[StepEvent]:
        """Follow it from an event on, to the last."""
        return self.record.log.follow(after)

    async def wait(self) -> RunResult:
        """Wait for the end; being cancelled while waiting leaves the run alone."""
        return await self._handle.wait()

    def cancel(self, reason: str) -> bool:
        """Ask it to stop now; False if it is over already."""
        return self._handle.cancel(reason)

    async def left(self) -> None:
        """Say that the request that started it is gone: the run is cancelled, and its end awaited, unless detached."""
        if not self.record.detached and self.cancel("the client went away"):
            await self._handle.wait()
