"""The kind itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tuvl_core import (
    AccessError,
    Capabilities,
    Cost,
    Diagnostic,
    Effects,
    Keys,
    PlanView,
    ProjectError,
    Signals,
    Sink,
    StepCall,
    StepError,
    StepKind,
    StepResult,
    StepView,
    reads_of,
)
from tuvl_kinds_modelop.checks import check_step
from tuvl_kinds_modelop.config import WRITES, ModelOpConfig
from tuvl_kinds_modelop.models import Models, advice
from tuvl_kinds_modelop.parameters import model_of, parameters
from tuvl_kinds_modelop.prepared import Prepared, output_key, read_names

if TYPE_CHECKING:
    from tuvl_kinds_modelop.database import Database

__all__ = ["ModelOp"]


class ModelOp(StepKind):
    """Create, read, list, update or delete records of a model."""

    name = "ModelOp"
    Config = ModelOpConfig
    signals = Signals("default", "error")
    mutates_context = False
    capabilities = Capabilities(database=True)
    cost = Cost(seconds=None, why="how long the database takes is unknown")

    def output_key(self, step: StepView, plan: PlanView) -> str:
        """The key of the result."""
        return output_key(step)

    def reads(self, step: StepView, plan: PlanView) -> Keys:
        """The names that its templates read."""
        return Keys(*read_names(step.config))

    def writes(self, step: StepView, plan: PlanView) -> Keys:
        """The result."""
        return Keys(output_key(step))

    def effects(self, step: StepView, plan: PlanView) -> Effects:
        """Looking for read and list; else writing, which the transaction can undo."""
        return Effects.WRITES if step.config.operation in WRITES else Effects.READS

    def transactional(self, step: StepView, plan: PlanView) -> bool:
        """Whether it lies in the run's transaction: not where each step commits by itself."""
        model = model_of(step, plan)
        source = Models.of(plan.project).sources.get(model.source) if model is not None else None
        return source is not None and source.spec.transaction == "run"

    def tool_parameters(self, step: StepView, plan: PlanView) -> Mapping[str, Any] | None:
        """The definition's fields where the step leaves them open, and its template variables."""
        return parameters(step, plan)

    def sinks(self, step: StepView, plan: PlanView) -> Sequence[Sink]:
        """What names columns."""
        order = step.config.order_by
        names = tuple(read.path[0] for read in reads_of(order))
        return [Sink("sql_identifier", names, ("order_by",))] if names else []

    def validate(self, step: StepView, plan: PlanView) -> Iterable[Diagnostic]:
        """Check model, fields, operators, relations, and that an update or delete names its records."""
        return list(check_step(step, plan))

    def prepare(self, step: StepView, plan: PlanView) -> Prepared | None:
        """Look the model up and take the filters apart; None where `spec.context` does not name the model."""
        from tuvl_kinds_modelop.tables import Tables

        model = model_of(step, plan)
        if model is None:
            Models.of(plan.project).find(step.config.model)
            return None
        try:
            Tables.of(plan.project).table(model)
        except Exception as error:
            raise ProjectError(
                f"{step.locate('model')}: step {step.id!r}: no table for {model.name}: {error}"
            ) from error
        return Prepared.of(step, model)

    async def run(self, call: StepCall) -> StepResult:
        """Do the operation inside the run's transaction."""
        from tuvl_kinds_modelop.operations import perform
        from tuvl_kinds_modelop.scope import DATABASE

        prepared: Prepared | None = call.step.prepared
        database: Database | None = call.resources.get(DATABASE)
        if prepared is None or database is None:
            name, known = call.step.config.model, call.run.plan.spec.sections.get("context")
            raise AccessError(
                f"model {name!r} is outside the workflow's `spec.context`{advice(name, _named(known))}; name it there"
            )
        try:
            result = await perform(call, prepared, database)
        except StepError as error:
            text = f"step {call.step.id!r}: {error}"
            raise StepError(text, type=error.type, writes=error.writes) from error
        return StepResult(writes={prepared.output: result})


def _named(context: Any) -> list[str]:
    from tuvl_kinds_modelop.documents import context_pins

    return list(context_pins(context))
