"""A run that goes on in a task of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from tuvl_core.engine.lifecycle import execute
from tuvl_core.runs import Run, RunResult, RunScope

__all__ = ["RunHandle"]


class RunHandle:
    """A run that goes on in a task of its own.

    Attributes:
        run: Its live state.
        task: The task; wait for the run with `wait` instead.
    """

    def __init__(self, run: Run, scopes: Sequence[RunScope]) -> None:
        self.run = run
        self._reason: str | None = None
        self._begun = False
        self.task = asyncio.get_running_loop().create_task(self._go(scopes))

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self.run.id

    def cancel(self, reason: str | None = None) -> bool:
        """Ask the run to stop now; False if it is over already.

        The reason, the first that is given, is told in the run's error. Model calls, tools and spans end; a step
        that does not clean up in time is left behind.
        """
        if self.task.done():
            return False
        self._reason = reason or "cancelled"
        if self.run.cancel_reason is None:
            self.run.cancel_reason = reason
        # A task cancelled before its first step would end without a word; `_go` cancels itself.
        return self.task.cancel(self._reason) if self._begun else True

    async def wait(self) -> RunResult:
        """Wait for the end; being cancelled while waiting leaves the run alone."""
        return await asyncio.shield(self.task)

    async def _go(self, scopes: Sequence[RunScope]) -> RunResult:
        self._begun = True
        if self._reason is not None:
            task = asyncio.current_task()
            assert task is not None
            task.cancel(self._reason)
        try:
            return await execute(self.run, scopes, detachable=True)
        except asyncio.CancelledError:
            return RunResult.of(self.run, self.run.public_context(), self.run.final_result())
