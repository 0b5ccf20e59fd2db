"""The one dispatch: every step, on the spine or as a tool, runs through here."""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from tuvl_core.context import Overlay, public_delta
from tuvl_core.effects import Effect, through_door
from tuvl_core.engine.bound import Bound, BoundExpired
from tuvl_core.errors import RunLimitError, StepError, UndefinedNameError
from tuvl_core.kinds import Dispatch, StepResult
from tuvl_core.telemetry import Span, span

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from tuvl_core.contributions import ToolBoundary
    from tuvl_core.engine.call import Call

__all__ = ["BLOCKED_S", "YIELD_EVERY", "dispatch", "is_stray", "let_others_run", "plain_step", "step"]

TOOL_TIMEOUT: Final = "tool_timeout"
YIELD_EVERY: Final = 64
"""After so many steps, or calls of one tool, that may never have waited, others get their turn: the event
loop serves more than one run, and a cancellation arrives on it."""
BLOCKED_S: Final = 0.02
"""A step that took longer may have blocked the event loop: what fell due meanwhile, a limit or a cancellation,
comes first."""


async def plain_step(call: Call) -> StepResult:
    """Run a step of a run that nobody traces and no handler stands around."""
    if call.step.timeout is not None:
        return await _within_own_limit(call)
    try:
        return await call.step.kind.run(call)
    except StepError as error:
        return failed(call, error)


async def step(call: Call) -> StepResult:
    """Run a step: span, door and time limit around the kind.

    Returns:
        What the step did; a `StepError` has become the signal `error`.

    Raises:
        Exception: Whatever else the kind raises.
    """
    run = call.run
    if not run.traced:
        return await _through_door(call, None)
    with span(f"node.{call.step.kind_name}", _attributes(call)) as current:
        result = await _through_door(call, None)
        _describe(current, result)
        return result


def dispatch(call: Call, timeout_s: float | None) -> Awaitable[Dispatch]:
    """Run a step as a tool of the step that `call.parent` runs.

    Any exception is a failed call, except a limit of the whole run and cancellation.
    """
    return _bounded_tool(call, timeout_s) if call.run.boundaries else _dispatch(call, timeout_s)


async def _bounded_tool(call: Call, timeout_s: float | None) -> Dispatch:
    """Run a tool within what run scopes set around every tool call, such as a savepoint."""
    entered: list[tuple[ToolBoundary, Any]] = []
    answer: Dispatch | None = None
    try:
        for boundary in call.run.boundaries:
            entered.append((boundary, boundary.enter(call)))  # noqa: PERF401 - what was entered is left again
        answer = await _dispatch(call, timeout_s)
    finally:
        for boundary, token in reversed(entered):
            try:
                await boundary.leave(token, answer)
            except Exception as error:
                answer = answer and _lost(call, answer, error)
    return answer


def _lost(call: Call, answer: Dispatch, error: Exception) -> Dispatch:
    """What a tool did could not be kept, so it has failed, whatever it answered."""
    text = call.run.scrub(str(error))
    name = getattr(error, "type", None) or type(error).__name__
    return Dispatch(signal="error", error=text, error_type=name, timed_out=answer.timed_out)


async def _dispatch(call: Call, timeout_s: float | None) -> Dispatch:
    assert call.parent is not None
    call.parent.usage.add(tool_calls=1)
    if call.visit % YIELD_EVERY == 0:
        await asyncio.sleep(0)
    began, task = perf_counter(), asyncio.current_task()
    try:
        if not call.run.traced:
            if timeout_s is not None and not call.run.handlers:
                result = await _within_tool_limit(call, timeout_s)
            else:
                result = await _tool(call, timeout_s)
        else:
            with span(f"node.{call.step.kind_name}", _attributes(call)) as current:
                result = await _tool(call, timeout_s)
                _describe(current, result)
    except RunLimitError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and not is_stray(error, task):
            raise
        text = call.run.scrub(f"{type(error).__name__}: {error}")
        answer = Dispatch(signal="error", error=text, error_type=type(error).__name__)
    else:
        answer = _answer(call, result)
    if perf_counter() - began > BLOCKED_S:
        await let_others_run()
    return answer


def is_stray(error: BaseException, task: asyncio.Task[Any] | None) -> bool:
    """Whether code raised what is no `Exception` and ends nothing but itself: neither the process nor its task.

    Args:
        error: What was raised.
        task: The task that the code runs in. Python closes the coroutine of one that is thrown away by a
            `GeneratorExit` from outside of it.
    """
    if isinstance(error, (KeyboardInterrupt, SystemExit, asyncio.CancelledError)):
        return False
    if not isinstance(error, GeneratorExit):
        return True
    try:
        return asyncio.current_task() is task
    except RuntimeError:
        return False


async def let_others_run() -> float:
    """Give the event loop the turns that a signal or a timer takes from falling due to cancelling this task.

    Returns:
        `perf_counter` when it is this task's turn again.
    """
    for _ in range(4):
        await asyncio.sleep(0)
    return perf_counter()


def failed(call: Call, error: StepError) -> StepResult:
    """Turn a step's failure into the signal `error`."""
    text = str(error)
    if isinstance(error, UndefinedNameError):
        text = f"step {call.step.id!r}: {text}"
    return StepResult(
        signal="error",
        writes=error.writes,
        error=call.run.scrub(text),
        error_type=error.type,
    )


async def _tool(call: Call, timeout_s: float | None) -> StepResult:
    # A composite's inner calls pass the door themselves; its limit therefore stands outside.
    if timeout_s is not None and call.step.composite:
        return await _within_tool_limit(call, timeout_s)
    return await _through_door(call, timeout_s)


async def _through_door(call: Call, timeout_s: float | None) -> StepResult:
    run, step = call.run, call.step
    if not run.handlers or step.composite:
        return await _attempt(call, timeout_s)
    effect = Effect(
        key=call.key,
        kind="step" if call.parent is None else "tool",
        run_id=run.id,
        workflow=run.plan.workflow,
        step=step,
        effects=step.effects,
        replay="transactional" if step.transactional else "recorded",
        arguments=call.arguments,
    )
    result: StepResult = await through_door(run.handlers, effect, _attempt, (call, timeout_s))
    return result


async def _attempt(call: Call, timeout_s: float | None) -> StepResult:
    if timeout_s is not None:
        return await _within_tool_limit(call, timeout_s)
    return await plain_step(call)


async def _within_tool_limit(call: Call, seconds: float) -> StepResult:
    bound = Bound(seconds, call.step.id)
    call.bounds += (bound,)
    step = call.step
    try:
        return await bound.run(step.kind.run(call) if step.timeout is None else plain_step(call))
    except StepError as error:
        return failed(call, error)
    except BoundExpired:
        return StepResult(
            signal="error",
            error=f"tool {call.step.id!r} did not finish within {seconds:g} s",
            error_type=TOOL_TIMEOUT,
            timed_out=True,
        )


async def _within_own_limit(call: Call) -> StepResult:
    seconds = call.step.timeout
    assert seconds is not None
    bound = Bound(seconds, call.step.id)
    call.bounds += (bound,)
    try:
        return await bound.run(_unlimited(call))
    except BoundExpired:
        return StepResult(
            signal="error",
            error=f"step {call.step.id!r} did not finish within its timeout of {seconds:g} s",
            error_type="timeout",
        )


async def _unlimited(call: Call) -> StepResult:
    try:
        return await call.step.kind.run(call)
    except StepError as error:
        return failed(call, error)


def _answer(call: Call, result: StepResult) -> Dispatch:
    assert call.parent is not None
    before = Overlay(call.parent.context, call.arguments)
    delta, deletes = public_delta(before, result.writes, result.deletes)
    output_key = call.step.output_key
    return Dispatch(
        signal=result.signal,
        delta=delta,
        deletes=deletes,
        output=result.writes.get(output_key) if output_key is not None else None,
        error=result.error,
        error_type=result.error_type,
        timed_out=result.timed_out,
    )


def _describe(current: Span, result: StepResult) -> None:
    current.set_attribute("tuvl.step.signal", result.signal)
    if result.error is not None or result.signal == "error":
        current.failed(result.error_type or result.signal)


def _attributes(call: Call) -> dict[str, Any]:
    return {
        "tuvl.workflow.name": call.workflow,
        "tuvl.node.id": call.step.id,
        "tuvl.node.kind": call.step.kind_name,
        "tuvl.run.id": call.run.id,
    }
