"""Bounds that a workflow demands: what cannot be shown to stay within them is an error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tuvl_core.diagnostics import Code, Diagnostic

if TYPE_CHECKING:
    from tuvl_core.plan.bound.result import QuantityBound
    from tuvl_core.plan.model import Plan

__all__ = ["CODES", "check_demands"]

NOT_SHOWN: Final = Code(
    code="TUVL-W023",
    severity="error",
    klass="flow",
    title="a bound that `spec.limits` demands cannot be shown to hold",
)
CODES: Final = (NOT_SHOWN,)

_DEMANDS: Final = {
    "max_model_calls": ("model_calls", "model calls"),
    "max_tool_calls": ("tool_calls", "tool calls"),
    "max_cost_usd": ("money", "US dollars"),
}
"""Key of `spec.limits` to the quantity, and what its unit is called."""


def check_demands(plan: Plan) -> Iterator[Diagnostic]:
    """Find demands that a run may not keep. Costs nothing where there are none."""
    wanted = {key: value for key in _DEMANDS if (value := getattr(plan.limits, key)) is not None}
    if not wanted or plan.first is None or len(plan.steps) < len(plan.definition.spec.steps):
        return
    from tuvl_core.plan.bound.run import bound_run

    found = bound_run(plan).run
    for key, most in wanted.items():
        quantity, unit = _DEMANDS[key]
        bound = found[quantity]
        if bound.value is not None and bound.value <= most:
            continue
        yield Diagnostic.of(
            NOT_SHOWN,
            f"`{key}: {most:g}` cannot be shown to hold: {_told(bound, unit)}",
            location=plan.definition.locate("spec", "limits", key),
            workflow=plan.workflow,
            hint=f"`tuvl explain {plan.workflow}` shows what each step costs",
        )


def _told(bound: QuantityBound, unit: str) -> str:
    if bound.value is None:
        place, why = next(iter(bound.why.items()))
        return f"{place} is not bounded: {why}"
    way = " → ".join(str(leg) for leg in bound.way)
    again = ", and the same again where it is repeated" if bound.repeated else ""
    return f"a run may come to {bound.value:g} {unit}, by {way}{again}"
