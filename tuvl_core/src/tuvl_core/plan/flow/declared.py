"""Checks of what declarations tell together: signals that lead nowhere, a result that nobody writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from tuvl_core.diagnostics import Code, Diagnostic
from tuvl_core.kinds import Keys, Signals, declared
from tuvl_core.structure import did_you_mean

if TYPE_CHECKING:
    from tuvl_core.plan.model import Plan, PlanStep

__all__ = ["CODES", "check_output", "check_signals"]

NO_WRITER: Final = Code(
    code="TUVL-W003", severity="warning", klass="flow", title="`spec.output` names a key that no step writes"
)
UNROUTED: Final = Code(
    code="TUVL-W015", severity="warning", klass="flow", title="a signal that a step's kind declares has no route"
)
CODES: Final = (NO_WRITER, UNROUTED)

_LED: Final = ("default", "error", "aborted")
"""Signals that lead somewhere without a route."""


def check_output(plan: Plan) -> Iterator[Diagnostic]:
    """Find a result that can never be there: only where every step declares all that it writes."""
    output = plan.spec.output
    if output is None or len(plan.steps) < len(plan.definition.spec.steps):
        return
    known: set[str] = set(_properties(plan.spec.input))
    for id in plan.spine:
        keys: Keys | None = _of(plan.steps[id], "writes", plan)
        if keys is None or keys.open:
            return
        known |= keys.names
    if output in known:
        return
    public = sorted(name for name in known if not name.startswith("_"))
    yield Diagnostic.of(
        NO_WRITER,
        f"no step writes `{output}`, so it can only come from the run's input",
        location=plan.definition.locate("spec", "output"),
        workflow=plan.workflow,
        hint=did_you_mean(output, public) or (f"the steps write: {', '.join(public)}" if public else None),
    )


def check_signals(step: PlanStep, plan: Plan, said: Sequence[Diagnostic]) -> Iterator[Diagnostic]:
    """Find declared signals that fail the run for want of a route.

    Args:
        step: The step.
        plan: The workflow.
        said: What the kind's own check has found: it may have said it in better words.
    """
    signals: Signals | None = _of(step, "signals", plan) if step.on_spine else None
    for signal in dict.fromkeys(signals.names if signals is not None else ()):
        if signal in step.routes or signal in _LED:
            continue
        if any(f"`{signal}`" in item.message or repr(signal) in item.message for item in said):
            continue
        yield Diagnostic.of(
            UNROUTED,
            f"`{signal}` has no route: the run fails when the step leaves by it",
            location=step.locate(*(("routes",) if step.routes else ())),
            workflow=plan.workflow,
            step=step.id,
            hint=f"add `{signal}: <step id or END>` to the step's routes",
        )


def _of(step: PlanStep, what: str, plan: Plan) -> Any:
    """What a kind declares; None where its code raises."""
    try:
        return declared(step.kind, what, step, plan)
    except Exception:
        return None


def _properties(schema: Any) -> list[str]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return list(properties) if isinstance(properties, dict) else []
