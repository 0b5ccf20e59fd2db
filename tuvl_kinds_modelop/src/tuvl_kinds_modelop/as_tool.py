"""What is wrong with a ModelOp step because an agent may call it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tuvl_core import Child, Diagnostic, PlanView, StepView
from tuvl_kinds_modelop import codes
from tuvl_kinds_modelop.config import ModelOpConfig
from tuvl_kinds_modelop.models import Model, Models, advice

__all__ = ["check_reveal", "check_tool"]

_SHOWS_RECORDS = ("create", "read", "list", "update")


def check_tool(step: StepView, plan: PlanView) -> Iterator[Diagnostic]:
    """Whether a model may do to every record what its author meant for one."""
    config: ModelOpConfig = step.config
    owners = [owner.id for owner, _ in _calls(step, plan)]
    if not owners or not config.all_rows or config.operation not in ("update", "delete"):
        return
    does = "changes" if config.operation == "update" else "removes"
    yield Diagnostic.of(
        codes.ALL_ROWS_TOOL,
        f"a single call by the model of {owners[0]!r} {does} every record of {config.model}",
        location=step.locate("all_rows"),
        workflow=plan.workflow,
        step=step.id,
        hint="say which records with `filters`, or leave it to the model to name one: remove `all_rows`",
    )


def check_reveal(step: StepView, plan: PlanView, models: Models, model: Model) -> Iterator[Diagnostic]:
    """Whether what agents may see of the result of this step is in it."""
    config: ModelOpConfig = step.config
    if config.operation not in _SHOWS_RECORDS:
        return
    known = _names(config, models, model)
    for owner, child in _calls(step, plan):
        for number, name in enumerate(child.reveal):
            if known is not None and name not in known:
                yield Diagnostic.of(
                    codes.UNKNOWN_REVEAL,
                    f"`reveal` names {name!r}, which is no field of {model.name}{advice(name, set(model.fields))}",
                    location=owner.locate(*child.path[:-1], "reveal", number),
                    workflow=plan.workflow,
                    step=owner.id,
                )


def _calls(step: StepView, plan: PlanView) -> Iterator[tuple[StepView, Child]]:
    """Every step that may call this one as a tool, and how it names it."""
    for owner in plan.steps.values():
        children: tuple[Child, ...] = getattr(owner, "child_refs", ())
        yield from ((owner, child) for child in children if child.ref == step.id and child.role == "tool")


def _names(config: ModelOpConfig, models: Models, model: Model) -> set[str] | None:
    """Every key of the result; None where a relation leads to a model that is not in order."""
    found: set[Any] = {*model.fields, *config.include}
    # A JSON field holds whatever it likes, but secrets only as a whole.
    made = {other.name: other for other in models.all()}
    for name in config.include:
        relation = model.relations.get(name)
        other = made.get(relation.model) if relation is not None else None
        if other is None:
            return None
        found |= set(other.fields)
    return found
