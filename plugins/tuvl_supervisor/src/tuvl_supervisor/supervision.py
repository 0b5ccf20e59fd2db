"""What a workflow's supervisor comes to: its rules, read by their kinds, and its judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from tuvl_core import Code, Diagnostic, Plan, PlanStep, ProjectError, declared, did_you_mean, structured
from tuvl_supervisor.config import Action, RuleHead, SupervisorSpec
from tuvl_supervisor.kinds import Rule, RuleKind, rule_kinds

if TYPE_CHECKING:
    from tuvl_core import LoopShape
    from tuvl_models import BoundModel

__all__ = [
    "KEY",
    "UNKNOWN_RULE",
    "DeclaredRule",
    "Judge",
    "Supervision",
    "read_rules",
    "rules_of",
    "shape_of",
    "spec_of",
    "supervision_of",
    "watched_steps",
]

KEY = "supervisor"
UNKNOWN_RULE = Code(
    code="TUVL-V001", severity="error", klass="structure", title="a supervisor's rule is of a kind that nobody brings"
)


@attrs.frozen
class DeclaredRule:
    """One rule of a workflow.

    Attributes:
        number: Its place in the list, from 0.
        kind: Its kind.
        config: Its own keys, typed.
        then: What it does when it fires.
    """

    number: int
    kind: RuleKind
    config: Any
    then: Action

    def create(self) -> Rule:
        """The rule for one loop."""
        return self.kind.create(self.config)


@attrs.frozen(kw_only=True)
class Judge:
    """The judge of a workflow.

    Attributes:
        model: Whom it asks.
        criteria: What it judges by.
        every: After how many turns it is asked again.
        timeout_s: The limit of one verdict.
    """

    model: BoundModel
    criteria: str
    every: int
    timeout_s: float


@attrs.frozen(kw_only=True)
class Supervision:
    """A workflow's supervisor, ready to watch.

    Attributes:
        spec: What the file says.
        rules: Its rules.
        judge: Its judge, if it has one.
    """

    spec: SupervisorSpec
    rules: tuple[DeclaredRule, ...]
    judge: Judge | None

    def watches(self, step_id: str) -> bool:
        """Whether it watches the loops of a step."""
        return not self.spec.watches or step_id in self.spec.watches


def spec_of(plan: Any) -> SupervisorSpec | None:
    """What a workflow says under `supervisor`, or None."""
    found: SupervisorSpec | None = plan.spec.sections.get(KEY)
    return found


def supervision_of(plan: Plan) -> Supervision | None:
    """The supervisor of a workflow; made once, and None where it has none.

    Raises:
        ProjectError: It names a rule kind, a key or a model that does not exist.
    """
    spec = spec_of(plan)
    if spec is None:
        return None
    made: dict[str, Supervision] = plan.project.kept.setdefault(Supervision, {})
    found = made.get(plan.workflow)
    if found is None or found.spec is not spec:
        found = made[plan.workflow] = _make(plan, spec)
    return found


def rules_of(plan: Plan) -> Supervision | None:
    """The supervisor of a workflow without its judge, whatever model that may have; None where there is none.

    Raises:
        ProjectError: It names a rule kind or a key that does not exist.
    """
    spec = spec_of(plan)
    if spec is None:
        return None
    rules, problems = read_rules(plan)
    if problems:
        raise ProjectError(f"the supervisor of workflow {plan.workflow!r} cannot watch", problems)
    return Supervision(spec=spec, rules=tuple(rules), judge=None)


def _make(plan: Plan, spec: SupervisorSpec) -> Supervision:
    found = rules_of(plan)
    assert found is not None
    if spec.model is None or spec.criteria is None:
        return found
    from tuvl_models import resolve_model

    judge = Judge(
        model=resolve_model(plan.project, spec.model),
        criteria=spec.criteria,
        every=spec.every_n_iterations,
        timeout_s=plan.project.settings["agent.judge_timeout_s"],
    )
    return attrs.evolve(found, judge=judge)


# --- rules ----------------------------------------------------------------------------------


def read_rules(plan: Plan) -> tuple[list[DeclaredRule], list[Diagnostic]]:
    """Read the rules of a workflow by their kinds, and say what is wrong with the others.

    Raises:
        ProjectError: Two plugins bring a rule kind of one name.
    """
    spec = spec_of(plan)
    kinds = rule_kinds(plan.project)
    rules: list[DeclaredRule] = []
    problems: list[Diagnostic] = []
    for number in range(len(spec.rules) if spec is not None else 0):
        rule, found = _read_rule(plan, number, kinds)
        problems += found
        if rule is not None:
            rules.append(rule)
    return rules, problems


def _read_rule(plan: Plan, number: int, kinds: Mapping[str, RuleKind]) -> tuple[DeclaredRule | None, list[Diagnostic]]:
    spec = spec_of(plan)
    assert spec is not None
    path = ("spec", KEY, "rules", number)
    # As it was written: what `${…}` stands for is put in once, by the types that the kind's keys have.
    data: dict[str, Any] = plan.definition.document.get(path)
    head, found = _structured(plan, path, {key: data[key] for key in ("when", "then") if key in data}, RuleHead)
    if head is None:
        return None, found
    kind = kinds.get(head.when)
    if kind is None:
        return None, [_unknown(plan, number, head.when, kinds)]
    own = {key: value for key, value in data.items() if key not in ("when", "then")}
    config, found = _structured(plan, path, own, kind.config)
    if found:
        return None, found
    return DeclaredRule(number, kind, config, head.then or spec.on_violation), []


def _structured(plan: Plan, path: Any, data: Any, cls: type[Any]) -> tuple[Any, list[Diagnostic]]:
    document, environment = plan.definition.document, plan.project.environment
    value, found = structured(data, cls, document=document, path=path, environment=environment)
    return value, [attrs.evolve(item, workflow=plan.workflow) for item in found]


def _unknown(plan: Plan, number: int, name: str, kinds: Iterable[str]) -> Diagnostic:
    names = sorted(kinds)
    return Diagnostic.of(
        UNKNOWN_RULE,
        f"there is no kind of rule {name!r}; there are: {', '.join(names)}",
        location=plan.definition.locate("spec", KEY, "rules", number, "when"),
        workflow=plan.workflow,
        hint=did_you_mean(name, names),
    )


# --- what is watched ------------------------------------------------------------------------


def shape_of(step: PlanStep, plan: Plan) -> LoopShape | None:
    """What bounds a step's loop; None where it opens none, or its kind's code raises."""
    try:
        shape: LoopShape | None = declared(step.kind, "loop", step, plan)
    except Exception:
        return None  # whose fault that is, the kernel says
    return shape


def watched_steps(plan: Plan) -> dict[str, LoopShape]:
    """The steps whose loops a workflow's supervisor watches, with what bounds each."""
    spec = spec_of(plan)
    named = spec.watches if spec is not None else ()
    shapes = ((step.id, shape_of(step, plan)) for step in plan.steps.values() if not named or step.id in named)
    return {id: shape for id, shape in shapes if shape is not None}
