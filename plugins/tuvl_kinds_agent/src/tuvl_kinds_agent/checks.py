"""What can be wrong with an AutonomousAgent step, beyond the shape of its keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tuvl_core import Diagnostic, PlanView, StepView, check_schema, declared
from tuvl_kinds_agent import codes
from tuvl_kinds_agent.config import AutonomousAgentSpec, ToolEntry
from tuvl_kinds_agent.findings import Place, check_model, finding
from tuvl_kinds_agent.outcome import RESERVED_EXITS
from tuvl_kinds_agent.steering import Channel, GuideProblem, read_guide, scope_of

__all__ = ["check_autonomous_agent"]


def check_autonomous_agent(step: StepView, plan: PlanView) -> Iterator[Diagnostic]:
    """Every finding about one AutonomousAgent step."""
    agent: AutonomousAgentSpec = step.config.agent
    yield from check_model(agent.model, step, plan)
    yield from _steering(agent, step, plan)
    yield from _guides("steering", agent.steering_files, step, plan)
    yield from _guides("skills", agent.skills, step, plan)
    yield from _tools(agent, step, plan)
    yield from _outcomes(agent, step, plan)
    if step.on_spine:
        yield from _routes(agent, step, plan)


# --- instructions ---------------------------------------------------------------------------


def _steering(agent: AutonomousAgentSpec, step: StepView, plan: PlanView) -> Iterator[Diagnostic]:
    if agent.goal is not None:
        message = "`agent.goal` is no known key, and nothing reads it"
        hint = "did you mean `steering`?"
        yield finding(codes.GOAL, message, step, plan, ("agent", "goal"), hint)
    if not (agent.steering and agent.steering.strip()):
        message = "the agent has no `steering`, the instruction it always follows"
        yield finding(codes.NO_STEERING, message, step, plan, ("agent",))


def _guides(channel: Channel, entries: tuple[str, ...], step: StepView, plan: PlanView) -> Iterator[Diagnostic]:
    scope = scope_of(plan.workflow, step.id, channel)
    key = "steering_files" if channel == "steering" else "skills"
    for index, entry in enumerate(entries):
        try:
            read_guide(plan.project.root, scope, entry)
        except GuideProblem as problem:
            code = codes.OUT_OF_SCOPE if problem.out_of_scope else codes.NO_FILE
            hint = f"put the file under {scope}/" if problem.out_of_scope else None
            yield finding(code, str(problem), step, plan, ("agent", key, index), hint)


# --- tools ----------------------------------------------------------------------------------


def _tools(agent: AutonomousAgentSpec, step: StepView, plan: PlanView) -> Iterator[Diagnostic]:
    if not agent.tools:
        message = "the agent declares no tools: it thinks once and cannot act"
        yield finding(codes.NO_TOOLS, message, step, plan, ("agent",))
    count = Counter(entry.ref for entry in agent.tools)
    for index, entry in enumerate(agent.tools):
        place: Place = ("agent", "tools", index)
        target = plan.steps.get(entry.ref) if entry.ref and entry.ref != step.id else None
        if target is None:
            if entry.ref in _unreadable(plan):
                continue  # it says itself what is wrong with it
            yield _bad_ref(entry, step, plan, place)
            continue
        yield from _tool(entry, target, step, plan, place)
        if count[entry.ref] > 1:
            message = f"{entry.ref!r} is this agent's tool {count[entry.ref]} times"
            yield finding(codes.TWIN_TOOL, message, step, plan, (*place, "ref"))


def _unreadable(plan: PlanView) -> set[str]:
    """Ids of steps whose own keys could not be read, which a plan leaves out."""
    definition = plan.project.workflows.get(plan.workflow)
    return {item.id for item in definition.spec.steps} - set(plan.steps) if definition is not None else set()


def _bad_ref(entry: ToolEntry, step: StepView, plan: PlanView, place: Place) -> Diagnostic:
    if not entry.ref:
        hint = "a tool is another step of this workflow: `ref: <step id>`"
        return finding(codes.BAD_REF, "the tool has no `ref`", step, plan, place, hint)
    if entry.ref == step.id:
        message = f"the agent {entry.ref!r} cannot be its own tool"
        return finding(codes.BAD_REF, message, step, plan, (*place, "ref"))
    return finding(
        codes.BAD_REF,
        f"the tool refers to {entry.ref!r}, which is no step of this workflow",
        step,
        plan,
        (*place, "ref"),
        _nearest(entry.ref, [id for id in plan.steps if id != step.id]),
    )


def _nearest(ref: str, ids: list[str]) -> str | None:
    from difflib import get_close_matches

    near = get_close_matches(ref, ids, 1)
    return f"did you mean {near[0]!r}?" if near else None


def _tool(entry: ToolEntry, target: StepView, step: StepView, plan: PlanView, place: Place) -> Iterator[Diagnostic]:
    if not declared(plan.kind_of(target), "callable_as_tool", target, plan):
        message = f"{target.id!r} is of kind {target.kind_name}, which cannot be a tool"
        yield finding(codes.NO_TOOL_KIND, message, step, plan, (*place, "ref"))
    if step.id in _reachable(target, plan):
        message = f"{step.id!r} and its tool {target.id!r} call each other: that would never end"
        yield finding(codes.CYCLE, message, step, plan, (*place, "ref"))
    if not (target.description or entry.description):
        message = f"the tool {target.id!r} has no description: the model cannot know what it does"
        hint = f"add `description:` to step {target.id!r}"
        yield finding(codes.NO_DESCRIPTION, message, step, plan, place, hint)
    if entry.parameters is not None and (problem := _bad_parameters(entry.parameters)):
        message = f"the parameters of tool {target.id!r} cannot be used: {problem}"
        yield finding(codes.BAD_PARAMETERS, message, step, plan, (*place, "parameters"))


def _bad_parameters(schema: dict[str, object]) -> str | None:
    if schema.get("type", "object") != "object":
        return "arguments are an object, so the schema's `type` is `object`"
    return check_schema(schema)


def _reachable(start: StepView, plan: PlanView) -> set[str]:
    """Ids of the steps that a tool can call, directly or through its own tools."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        at = waiting.pop()
        for child in declared(plan.kind_of(at), "children", at, plan):
            if child.ref not in found and child.ref in plan.steps:
                found.add(child.ref)
                waiting.append(plan.steps[child.ref])
    return found


# --- exits ----------------------------------------------------------------------------------


def _outcomes(agent: AutonomousAgentSpec, step: StepView, plan: PlanView) -> Iterator[Diagnostic]:
    for index, outcome in enumerate(agent.outcome.enum):
        problem = None
        if outcome in RESERVED_EXITS:
            problem = f"{outcome!r} is an exit that the engine alone decides"
        elif outcome != outcome.strip() or not outcome:
            problem = f"the outcome {outcome!r} is blank, or has blanks around it"
        elif outcome in agent.outcome.enum[:index]:
            problem = f"the outcome {outcome!r} is there twice"
        if problem:
            place = ("agent", "outcome", "enum", index)
            yield finding(codes.BAD_OUTCOME, problem, step, plan, place)


def _routes(agent: AutonomousAgentSpec, step: StepView, plan: PlanView) -> Iterator[Diagnostic]:
    place: Place = ("routes",) if step.routes else ()
    for index, outcome in enumerate(agent.outcome.enum):
        if outcome not in step.routes and outcome not in RESERVED_EXITS:
            message = f"the outcome {outcome!r} has no route: the run fails when the model chooses it"
            where = ("agent", "outcome", "enum", index)
            yield finding(codes.UNROUTED_OUTCOME, message, step, plan, where, _route(outcome))
    for bound in ("max_iterations", "budget_exceeded"):
        if bound not in step.routes:
            message = f"`{bound}` has no route: the run fails when the bound is reached"
            yield finding(codes.UNROUTED_BOUND, message, step, plan, place, _route(bound))
    if "aborted" not in step.routes:
        message = "`aborted` has no route: an abort stops the workflow without a routed exit"
        yield finding(codes.UNROUTED_ABORT, message, step, plan, place, _route("aborted"))


def _route(signal: str) -> str:
    return f"add `{signal}: <step id or END>` to the step's routes"
