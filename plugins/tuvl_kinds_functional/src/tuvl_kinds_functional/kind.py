"""The kind itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import attrs

from tuvl_core import (
    Cost,
    Diagnostic,
    Keys,
    PlanView,
    RunError,
    Signals,
    StepCall,
    StepError,
    StepKind,
    StepResult,
    StepView,
    field,
)
from tuvl_kinds_functional.checks import check_runner
from tuvl_kinds_functional.node_context import NodeContext
from tuvl_kinds_functional.outcome import failure, outcome

if TYPE_CHECKING:
    from tuvl_core import App
    from tuvl_kinds_functional.resolve import Node
    from tuvl_kinds_functional.threads import Threads

__all__ = ["THREADS", "Functional", "FunctionalConfig"]

THREADS = "functional.threads"
"""The name under which the threads of plain functions lie among the process's resources."""


@attrs.frozen(kw_only=True)
class FunctionalConfig:
    """The keys of a Functional step."""

    runner: str = field(
        doc="The name of a node in the project's `nodes/*.py`, or `package.module:function` of an "
        "installed tuvl plugin."
    )


class Functional(StepKind):
    """A Python function of the project, or of an installed plugin.

    It can do anything, so every declaration but that of the cost keeps its worst case.
    """

    name = "Functional"
    Config = FunctionalConfig
    signals = Signals.anything()
    model_writes = Keys()
    """What a node makes of values is the project's to know."""
    # Only agents' questions and tools count; what a node asks of models by itself passes tuvl by.
    cost = Cost(seconds=None, why="a node is code of the project; nothing bounds how long it takes")

    def validate(self, step: StepView, plan: PlanView) -> Iterable[Diagnostic]:
        """Check that the runner exists and may be named, without running any of its code."""
        found = check_runner(step, plan)
        return () if found is None else (found,)

    def prepare(self, step: StepView, plan: PlanView) -> Node:
        """Import the runner's file and take the function out of it."""
        from tuvl_kinds_functional.resolve import resolve

        return resolve(step, plan)

    async def open_resources(self, app: App) -> None:
        """Set up the threads that plain functions run in."""
        from tuvl_kinds_functional.threads import Threads

        threads = Threads(app.settings["functional.threads"])
        app.resources[THREADS] = threads
        app.on_close(threads.close)

    async def run(self, call: StepCall) -> StepResult:
        """Call the node and read what it returned."""
        node: Node = call.step.prepared
        function = node.function
        ctx = NodeContext(call)
        try:
            if node.is_async:
                value = await function(ctx)
            else:
                value = await _in_thread(node, ctx, call)
        except BaseException as error:
            failed = _failed(node, error, call)
            if failed is None:
                raise
            raise failed from error
        return outcome(node.name, value, ctx)


async def _in_thread(node: Node, ctx: NodeContext, call: StepCall) -> Any:
    threads: Threads = call.resources[THREADS]
    value, error = await threads.run(node.function, ctx)
    if error is not None:
        if isinstance(error, StopIteration):  # a coroutine cannot raise it
            raise failure(node.name, error) from error
        raise error
    if hasattr(value, "__await__"):  # a plain wrapper around an async function
        value = await value
    return value


def _failed(node: Node, error: BaseException, call: StepCall) -> StepError | None:
    """The step's failure that an exception stands for; None if it has to go on as it is."""
    import asyncio

    if isinstance(error, (StepError, RunError, KeyboardInterrupt)):
        return None
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        if task is None or task.cancelling():
            if not node.is_async:
                call.log.warning("plain function of node %r was left behind; it may go on", node.name)
            return None
        # Nobody asked this task to stop: the node cancelled itself, or awaited what was cancelled.
    elif not isinstance(error, (Exception, SystemExit, BaseExceptionGroup)):
        return None
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace is not None else "?"
    # The class and the place, not the text: that may hold values.
    call.log.info("node %r raised %s at %s", node.name, type(error).__name__, place)
    return failure(node.name, error)
