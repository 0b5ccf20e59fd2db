"""Ways that lead nowhere: steps nobody comes to, routes nobody takes, rounds nobody leaves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tuvl_core.diagnostics import Code, Diagnostic
from tuvl_core.plan.flow.graph import FlowGraph, signals_of
from tuvl_core.structure import did_you_mean

__all__ = ["CODES", "check_ways"]


def _code(number: int, severity: str, title: str) -> Code:
    return Code(code=f"TUVL-W{number:03d}", severity=severity, klass="flow", title=title)  # type: ignore[arg-type]


UNREACHABLE: Final = _code(16, "warning", "a step that no way leads to")
IMPOSSIBLE: Final = _code(17, "warning", "a route for a signal that its step never leaves by")
ENDLESS: Final = _code(18, "warning", "steps that go round and are left by nothing but a failure")
NO_END: Final = _code(19, "warning", "no way through a workflow completes it")
CODES: Final = (UNREACHABLE, IMPOSSIBLE, ENDLESS, NO_END)


def check_ways(graph: FlowGraph) -> Iterator[Diagnostic]:
    """Find what no run can walk, and what no run can leave."""
    yield from _unreachable(graph)
    yield from _impossible(graph)
    endless = list(_endless(graph))
    yield from endless
    if not endless:
        yield from _no_end(graph)


def _unreachable(graph: FlowGraph) -> Iterator[Diagnostic]:
    plan = graph.plan
    for step in plan.steps.values():
        if step.on_spine and step.id not in graph.reachable:
            yield Diagnostic.of(
                UNREACHABLE,
                f"no way leads to step {step.id!r}: every step before it goes elsewhere",
                location=step.locate("id"),
                workflow=plan.workflow,
                step=step.id,
                hint="route a signal to it, name it as an agent's tool, or remove it",
            )


def _impossible(graph: FlowGraph) -> Iterator[Diagnostic]:
    plan = graph.plan
    for step in plan.steps.values():
        signals = signals_of(step, plan)
        if signals.open:
            continue
        for signal in step.routes:
            if not signals.can_emit(signal):
                known = ", ".join(dict.fromkeys((*signals.names, "error")))
                yield Diagnostic.of(
                    IMPOSSIBLE,
                    f"step {step.id!r} never leaves by `{signal}`, so this route is never taken; it leaves by: {known}",
                    location=step.locate("routes", signal),
                    workflow=plan.workflow,
                    step=step.id,
                    hint=did_you_mean(signal, signals.names),
                )


def _endless(graph: FlowGraph) -> Iterator[Diagnostic]:
    plan = graph.plan
    for cycle in graph.cycles:
        if not _left(graph, cycle):
            first = plan.steps[cycle[0]]
            yield Diagnostic.of(
                ENDLESS,
                f"the steps {', '.join(cycle)} go round until spec.limits.max_steps ({plan.limits.max_steps}) "
                "ends the run: nothing but a failure leads out of them",
                location=first.locate("id"),
                workflow=plan.workflow,
                step=first.id,
                hint="route one of their signals to a step outside, or to END",
            )


def _left(graph: FlowGraph, cycle: tuple[str, ...]) -> bool:
    """Whether a signal other than a failure leads out of a round."""
    return any(
        edge.transition.kind in ("complete", "step") and edge.target not in cycle
        for id in cycle
        for edge in graph.edges[id]
        if edge.signal != "error"
    )


def _no_end(graph: FlowGraph) -> Iterator[Diagnostic]:
    plan = graph.plan
    ends = {edge.transition.kind for id in graph.reachable for edge in graph.edges[id]}
    if "complete" in ends or "unrouted" in ends:  # what has no route is told of its step
        return
    yield Diagnostic.of(
        NO_END,
        f"no way through workflow {plan.workflow!r} completes it: each one stops or fails",
        location=plan.definition.locate("spec", "steps"),
        workflow=plan.workflow,
        hint="let the last step go on, or route a signal to END",
    )
