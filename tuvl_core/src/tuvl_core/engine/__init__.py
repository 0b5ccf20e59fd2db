"""The engine: runs compiled workflows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from tuvl_core.engine.app import App, RunHandle
from tuvl_core.engine.bound import Bound, BoundExpired
from tuvl_core.engine.stepping import step
from tuvl_core.events import StepEvent
from tuvl_core.plan.advancing import END, advance
from tuvl_core.runs import RunResult

__all__ = ["END", "App", "Bound", "BoundExpired", "RunHandle", "advance", "run", "step", "stream"]


async def run(app: App, workflow: str, input: Mapping[str, Any] | None = None, **options: Any) -> RunResult:
    """Run a workflow to its end; see `App.run`."""
    return await app.run(workflow, input, **options)


def stream(app: App, workflow: str, input: Mapping[str, Any] | None = None, **options: Any) -> AsyncIterator[StepEvent]:
    """Run a workflow and yield its events; see `App.stream`."""
    return app.stream(workflow, input, **options)
