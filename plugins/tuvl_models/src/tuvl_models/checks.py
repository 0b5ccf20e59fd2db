"""Static checks of AgentModel documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tuvl_core import Code, Diagnostic, PlanView, ProjectError
from tuvl_models.family import model_problem

__all__ = ["CODES", "check"]

NOT_SERVED: Final = Code(
    code="TUVL-M001", severity="error", klass="flow", title="a model that nothing installed serves"
)
NOT_THERE: Final = Code(
    code="TUVL-M002", severity="error", klass="flow", title="a model that the package that serves it does not have"
)
CODES: Final = (NOT_SERVED, NOT_THERE)


def check(plan: PlanView) -> Iterator[Diagnostic]:
    """Find AgentModel documents whose model nobody serves, or whose server does not have it."""
    for definition in plan.project.definitions("AgentModel").values():
        try:
            problem = model_problem(plan.project, definition.spec.model)
        except ProjectError as error:
            yield Diagnostic.of(
                NOT_SERVED,
                f"AgentModel {definition.name!r}: {error.message}",
                location=definition.locate("spec", "model"),
                hint="install the package that serves it, or name another model",
            )
            continue
        if problem is not None:
            place = definition.locate("spec", "model")
            yield Diagnostic.of(NOT_THERE, f"AgentModel {definition.name!r}: {problem}", location=place)
