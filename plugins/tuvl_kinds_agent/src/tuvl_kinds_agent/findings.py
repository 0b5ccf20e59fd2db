"""What the checks of both kinds share."""

from __future__ import annotations

from collections.abc import Iterator

from tuvl_core import Code, Diagnostic, PlanView, StepView, declared
from tuvl_kinds_agent.codes import NO_MODEL, UNKNOWN_MODEL

__all__ = ["check_model", "finding", "only_a_tool"]

Place = tuple[str | int, ...]


def finding(
    code: Code,
    message: str,
    step: StepView,
    plan: PlanView,
    place: Place = (),
    hint: str | None = None,
) -> Diagnostic:
    """One finding, at a key below the step."""
    return Diagnostic.of(
        code,
        message,
        location=step.locate(*place),
        workflow=plan.workflow,
        step=step.id,
        hint=hint,
    )


def check_model(model: str | None, step: StepView, plan: PlanView) -> Iterator[Diagnostic]:
    """Whether there is a model, as far as the project's files tell."""
    if not model:
        hint = "name an AgentModel document, or give a model string such as openai/gpt-4o-mini"
        yield finding(NO_MODEL, "`agent.model` must be given", step, plan, ("agent",), hint)
    elif "/" not in model and model not in plan.project.definitions("AgentModel"):
        yield finding(
            UNKNOWN_MODEL,
            f"there is no AgentModel {model!r} in this project",
            step,
            plan,
            ("agent", "model"),
            f"add a document `kind: AgentModel` with `metadata: {{ name: {model} }}`",
        )


def only_a_tool(step: StepView, plan: PlanView) -> bool:
    """Whether only some agent's call reaches this step, so that its routes never count."""
    owned = any(
        child.ref == step.id and child.role == "tool"
        for other in plan.steps.values()
        for child in declared(plan.kind_of(other), "children", other, plan)
    )
    return owned and all(step.id not in other.routes.values() for other in plan.steps.values())
