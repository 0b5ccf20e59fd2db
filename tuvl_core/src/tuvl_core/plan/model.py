"""What a compiled workflow looks like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import attrs

from tuvl_core.errors import PluginError
from tuvl_core.kinds import Child, Effects, StepKind, StepView
from tuvl_core.tools import derive_parameters

if TYPE_CHECKING:
    from tuvl_core.diagnostics import Location
    from tuvl_core.project import Definition, Limits, Project, StepDefinition, WorkflowSpec

__all__ = ["Plan", "PlanStep", "Transition"]


@attrs.frozen
class Transition:
    """Where a signal leads.

    Attributes:
        kind: `step`: to `target`; `complete`: the run is done; `stop`: it stops cleanly, unrouted;
            `unrouted`: it fails, for nobody said what to do.
        target: Id of the next step, for `step`.
    """

    kind: Literal["step", "complete", "stop", "unrouted"]
    target: str | None = None


@attrs.define(kw_only=True, eq=False)
class PlanStep:
    """One step, compiled. Built once per plan and read by every run; never changed afterwards.

    Attributes:
        id: The step's id.
        kind: The kind that runs it.
        kind_name: What stands after `kind:`.
        distribution: Name and version of the package the kind comes from.
        config: The kind's own keys, typed.
        definition: What was read from the file.
        following: Id of the next step on the spine, or None after the last.
        on_spine: False for a step that only some other step's call reaches.
        composite: Its inner calls pass the effect door themselves.
        mutates_context: It needs a view of the context that it may write to.
        effects: What it does to the world.
        transactional: A run that fails undoes all it wrote.
        output_key: The context key that holds its result, if it has one.
        children: Steps it may dispatch, by id.
        child_refs: Its references, as the kind declared them.
        prepared: What the kind made of it at compile time.
        successors: The steps its signals lead to, filled as runs meet them.
        undeclared: What its kind raised when it was asked what it declares; such a plan cannot run.
    """

    id: str
    kind: StepKind
    kind_name: str
    distribution: str
    config: Any
    definition: StepDefinition
    following: str | None = None
    on_spine: bool = True
    composite: bool = False
    mutates_context: bool = True
    effects: Effects = Effects.IRREVERSIBLE
    transactional: bool = False
    output_key: str | None = None
    children: Mapping[str, PlanStep] = attrs.field(factory=dict)
    child_refs: tuple[Child, ...] = ()
    prepared: Any = None
    successors: dict[str, PlanStep] = attrs.field(factory=dict, repr=False)
    undeclared: Exception | None = attrs.field(default=None, repr=False)
    timeout: float | None = None

    @property
    def repeatable(self) -> bool:
        """Whether a run that is done again may do it again."""
        return self.transactional or self.effects in (Effects.PURE, Effects.READS)

    @property
    def description(self) -> str | None:
        """What a model reads when this step is its tool."""
        return self.definition.description

    @property
    def routes(self) -> Mapping[str, str]:
        """Signal to step id, or `END`."""
        return self.definition.routes

    @property
    def sections(self) -> Mapping[str, Any]:
        """Keys that plugins add to every step, by name."""
        return self.definition.sections

    def locate(self, *path: str | int) -> Location:
        """The place of a key below the step's mapping, or of the step itself."""
        return self.definition.locate(*path)


@attrs.define(kw_only=True, eq=False)
class Plan:
    """A workflow, compiled.

    Attributes:
        workflow: Its name.
        definition: What was read from the file.
        project: The project it belongs to.
        steps: Every step, by id, in file order.
        spine: Ids of the steps that runs walk, in order.
        input_check: Checks a run's input against `spec.input`; None where it declares none.
        spec: Its typed body.
        limits: Bounds of a whole run.
    """

    workflow: str
    definition: Definition[WorkflowSpec]
    project: Project
    steps: dict[str, PlanStep]
    spine: tuple[str, ...]
    input_check: Any = None
    spec: WorkflowSpec = attrs.field(init=False)
    limits: Limits = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.spec = self.definition.spec
        self.limits = self.spec.limits

    @property
    def first(self) -> PlanStep | None:
        """Where runs start."""
        return self.steps[self.spine[0]] if self.spine else None

    def kind_of(self, step: StepView) -> StepKind:
        """The kind that runs `step`."""
        return self.steps[step.id].kind

    def tool_parameters(self, step: StepView) -> dict[str, Any]:
        """JSON Schema of a step's arguments as a tool: a hook's answer, else declared or derived.

        Raises:
            PluginError: Two plugins answered for the same step.
        """
        answers = [
            (candidate.dist, value)
            for candidate, value in self.project.plugins.call("tuvl_tool_parameters", step=step, plan=self)
            if value is not None
        ]
        if len(answers) > 1:
            owners = " and ".join(sorted(dist for dist, _ in answers))
            raise PluginError(f"step {step.id!r}: {owners} both decide its tool parameters; block one of them")
        if answers:
            return dict(answers[0][1])
        return derive_parameters(step, self, self.kind_of(step))
