"""What judges add to the most that a run costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tuvl_core import Cost, PlanView
from tuvl_supervisor.config import SupervisorSpec

if TYPE_CHECKING:
    from tuvl_models import BoundModel

__all__ = ["cost_of_judges"]


def cost_of_judges(spec: SupervisorSpec, plan: PlanView, steps: Cost) -> Cost:
    """The most that the judges of a run cost, beside its steps; they take no time of it.

    A judge is asked after every n-th turn of a loop, and each turn is a model call: so there are at most as many
    verdicts as the n-th part of the model calls that all steps together make.

    Args:
        spec: What stands under `supervisor`.
        plan: The workflow.
        steps: The most that the steps of a run cost together.
    """
    if spec.model is None or spec.criteria is None:
        return Cost(seconds=0.0)
    from tuvl_models import model_limits, resolve_model

    model = resolve_model(plan.project, spec.model)
    limits = model_limits(plan.project, model.settings)
    verdicts = None if steps.model_calls is None else steps.model_calls // spec.every_n_iterations
    attempts = attempts_of(model)
    every = f"how often agents take a turn is not bounded: {steps.why_unbounded('model_calls')}"
    size = f"how much a call of the judge {spec.model!r} can hold is not known"
    price = f"what a call of the judge {spec.model!r} can cost is not known"
    return Cost(
        model_calls=_times(verdicts, attempts),
        tokens=_times(verdicts, limits.call_tokens),
        seconds=0.0,
        money=_times(_times(verdicts, attempts), limits.usd_per_call),
        why=every,
        reasons={} if verdicts is None else {"tokens": size, "money": price},
        how=f"a verdict after every {spec.every_n_iterations} turns of an agent, each with up to {attempts} attempts",
    )


def attempts_of(model: BoundModel) -> int:
    """How often one verdict is asked for at most: a provider that takes no JSON Schema is asked once more, without."""
    return model.settings.retry.attempts + 1


def _times(count: Any, amount: Any) -> Any:
    if count == 0 or amount == 0:
        return 0
    return None if count is None or amount is None else count * amount
