"""A workflow as nodes and edges, with what `tuvl validate` says on the nodes it is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Literal

import attrs

from tuvl_core import Diagnostic, FlowGraph, Plan, PlanStep, declared

__all__ = ["Edge", "Node", "Picture", "picture_of"]

Role = Literal["start", "step", "tool", "unreadable", "missing", "end", "stop", "fail", "supervisor"]

START: Final = "@start"
"""Ids of what is no step begin with `@`, as no step's id can."""
_ENDS: Final[dict[str, tuple[str, Role, str]]] = {
    "complete": ("@end", "end", "END"),
    "stop": ("@stop", "stop", "stopped"),
    "unrouted": ("@fail", "fail", "failed"),
}
_SUPERVISOR: Final = "supervisor"


@attrs.frozen(kw_only=True)
class Node:
    """A node.

    Attributes:
        id: The step's id, or a name that begins with `@`.
        role: What it is.
        label: What is written on it.
        kind: The step's kind, or an empty text.
        reachable: Whether a run can come to it, as a tool too.
        diagnostics: What is wrong with it.
    """

    id: str
    role: Role
    label: str
    kind: str = ""
    reachable: bool = True
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def severity(self) -> str | None:
        """The worst that is wrong with it; what is only an information does not count."""
        found = {item.severity for item in self.diagnostics}
        return next((name for name in ("error", "warning") if name in found), None)


@attrs.frozen(kw_only=True)
class Edge:
    """A way from a node to another.

    Attributes:
        source: Where it begins.
        target: Where it leads.
        role: `signal`, `tool` (whom an agent may call) or `watches`.
        signals: By what signals a run takes it.
    """

    source: str
    target: str
    role: Literal["signal", "tool", "watches"] = "signal"
    signals: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Picture:
    """A workflow as nodes and edges."""

    workflow: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def to_dict(self) -> dict[str, Any]:
        """The picture as JSON-ready data."""
        return {
            "workflow": self.workflow,
            "nodes": [_node_data(node) for node in self.nodes],
            "edges": [
                {"source": edge.source, "target": edge.target, "role": edge.role, "signals": list(edge.signals)}
                for edge in self.edges
            ],
        }


def picture_of(plan: Plan, found: Sequence[Diagnostic]) -> Picture:
    """Draw a workflow.

    Args:
        plan: The workflow.
        found: What is wrong with it.
    """
    graph = FlowGraph.of(plan)
    edges = list(_edges(graph))
    called = _called(edges, graph)
    steps = [_step(id, plan, called, found) for id in (step.id for step in plan.definition.spec.steps)]
    general = tuple(item for item in found if item.step is None)
    start = Node(id=START, role="start", label=plan.workflow, diagnostics=general)
    known = {START, *(node.id for node in steps)}
    return Picture(
        workflow=plan.workflow,
        nodes=(start, *steps, *_others(edges, known)),
        edges=tuple(edges),
    )


def _step(id: str, plan: Plan, called: set[str], found: Iterable[Diagnostic]) -> Node:
    wrong = tuple(item for item in found if item.step == id)
    definition = next(step for step in plan.definition.spec.steps if step.id == id)
    step = plan.steps.get(id)
    role: Role = "unreadable" if step is None else "step" if step.on_spine else "tool"
    return Node(
        id=id, role=role, label=id, kind=definition.kind, reachable=step is None or id in called, diagnostics=wrong
    )


def _edges(graph: FlowGraph) -> Iterator[Edge]:
    plan = graph.plan
    if plan.first is not None:
        yield Edge(source=START, target=plan.first.id)
    for step in plan.steps.values():
        signals: dict[str, list[str]] = {}
        for edge in graph.edges.get(step.id, ()):
            target = edge.target if edge.target is not None else _ENDS[edge.transition.kind][0]
            signals.setdefault(target, []).append("any other" if edge.signal == "*" else edge.signal)
        for target, names in signals.items():
            yield Edge(source=step.id, target=target, signals=tuple(names))
        for child in step.child_refs:
            yield Edge(source=step.id, target=child.ref, role="tool")
    if plan.spec.sections.get(_SUPERVISOR) is not None:
        for step in plan.steps.values():
            if step.composite and _asks_models(step, plan):
                yield Edge(source=f"@{_SUPERVISOR}", target=step.id, role="watches")


def _asks_models(step: PlanStep, plan: Plan) -> bool:
    """Whether a step's kind says that it asks models; where its code raises, the worst case."""
    try:
        return bool(declared(step.kind, "capabilities", step, plan).model)
    except Exception:
        return True


def _called(edges: Iterable[Edge], graph: FlowGraph) -> set[str]:
    """Steps that a run comes to, by a signal or as a tool."""
    found = set(graph.reachable)
    tools = [edge for edge in edges if edge.role == "tool"]
    grown = True
    while grown:
        new = {edge.target for edge in tools if edge.source in found} - found
        grown = bool(new)
        found |= new
    return found


def _others(edges: Iterable[Edge], known: set[str]) -> Iterator[Node]:
    """Nodes that are no steps: ends, the supervisor, and what is referred to and not there."""
    ends = {id: Node(id=id, role=role, label=label) for id, role, label in _ENDS.values()}
    ends[f"@{_SUPERVISOR}"] = Node(id=f"@{_SUPERVISOR}", role="supervisor", label="supervisor")
    seen = dict.fromkeys(id for edge in edges for id in (edge.source, edge.target) if id not in known)
    for id in sorted(seen, key=lambda name: (name in ends, list(ends).index(name) if name in ends else 0)):
        yield ends.get(id) or Node(id=id, role="missing", label=f"{id}?", reachable=False)


def _node_data(node: Node) -> dict[str, Any]:
    return {
        "id": node.id,
        "role": node.role,
        "label": node.label,
        "kind": node.kind or None,
        "reachable": node.reachable,
        "diagnostics": [item.to_json() for item in node.diagnostics],
    }
