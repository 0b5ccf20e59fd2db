"""A file as it is looked at: its documents, the plans of its workflows, and what is known about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import attrs

from tuvl_core import Document, Plan, PlanStep, Project
from tuvl_lsp.knowledge import Knowledge
from tuvl_lsp.spots import Spot, spot_at
from tuvl_lsp.text import Text

__all__ = ["STEP", "Look", "step_path"]

STEP: Final = "step"
_STEPS: Final = ("spec", "steps")


def step_path(path: tuple[str | int, ...]) -> tuple[str | int, ...] | None:
    """The path of the step around a path; None outside of steps."""
    return path[:3] if path[:2] == _STEPS and len(path) > len(_STEPS) else None


@attrs.frozen(kw_only=True, eq=False)
class Look:
    """One file, at one moment.

    Attributes:
        text: Its text.
        documents: Its documents.
        plans: The plans of its workflows, as far as they can be read.
        project: The project.
        knowledge: What may stand where.
    """

    text: Text
    documents: tuple[Document, ...]
    plans: list[Plan]
    project: Project
    knowledge: Knowledge

    def spot(self, index: int) -> Spot | None:
        """What stands at a character."""
        return spot_at(self.documents, index)

    def plan(self, document: Document) -> Plan | None:
        """The plan of a document."""
        return next((plan for plan in self.plans if plan.definition.document is document), None)

    def step(self, spot: Spot) -> tuple[Plan, PlanStep] | None:
        """The step that a place lies in."""
        path, plan = step_path(spot.path), self.plan(spot.document)
        if path is None or plan is None:
            return None
        return next(((plan, step) for step in plan.steps.values() if step.definition.path == path), None)

    def refers(self, spot: Spot) -> str | None:
        """Of what the value at a place is the name."""
        return None if spot.key else self.knowledge.refers(spot.document.data, spot.path)

    def ids(self, document: Document) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The steps of a document by id, whether or not they are in order."""
        spec = document.data.get("spec")
        steps = spec.get("steps") if isinstance(spec, dict) else None
        for index, step in enumerate(steps if isinstance(steps, list) else ()):
            id = document.raw((*_STEPS, index, "id"))
            if id is not None and isinstance(step, dict):
                yield id, step
