"""A workflow explained, as JSON-ready data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from tuvl_core import (
    Capabilities,
    Cost,
    Diagnostic,
    FlowEdge,
    FlowGraph,
    Keys,
    Plan,
    PlanStep,
    RunBound,
    Signals,
    StepKind,
    bound_run,
    declared,
    tainted_uses,
)

__all__ = ["declares", "explain"]

QUANTITIES: Final = ("model_calls", "tool_calls", "tokens", "seconds", "money")
_FAILURES: Final = ("error", "aborted")
_LEADS: Final = {"step": "step", "complete": "complete", "stop": "stop", "unrouted": "fail"}


def explain(plan: Plan, found: Sequence[Diagnostic] = ()) -> dict[str, Any]:
    """Tell everything that is known of a workflow before it runs.

    Args:
        plan: The workflow.
        found: What is wrong with it. Beside what refuses a run, nothing is promised of what a run costs: `complete`
            is false then, `run` is None, and `left_out` names steps that cannot be read.
    """
    graph = FlowGraph.of(plan)
    bound = bound_run(plan, graph)
    owners = _owners(plan)
    complete = not any(item.severity == "error" and item.klass == "structure" for item in found)
    return {
        "workflow": plan.workflow,
        "complete": complete,
        "diagnostics": [item.to_json() for item in found],
        "starts_at": plan.first.id if plan.first is not None else None,
        "steps": [_step(step, graph, bound, owners.get(step.id, [])) for step in plan.steps.values()],
        "left_out": [step.id for step in plan.definition.spec.steps if step.id not in plan.steps],
        "run": {name: item.to_dict() for name, item in bound.run.items()} if complete else None,
        "not_counted": [step.id for step in plan.steps.values() if _asks_by_itself(step, bound, plan)],
        "model_values": [
            {"step": use.step, "path": list(use.path), "name": use.name, "source": use.source, "decides": use.sink}
            for use in tainted_uses(plan, graph)
        ],
    }


def declares(step: PlanStep, what: str, plan: Plan) -> Any:
    """What a step's kind declares; where its code raises, the worst case."""
    try:
        return declared(step.kind, what, step, plan)
    except Exception:
        return getattr(StepKind, what)


def _asks_by_itself(step: PlanStep, bound: RunBound, plan: Plan) -> bool:
    """Whether a step's code may ask models in a way that tuvl does not see."""
    capabilities = declares(step, "capabilities", plan)
    return bool(capabilities.model) and bound.steps[step.id].model_calls == 0


def _owners(plan: Plan) -> dict[str, list[str]]:
    """Who may call a step as a tool, by its id."""
    found: dict[str, list[str]] = {}
    for step in plan.steps.values():
        for child in step.child_refs:
            if child.role == "tool":
                found.setdefault(child.ref, []).append(step.id)
    return found


def _step(step: PlanStep, graph: FlowGraph, bound: RunBound, owners: list[str]) -> dict[str, Any]:
    plan = graph.plan
    edges = graph.edges.get(step.id, ())
    capabilities = declares(step, "capabilities", plan)
    return {
        "id": step.id,
        "kind": step.kind_name,
        "distribution": step.distribution,
        "on_spine": step.on_spine,
        "reachable": step.id in graph.reachable,
        "tool_of": owners,
        "tools": [child.ref for child in step.child_refs if child.role == "tool"],
        "signals": [_signal(edge, step) for edge in edges],
        "swallows": list(_swallowed(edges, step, declares(step, "signals", plan))),
        "reads": _keys(declares(step, "reads", plan)),
        "writes": _keys(declares(step, "writes", plan)),
        "effects": step.effects.value,
        "transactional": step.transactional,
        "capabilities": _reach(capabilities),
        "cost": _cost(bound.steps[step.id]),
    }


def _signal(edge: FlowEdge, step: PlanStep) -> dict[str, Any]:
    return {
        "signal": edge.signal,
        "leads_to": _LEADS[edge.transition.kind],
        "target": edge.target,
        "routed": edge.signal in step.routes,
    }


def _swallowed(edges: tuple[FlowEdge, ...], step: PlanStep, signals: Signals) -> Iterator[dict[str, Any]]:
    """Failures that a route turns into something else than the end of the run, and what `default` stands in for."""
    if signals.fallback is not None:
        yield {"signal": "default", "what": signals.fallback, "target": _target(edges, "default")}
    usual = next((edge.transition for edge in edges if edge.signal == "default"), None)
    for edge in edges:
        if edge.signal in _FAILURES and edge.signal in step.routes:
            yield {
                "signal": edge.signal,
                "what": "every failure of the step" if edge.signal == "error" else "every abort",
                "target": edge.target or "END",
                # Whoever comes after cannot tell it from success, unless by `_last_error`.
                "as_if_it_had_succeeded": edge.transition == usual or edge.transition.kind == "complete",
            }


def _target(edges: tuple[FlowEdge, ...], signal: str) -> str | None:
    return next((edge.target or "END" for edge in edges if edge.signal == signal), None)


def _keys(keys: Keys) -> dict[str, Any]:
    return {"keys": sorted(keys.names), "others": keys.open}


def _reach(capabilities: Capabilities) -> dict[str, Any]:
    found = attrs.asdict(capabilities)
    return {**found, "network": list(capabilities.network)}


def _cost(cost: Cost) -> dict[str, Any]:
    amounts: Mapping[str, Any] = {name: getattr(cost, name) for name in QUANTITIES}
    why = {name: cost.why_unbounded(name) for name, amount in amounts.items() if amount is None}
    return {**amounts, "largest_model_call_tokens": cost.call_tokens, "unbounded": why, "how": cost.how}
