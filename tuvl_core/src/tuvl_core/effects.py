"""The effect door: the one place where a run touches the world.

Every leaf step, model call and tool dispatch passes it with a key that is its position in the run:

    step#visit                        a leaf step on the spine
    step#visit/llm#n                  the nth model call of a composite step
    step#visit/tool#n:ref             the nth tool call, nested on for a composite tool
    step#visit/turn#n/inputs          what came from outside at a turn: directives, clock, ids

Without handlers the door only awaits. A handler may look, wait, repeat, answer from a record or refuse;
durability, recording and replay, stubs, dry runs, rate limits and caches are handlers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, Protocol

import attrs

from tuvl_core.codec import register_lossless
from tuvl_core.kinds import UNSET, Effects, StepResult, StepView

__all__ = ["Effect", "EffectHandler", "EffectKind", "Replay", "through_door"]

EffectKind = Literal["step", "tool", "model", "input", "effect"]
Replay = Literal["recorded", "reexecute", "transactional"]


@attrs.frozen(kw_only=True, eq=False)
class Effect:
    """One thing a run is about to do.

    Attributes:
        key: Position in the run; unique within it, the same in every run that goes the same way.
        kind: `step` and `tool` answer with a `StepResult`, `model` with a model's reply, `input` with
            what came from outside, `effect` with whatever the kind does.
        run_id: The run.
        workflow: Name of the workflow.
        step: The step that is run, or inside which this happens.
        effects: What it does to the world, as the kind declares it.
        replay: How a record of it may be used.
        arguments: The arguments of a tool call; None otherwise. Metadata for handlers: never log it.
    """

    key: str
    kind: EffectKind
    run_id: str
    workflow: str
    step: StepView
    effects: Effects
    replay: Replay = "recorded"
    arguments: Any = None


class EffectHandler(Protocol):
    """Stands around every effect of a run."""

    async def handle(self, effect: Effect, proceed: Callable[[], Awaitable[Any]]) -> Any:
        """Answer an effect; `await proceed()` does it, through the handlers further in.

        Args:
            effect: What is about to happen.
            proceed: Does it. Not calling it means that it does not happen.

        Returns:
            The effect's result, of the type `effect.kind` says.
        """
        ...


async def through_door(
    handlers: Sequence[EffectHandler],
    effect: Effect,
    fn: Callable[..., Awaitable[Any]],
    args: Sequence[Any],
) -> Any:
    """Do an effect with the handlers around it, the first one outermost."""
    if not handlers:
        return await fn(*args)

    async def proceed() -> Any:
        return await through_door(handlers[1:], effect, fn, args)

    return await handlers[0].handle(effect, proceed)


def _result_to_record(result: StepResult) -> dict[str, Any]:
    record: dict[str, Any] = {"signal": result.signal}
    if result.writes:
        record["writes"] = dict(result.writes)
    if result.deletes:
        record["deletes"] = list(result.deletes)
    if result.error is not None:
        record["error"] = result.error
        record["error_type"] = result.error_type
    if result.result is not UNSET:
        record["result"] = result.result
        record["status"] = result.status
    if result.timed_out:
        record["timed_out"] = True
    return record


def _result_from_record(record: dict[str, Any]) -> StepResult:
    return StepResult(
        signal=record["signal"],
        writes=record.get("writes", {}),
        deletes=tuple(record.get("deletes", ())),
        error=record.get("error"),
        error_type=record.get("error_type"),
        result=record.get("result", UNSET),
        status=record.get("status", 200),
        timed_out=record.get("timed_out", False),
    )


register_lossless(StepResult, "tuvl.step", _result_to_record, _result_from_record)
