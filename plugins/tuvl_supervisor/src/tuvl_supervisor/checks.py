"""What can be wrong with a workflow's supervisor, beyond the shape of its keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tuvl_core import Code, Diagnostic, Plan, ProjectError, did_you_mean
from tuvl_supervisor import codes
from tuvl_supervisor.config import SupervisorSpec
from tuvl_supervisor.supervision import KEY, UNKNOWN_RULE, DeclaredRule, read_rules, shape_of, spec_of, watched_steps

if TYPE_CHECKING:
    from tuvl_core import LoopShape, PlanView

__all__ = ["check"]

Shapes = Mapping[str, "LoopShape"]


def check(plan: PlanView) -> Iterator[Diagnostic]:
    """Every finding about the supervisor of a workflow; costs nothing where there is none."""
    assert isinstance(plan, Plan)
    spec = spec_of(plan)
    if spec is None:
        return
    yield from _watches(spec, plan)
    yield from _judge(spec, plan)
    if not spec.rules and spec.model is None and spec.criteria is None:
        hint = "add `rules`, or `model` and `criteria`"
        yield _finding(codes.IDLE, "the supervisor has neither rules nor a judge: it does nothing", plan, (), hint)
    try:
        rules, problems = read_rules(plan)
    except ProjectError as error:
        yield _finding(UNKNOWN_RULE, error.message, plan, ("rules",))
        return
    yield from problems
    shapes = watched_steps(plan)
    for rule in rules:
        yield from _rule(rule, shapes, plan)
    yield from _never_judges(spec, shapes, plan)
    if not problems:
        yield from _aborts(spec, rules, plan)


def _finding(
    code: Code, message: str, plan: Plan, place: tuple[str | int, ...], hint: str | None = None, step: str | None = None
) -> Diagnostic:
    location = plan.definition.locate("spec", KEY, *place)
    return Diagnostic.of(code, message, location=location, workflow=plan.workflow, step=step, hint=hint)


# --- what it watches ------------------------------------------------------------------------


def _watches(spec: SupervisorSpec, plan: Plan) -> Iterator[Diagnostic]:
    ids = {step.id for step in plan.definition.spec.steps}
    for index, id in enumerate(spec.watches):
        if id not in ids:
            message = f"there is no step {id!r} to watch"
            yield _finding(codes.NO_STEP, message, plan, ("watches", index), did_you_mean(id, ids))
        elif (step := plan.steps.get(id)) is not None and shape_of(step, plan) is None:
            message = f"{id!r} is of kind {step.kind_name}, which opens no loop: there is nothing to watch"
            yield _finding(codes.NO_AGENT, message, plan, ("watches", index), "name an AutonomousAgent", step=id)
    complete = len(plan.steps) == len(ids)
    if not spec.watches and complete and not watched_steps(plan):
        message = "the workflow has no agent, so there is nothing to watch"
        yield _finding(codes.NO_AGENT, message, plan, ())


# --- rules ----------------------------------------------------------------------------------


def _rule(rule: DeclaredRule, shapes: Shapes, plan: Plan) -> Iterator[Diagnostic]:
    place = ("rules", rule.number)
    never = _in_every(shapes, rule.kind.never, rule.config)
    if never is not None:
        message = f"the rule `{rule.kind.name}` can never fire: {never}"
        yield _finding(codes.NEVER_FIRES, message, plan, place)
        return
    hardly = _in_every(shapes, rule.kind.hardly, rule.config)
    if hardly is not None:
        message = f"the rule `{rule.kind.name}` hardly ever fires: {hardly}"
        yield _finding(codes.HARDLY_FIRES, message, plan, place)


def _in_every(shapes: Shapes, why: Callable[[Any, LoopShape], str | None] | None, config: Any) -> str | None:
    """Why something does not happen in any of these loops; None if it may in one, or there is none."""
    if why is None:
        return None
    reasons = {id: why(config, shape) for id, shape in shapes.items()}
    if not reasons or None in reasons.values():
        return None
    return "; ".join(f"agent {id!r}: {reason}" for id, reason in reasons.items())


def _aborts(spec: SupervisorSpec, rules: list[DeclaredRule], plan: Plan) -> Iterator[Diagnostic]:
    judged = spec.model is not None and "abort" in (spec.on_violation, spec.on_judge_error)
    if not judged and not any(rule.then == "abort" for rule in rules):
        return
    for id in watched_steps(plan):
        step = plan.steps[id]
        if step.on_spine and "aborted" not in step.routes:
            yield Diagnostic.of(
                codes.UNROUTED_ABORT,
                f"the supervisor may abort {id!r}, and `aborted` has no route: the workflow would stop there",
                location=step.locate("routes") if step.routes else step.locate(),
                workflow=plan.workflow,
                step=id,
                hint="add `aborted: <step id or END>` to the step's routes",
            )


# --- the judge ------------------------------------------------------------------------------


def _judge(spec: SupervisorSpec, plan: Plan) -> Iterator[Diagnostic]:
    if (spec.model is None) != (spec.criteria is None):
        given, missing = ("model", "criteria") if spec.model is not None else ("criteria", "model")
        message = f"a judge needs both: `{given}` is given, and `{missing}` is not"
        yield _finding(codes.HALF_A_JUDGE, message, plan, (given,), f"add `{missing}:`, or take `{given}` away")
    if spec.model is not None:
        yield from _model(spec.model, plan)


def _model(model: str, plan: Plan) -> Iterator[Diagnostic]:
    from tuvl_models import model_problem

    literal = "/" in model
    try:
        if not literal:
            plan.project.find("AgentModel", model)
        elif problem := model_problem(plan.project, model):
            yield _finding(codes.BAD_MODEL, problem, plan, ("model",))
    except ProjectError as error:
        add = f"add a document `kind: AgentModel` with `metadata: {{ name: {model} }}`"
        yield _finding(codes.NO_MODEL, error.message, plan, ("model",), None if literal else add)


def _never_judges(spec: SupervisorSpec, shapes: Shapes, plan: Plan) -> Iterator[Diagnostic]:
    if spec.model is None or not shapes:
        return
    most = [shape.max_iterations for shape in shapes.values()]
    known = [turns for turns in most if turns is not None]
    if len(known) == len(most) and spec.every_n_iterations > max(known):
        message = (
            f"the judge is asked after every {spec.every_n_iterations} turns, and what it watches has "
            f"{max(known)} at most: it is never asked"
        )
        yield _finding(codes.NEVER_JUDGES, message, plan, ("every_n_iterations",))
