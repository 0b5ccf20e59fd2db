"""One run on an event loop of its own, which ends when the run does, whatever a step has left behind."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from tuvl_cli.logs import HANDLER
from tuvl_cli.output import abandon
from tuvl_core import App, Principal, ProgressSink, RunHandle, RunResult

__all__ = ["Session"]

_GRACE_S: Final = 1.0


class Session:
    """Runs one workflow, once.

    Args:
        app: The project, not yet open.
    """

    def __init__(self, app: App) -> None:
        self._app = app
        self._loop = asyncio.new_event_loop()
        self._task: asyncio.Task[RunResult] | None = None
        self._handle: RunHandle | None = None

    def run(
        self, workflow: str, input: Any, *, principal: Principal, sinks: Sequence[ProgressSink]
    ) -> RunResult | None:
        """Run to the end; None if it was cancelled before it had begun.

        Args:
            workflow: Its name.
            input: Its input.
            principal: Who it runs for.
            sinks: Receive its events.

        Raises:
            TuvlError: It does not start.
        """
        self._task = self._loop.create_task(self._go(workflow, input, principal, sinks))
        try:
            return self._loop.run_until_complete(self._task)
        except asyncio.CancelledError:
            return None
        finally:
            self._end()

    def cancel(self, reason: str) -> None:
        """Ask the run to stop; from any thread and from a signal's handler."""
        try:
            self._loop.call_soon_threadsafe(self._cancel, reason)
        except RuntimeError:
            return  # the loop is closed: it is over

    def _cancel(self, reason: str) -> None:
        if self._handle is not None:
            self._handle.cancel(reason)
        elif self._task is not None:
            self._task.cancel(reason)

    async def _go(self, workflow: str, input: Any, principal: Principal, sinks: Sequence[ProgressSink]) -> RunResult:
        async with self._app as app:
            self._handle = await app.start(workflow, input, principal=principal, sinks=sinks)
            HANDLER.secrets = self._handle.run.revealed
            return await self._handle.wait()

    def _end(self) -> None:
        """Close the loop. `asyncio.run` would wait for tasks and threads that never end."""
        loop = self._loop
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        if left:
            _, endless = loop.run_until_complete(asyncio.wait(left, timeout=_GRACE_S))
            abandon(endless)
        loop.run_until_complete(_no_longer_than(loop.shutdown_asyncgens()))
        # What is destroyed while it waits has been reported as left behind already.
        loop.set_exception_handler(lambda *_: None)
        loop.close()


async def _no_longer_than(work: Any) -> None:
    await asyncio.wait({asyncio.ensure_future(work)}, timeout=_GRACE_S)
