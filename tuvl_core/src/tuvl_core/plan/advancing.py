"""Where a signal leads: the one rule for running workflows and for reasoning about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tuvl_core.plan.model import Transition

if TYPE_CHECKING:
    from tuvl_core.plan.model import Plan, PlanStep

__all__ = ["END", "advance", "next_step"]

END: Final = "END"
"""The route target that completes the run."""

_COMPLETE: Final = Transition("complete")
_STOP: Final = Transition("stop")
_UNROUTED: Final = Transition("unrouted")


def advance(step: PlanStep, signal: str) -> Transition:
    """Say where a run goes after a step.

    In this order: a mapped signal goes to its target, `END` completes; `default` falls through to the
    next step on the spine and completes after the last; `error` and `aborted` stop the run cleanly;
    any other signal is unrouted and fails it.
    """
    target = step.routes.get(signal)
    if target is not None:
        return _COMPLETE if target == END else Transition("step", target)
    if signal == "default":
        return Transition("step", step.following) if step.following is not None else _COMPLETE
    if signal in ("error", "aborted"):
        return _STOP
    return _UNROUTED


def next_step(plan: Plan, step: PlanStep, signal: str) -> tuple[Transition, PlanStep | None]:
    """Resolve a transition within its plan; the step remembers where it leads on."""
    transition = advance(step, signal)
    if transition.target is None:
        return transition, None
    following = step.successors[signal] = plan.steps[transition.target]
    return transition, following
