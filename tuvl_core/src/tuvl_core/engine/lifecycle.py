"""A run from its first scope to its terminal event."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Sequence
from typing import Any, Final

from tuvl_core.engine.bound import Bound, BoundExpired
from tuvl_core.engine.walk import walk
from tuvl_core.errors import CodecError, CommitFailedError, ConflictError, RunError, RunLimitError, StepError, TuvlError
from tuvl_core.runs import PHASES, Run, RunFailure, RunResult, RunScope
from tuvl_core.telemetry import counter, histogram, log_event, span
from tuvl_core.unset import UNSET
from tuvl_core.views import mask

__all__ = ["execute"]

RUNS: Final = counter("tuvl", "tuvl.runs", unit="{run}", description="Runs that are over.")
DURATION: Final = histogram(
    "tuvl",
    "tuvl.run.duration",
    unit="s",
    description="How long runs took.",
    boundaries=(0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 600, 1800, 3600),
)
_CONFLICT_WAIT_S: Final = 0.01
"""About how long a run waits before it is done again; doubled each time."""


def execute(run: Run, scopes: Sequence[RunScope], *, detachable: bool = False) -> Awaitable[RunResult]:
    """Do a run: open scopes, walk, finish scopes, tell the end.

    Args:
        run: The run, ready to go.
        scopes: What lives as long as it does.
        detachable: Whether the walk is a task of its own, so that cancelling does not wait for a
            step that never cleans up.

    Raises:
        asyncio.CancelledError: When awaited, and the caller was cancelled; everything is finished and told by then.
    """
    return _traced(run, scopes, detachable) if run.traced else _execute(run, scopes, detachable)


async def _traced(run: Run, scopes: Sequence[RunScope], detachable: bool) -> RunResult:
    attributes = {"tuvl.workflow.name": run.workflow, "tuvl.run.id": run.id}
    with span("workflow.execute", attributes, own=True) as current:
        try:
            return await _execute(run, scopes, detachable)
        finally:
            current.set_attribute("tuvl.run.status", run.status)
            if run.error is not None:
                current.failed(run.error.type)


async def _execute(run: Run, scopes: Sequence[RunScope], detachable: bool) -> RunResult:
    began = dict(run.context) if scopes else run.context
    shown: tuple[dict[str, Any], Any] = ({}, None)
    try:
        while True:
            opened: list[RunScope] = []
            cancelled, conflict = await _attempt(run, scopes, opened, detachable)
            may_repeat = run.repeatable  # while it is known how far it came
            shown = _shown(run)
            conflict = await _finish(run, opened) or conflict
            if conflict is None or not may_repeat:
                break
            await _wait_for_another_try(run, conflict)
            run.begin_again(began)
    finally:
        # A second cancellation may cut the scopes short; the end is told all the same.
        result = _conclude(run, *shown)
    if cancelled is not None:
        raise cancelled
    return result


async def _attempt(
    run: Run, scopes: Sequence[RunScope], opened: list[RunScope], detachable: bool
) -> tuple[asyncio.CancelledError | None, ConflictError | None]:
    """Open scopes and walk; sets the run's status and error.

    Returns:
        What cancelled it, and what was in its way.
    """
    try:
        for scope in sorted(scopes, key=lambda item: PHASES.index(item.phase)):
            opened.append(scope)
            run.resources.update(await scope.open() or {})
        run.boundaries = tuple(found for scope in opened if (found := getattr(scope, "tool_boundary", None)))
        if detachable or run.plan.limits.timeout_s is not None:
            await _walk_within_limit(run)
        else:
            await walk(run)
    except asyncio.CancelledError as error:
        _cancelled(run)
        return error, None
    except Exception as error:
        _fail(run, error)
        return None, error if isinstance(error, ConflictError) else None
    return None, None


async def _wait_for_another_try(run: Run, conflict: ConflictError) -> None:
    """Wait a moment, a random one, so that what was in the way is done."""
    fields = {"run_id": run.id, "workflow": run.workflow, "attempt": run.attempts, "conflict": conflict.type}
    log_event(run.app.log, logging.INFO, "run.repeated", fields)
    try:
        await asyncio.sleep(random.uniform(0.2, 1.0) * _CONFLICT_WAIT_S * 2**run.attempts)  # noqa: S311
    except asyncio.CancelledError:
        _cancelled(run)
        raise


async def _walk_within_limit(run: Run) -> None:
    seconds = run.plan.limits.timeout_s
    if seconds is not None and run.attempts > 1:
        seconds = max(seconds - (time.time() - run.started), 0.001)
    run.bound = Bound(seconds, f"run {run.id}")
    try:
        await run.bound.run(walk(run))
    except BoundExpired:
        raise RunLimitError(
            f"the run did not finish within its timeout_s of {seconds:g} s; {how_far(run)}",
            limit="timeout_s",
            step=run.step_id,
            workflow=run.workflow,
        ) from None


def how_far(run: Run) -> str:
    """Say how far a run came, for people."""
    count = len(run.path)
    steps = "1 step" if count == 1 else f"{count} steps"
    at = f" and was at {run.step_id!r}" if run.step_id is not None else ""
    return f"it had left {steps}{at}"


def _cancelled(run: Run) -> None:
    run.status = "cancelled"
    why = f"{run.scrub(run.cancel_reason)}; " if run.cancel_reason else ""
    run.error = RunFailure(type="cancelled", message=f"{why}{how_far(run)}", step=run.step_id)


def _fail(run: Run, error: Exception) -> None:
    run.status = "failed"
    step = error.step if isinstance(error, RunError) else run.step_id
    if isinstance(error, (RunError, StepError)):
        kind = getattr(error, "type", None) or type(error).__name__
        message = run.scrub(str(error))
    else:
        kind = type(error).__name__
        message = run.scrub(f"{kind}: {error}")
        run.app.log.debug("run %s failed outside its steps", run.id, exc_info=error)
    limit = getattr(error, "limit", None)
    run.error = RunFailure(type=kind, message=message, step=step, limit=limit)
    run.context["_last_error"] = message
    run.context["_last_error_type"] = kind


def _shown(run: Run) -> tuple[dict[str, Any], Any]:
    """The context and the result as anybody may see them.

    A value that holds itself, or is nested without end, fails the run before anything is committed.
    """
    try:
        return run.public_context(), run.final_result()
    except RecursionError:
        dropped = [key for key, value in run.context.items() if not _can_be_shown(value)]
        for key in dropped:
            del run.context[key]
        if not _can_be_shown(run.result):
            dropped.append("the result")
            run.result = UNSET
        named = ", ".join(str(key) for key in dropped)
        _fail(run, CodecError("is nested too deeply, or holds itself; it was dropped", named))
        return run.public_context(), run.final_result()


def _can_be_shown(value: Any) -> bool:
    try:
        mask(value)
    except RecursionError:
        return False
    return True


async def _finish(run: Run, opened: Sequence[RunScope]) -> ConflictError | None:
    """Commit or roll back, innermost phase first; then close all. A veto fails the run.

    Whoever cancels meanwhile may cut one scope short, and the others are finished and closed all the same.

    Returns:
        What was in the way of a commit.

    Raises:
        asyncio.CancelledError: The caller was cancelled meanwhile.
    """
    conflict: ConflictError | None = None
    cut: asyncio.CancelledError | None = None
    for scope in reversed(opened):
        try:
            await scope.finish(run.status)
        except asyncio.CancelledError as error:
            cut = error
        except ConflictError as error:
            _fail(run, error)
            conflict = error
        except Exception as error:
            _log_scope(run, scope, "finish", error)
            if run.status == "completed":
                text = f"the run could not be committed: {error}"
                _fail(run, CommitFailedError(text, workflow=run.workflow))
    for scope in reversed(opened):
        try:
            await scope.close()
        except asyncio.CancelledError as error:
            cut = error
        except Exception as error:
            _log_scope(run, scope, "close", error)
    if cut is not None:
        raise cut
    return conflict


def _log_scope(run: Run, scope: RunScope, what: str, error: Exception) -> None:
    fields = {"run_id": run.id, "scope": type(scope).__name__, "at": what, "error": run.scrub(str(error))}
    # What a scope says on purpose needs no traceback; anything else is a bug in it.
    log_event(run.app.log, logging.WARNING, "run.scope_failed", fields, exc_info=not isinstance(error, TuvlError))


def _conclude(run: Run, context: dict[str, Any], value: Any) -> RunResult:
    result = RunResult.of(run, context, value)
    if run.sinks:
        run.emit("run", run.step_id, None, None, result.signal, outcome=_outcome(result))
        for sink in run.sinks:
            try:
                sink.close()
            except Exception:
                log_event(run.app.log, logging.WARNING, "run.sink_failed", {"run_id": run.id})
    run.over = True
    if run.measured:
        labels = {"tuvl.workflow.name": run.workflow, "tuvl.run.status": run.status}
        RUNS.add(1, labels)
        DURATION.record(time.time() - run.started, labels)
    return result


def _outcome(result: RunResult) -> dict[str, Any]:
    """The terminal event's own fields; a result without a wire form does not cost the event."""
    from tuvl_core.codec import to_wire

    error = result.error.to_dict() if result.error else None
    try:
        value = to_wire(result.result, "result")
    except CodecError as problem:
        value = None
        error = error or {"type": "CodecError", "message": str(problem), "step": result.last_step}
    return {
        "status": result.status,
        "result": value,
        "error": error,
        "usage": dict(result.usage),
    }
