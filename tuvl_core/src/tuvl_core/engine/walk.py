"""The walk: step, merge, advance, until the run is somewhere it ends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any

from tuvl_core.context import Overlay
from tuvl_core.engine.call import Call
from tuvl_core.engine.stepping import BLOCKED_S, YIELD_EVERY, failed, is_stray, let_others_run
from tuvl_core.engine.stepping import step as full_step
from tuvl_core.errors import RunError, RunLimitError, StepCrashedError, StepError, UnroutedSignalError
from tuvl_core.kinds import UNSET, StepResult
from tuvl_core.plan.advancing import next_step
from tuvl_core.runs import Run, RunFailure
from tuvl_core.telemetry import log_event

if TYPE_CHECKING:
    from tuvl_core.plan import PlanStep

__all__ = ["walk"]


async def walk(run: Run) -> None:  # noqa: C901 - the hot loop, in one piece on purpose
    """Take a run from its first step to where it ends; sets its status.

    Raises:
        RunError: The run fails.
        asyncio.CancelledError: The run was cancelled, even if a step swallowed that.
    """
    plan, context, visits, sinks = run.plan, run.context, run.visits, run.sinks
    watched = bool(run.handlers or run.traced)
    max_steps = plan.limits.max_steps
    task = asyncio.current_task()
    cancelling = _cancel_probe(task)
    step, taken = plan.first, 0
    began = perf_counter()
    while step is not None:
        if run.over or cancelling():
            raise asyncio.CancelledError
        if taken >= max_steps:
            raise _too_many_steps(run, step, max_steps)
        taken += 1
        if taken % YIELD_EVERY == 0:
            began = await let_others_run()
        run.step_id = id = step.id
        visits[id] = visit = visits.get(id, 0) + 1
        if sinks:
            run.emit("step", id, visit, step.kind_name, snapshot_json="{}")
        call = Call(run, step, visit, Overlay(context) if step.mutates_context else run.view)
        try:
            if watched or step.timeout is not None:
                result = await full_step(call)
            else:
                result = await step.kind.run(call)
        except StepError as error:
            result = failed(call, error)
        except BaseException as error:
            _keep_what_was_done(call)
            if isinstance(error, Exception) or is_stray(error, task):
                raise _crash(call, error) from error
            raise
        if result.__class__ is not StepResult:
            raise _crash(call, TypeError(f"run returned {type(result).__name__}, not StepResult"))
        signal = result.signal
        writes = result.writes
        if writes:
            context.update(writes)
        if sinks or signal == "error" or result.deletes or result.error is not None or result.result is not UNSET:
            settle(run, step, result)
        ended = perf_counter()
        took, began = ended - began, ended
        run.path.append((id, visit, signal, took))
        if took > BLOCKED_S:
            began = await let_others_run()
        if sinks:
            run.emit("step", id, visit, step.kind_name, signal)
            began = perf_counter()
        step = step.successors.get(signal) or _go_on(run, step, result)


def settle(run: Run, step: PlanStep, result: StepResult) -> None:
    """Let a result change the run in what few steps do, beyond the keys that it writes."""
    if run.sinks:
        run.changed(result.writes)
    if result.deletes:
        for key in result.deletes:
            run.context.pop(key, None)
        run.changed(result.deletes)
    if result.error is not None or result.signal == "error":
        run.context["_last_error"] = result.error or f"step {step.id!r} left by 'error'"
        run.context["_last_error_type"] = result.error_type or result.signal
    if result.result is not UNSET:
        run.result = result.result
        run.result_status = result.status


def _go_on(run: Run, step: PlanStep, result: StepResult) -> PlanStep | None:
    transition, following = next_step(run.plan, step, result.signal)
    if following is not None:
        return following
    if transition.kind == "complete":
        run.status = "completed"
    elif transition.kind == "stop":
        _stop(run, step, result)
    else:
        raise UnroutedSignalError(workflow=run.workflow, step=step.id, signal=result.signal, mapped=tuple(step.routes))
    return None


def _stop(run: Run, step: PlanStep, result: StepResult) -> None:
    signal = result.signal
    run.status = "stopped"
    run.error = RunFailure(
        type=result.error_type or signal,
        message=result.error or f"step {step.id!r} left by {signal!r}, which has no route",
        step=step.id,
    )
    fields = {
        "workflow": run.workflow,
        "step_id": step.id,
        "signal": signal,
        "hint": f"add `{signal}:` to the step's routes to handle it",
    }
    log_event(run.app.log, logging.WARNING, "run.stopped", fields)


def _cancel_probe(task: asyncio.Task[Any] | None) -> Callable[[], int | bool]:
    """A function that says whether a task has been asked to stop since the walk began."""
    assert task is not None
    cancelling = task.cancelling
    before = cancelling()
    if before == 0:
        return cancelling
    return lambda: cancelling() > before


def _keep_what_was_done(call: Call) -> None:
    """A composite that breaks off keeps what its tools were allowed to write."""
    if call.step.composite and isinstance(call.context, Overlay):
        writes, deletes = call.context.changes()
        call.run.context.update(writes)
        settle(call.run, call.step, StepResult(writes=writes, deletes=deletes))


def _crash(call: Call, error: BaseException) -> RunError:
    step = call.step
    if isinstance(error, RunError):
        error.step = error.step or step.id
        error.workflow = error.workflow or call.workflow
        return error
    call.run.app.log.debug("step %s crashed", step.id, exc_info=error)
    return StepCrashedError(
        call.run.scrub(
            f"step {step.id!r}: kind {step.kind_name} ({step.distribution}) raised "
            f"{type(error).__name__}: {error}; that is a bug in the kind, not a routable failure"
        ),
        step=step.id,
        workflow=call.workflow,
    )


def _too_many_steps(run: Run, step: PlanStep, max_steps: int) -> RunLimitError:
    return RunLimitError(
        f"the run took max_steps of {max_steps} steps and would go on to {step.id!r}; it came "
        f"through {len(run.visits)} different steps. Raise spec.limits.max_steps or end the cycle",
        limit="max_steps",
        step=step.id,
        workflow=run.workflow,
    )
