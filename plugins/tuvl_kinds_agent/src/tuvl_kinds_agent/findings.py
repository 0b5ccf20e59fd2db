"""What the checks of both kinds share."""

from __future__ import annotations

from collections.abc import Iterator

from tuvl_core import Code, Diagnostic, PlanView, ProjectError, StepView
from tuvl_kinds_agent.codes import BAD_MODEL, NO_MODEL, UNKNOWN_MODEL

__all__ = ["check_model", "finding"]

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
    """Whether there is a model and it can be asked, as far as that shows before a run."""
    from tuvl_models import model_problem

    place = ("agent", "model")
    if not model:
        hint = "name an AgentModel document, or give a model string such as openai/gpt-4o-mini"
        yield finding(NO_MODEL, "`agent.model` must be given", step, plan, ("agent",), hint)
        return
    literal = "/" in model
    try:
        if not literal:
            plan.project.find("AgentModel", model)
        elif problem := model_problem(plan.project, model):
            yield finding(BAD_MODEL, problem, step, plan, place)
    except ProjectError as error:
        add = f"add a document `kind: AgentModel` with `metadata: {{ name: {model} }}`"
        # A warning, for the document may be added where the project is deployed; `prepare` refuses to run without.
        message = f"{error.message}; `run` refuses the workflow without it"
        yield finding(UNKNOWN_MODEL, message, step, plan, place, None if literal else add)
