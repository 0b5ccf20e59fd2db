"""Static checks of AgentModel documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tuvl_core import Code, Diagnostic, PlanView, ProjectError
from tuvl_models.family import find_family

__all__ = ["CODES", "check"]

NOT_SERVED: Final = Code(
    code="TUVL-M001", severity="error", klass="flow", title="a model that nothing installed serves"
)
CODES: Final = (NOT_SERVED,)


def check(plan: PlanView) -> Iterator[Diagnostic]:
    """Find AgentModel documents whose model nobody serves."""
    for definition in plan.project.definitions("AgentModel").values():
        try:
            find_family(plan.project, definition.spec.model)
        except ProjectError as error:
            yield Diagnostic.of(
                NOT_SERVED,
                f"AgentModel {definition.name!r}: {error}",
                location=definition.locate("spec", "model"),
                hint="install the package that serves it, or name another model",
            )
