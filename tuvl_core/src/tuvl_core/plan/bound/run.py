"""An upper bound of what a run can cost, from what each kind declares and the ways through the workflow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from tuvl_core.kinds import Cost, declared
from tuvl_core.plan.bound.dearest import dearest_way
from tuvl_core.plan.bound.result import QUANTITIES, QuantityBound, RunBound
from tuvl_core.plan.flow import FlowGraph
from tuvl_core.runs import MAX_ATTEMPTS

if TYPE_CHECKING:
    from tuvl_core.plan.model import Plan, PlanStep

__all__ = ["bound_run"]


def bound_run(plan: Plan, graph: FlowGraph | None = None) -> RunBound:
    """Bound what a run of a workflow costs. Runs no user code.

    Args:
        plan: The workflow.
        graph: The ways through it, where they are at hand.
    """
    graph = graph or FlowGraph.of(plan)
    costs = {step.id: cost_of(step, plan) for step in plan.steps.values()}
    steps = {name: _by_steps(name, costs, graph) for name in QUANTITIES}
    steps["tokens"] = _limited(steps["tokens"], _token_limit(costs, graph), "spec.limits.token_budget")
    # What a plugin's section adds, such as judges beside the run, asks no budget; but its clock is the run's.
    whole = _with_sections(steps, plan)
    whole["seconds"] = _limited(whole["seconds"], plan.limits.timeout_s, "spec.limits.timeout_s")
    return RunBound(steps=costs, run=whole)


def cost_of(step: PlanStep, plan: Plan) -> Cost:
    """What one execution of a step costs at most; where the kind's code raises, the worst case."""
    try:
        found = declared(step.kind, "cost", step, plan)
    except Exception as error:
        return Cost.unbounded(f"{step.distribution} raised {type(error).__name__} when asked for the cost: {error}")
    if not isinstance(found, Cost):
        return Cost.unbounded(f"{step.distribution} declares no Cost")
    if step.timeout is not None and (found.seconds is None or found.seconds > step.timeout):
        return attrs.evolve(found, seconds=step.timeout)
    return found


def _by_steps(name: str, costs: Mapping[str, Cost], graph: FlowGraph) -> QuantityBound:
    """What the steps of a run use together, by the dearest way."""
    plan = graph.plan
    amounts: dict[str, Any] = {id: getattr(costs[id], name) for id in graph.edges if id in graph.reachable}
    why = {id: costs[id].why_unbounded(name) for id, amount in amounts.items() if amount is None}
    if why:
        return QuantityBound(value=None, why=why)
    most = plan.limits.max_steps
    total, way = dearest_way(graph, amounts, most)
    again = 0.0
    if any(step.transactional for step in plan.steps.values()):
        # Where two runs meet in a database, one is undone and done again, as long as it came through such steps only.
        repeatable = [id for id in amounts if plan.steps[id].repeatable]
        again, _ = dearest_way(graph, amounts, most, repeatable)
    return QuantityBound(value=total + (MAX_ATTEMPTS - 1) * again if again else total, way=way, repeated=again > 0)


def _with_sections(steps: Mapping[str, QuantityBound], plan: Plan) -> dict[str, QuantityBound]:
    """What plugins' sections of the workflow add, such as judges."""
    whole = dict(steps)
    summed: dict[str, Any] = {name: bound.value for name, bound in steps.items()}
    known = Cost(**summed, why="the steps are not bounded")
    sections = plan.project.plugins.workflow_sections
    for key, value in plan.spec.sections.items():
        section = sections.get(key)
        if section is None or section.cost is None or value is None:
            continue
        try:
            added = section.cost(value, plan, known)
        except Exception as error:
            added = Cost.unbounded(f"its plugin raised {type(error).__name__}: {error}")
        for name in QUANTITIES:
            whole[name] = _plus(whole[name], added, name, f"spec.{key}")
    return whole


def _plus(bound: QuantityBound, added: Cost, name: str, place: str) -> QuantityBound:
    amount = getattr(added, name)
    if amount is None:
        return attrs.evolve(bound, value=None, way=(), why={**bound.why, place: added.why_unbounded(name)})
    return bound if bound.value is None else attrs.evolve(bound, value=bound.value + amount)


def _token_limit(costs: Mapping[str, Cost], graph: FlowGraph) -> int | None:
    """The most tokens with a budget of the run: all of it but one, and then the largest call that there is.

    It is asked for before each model call only, so a kind that uses tokens and does not ask is not held by it.
    """
    budget = graph.plan.limits.token_budget
    if budget is None:
        return None
    largest = [costs[id].call_tokens for id in graph.reachable if costs[id].tokens != 0]
    known = [tokens for tokens in largest if tokens is not None]
    return budget - 1 + max(known, default=0) if len(known) == len(largest) else None


def _limited(bound: QuantityBound, most: float | None, place: str) -> QuantityBound:
    if most is None or (bound.value is not None and bound.value <= most):
        return bound
    return QuantityBound(value=most, way=bound.way, limited_by=place)
