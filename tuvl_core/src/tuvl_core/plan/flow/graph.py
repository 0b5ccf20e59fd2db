"""The signal-flow model: every way that a run of a workflow can go, before any of it runs.

From what each step's kind declares it may leave by, and from the engine's own `advance`. What a run does is always one
of these ways; some of these ways no run may ever take.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

import attrs

from tuvl_core.kinds import Signals, declared
from tuvl_core.plan.advancing import advance
from tuvl_core.plan.model import Transition

if TYPE_CHECKING:
    from tuvl_core.plan.model import Plan, PlanStep

__all__ = ["ANY_OTHER", "FlowEdge", "FlowGraph", "signals_of"]

ANY_OTHER: Final = "*"
"""Stands for the signals of a step that nobody can list: a Functional node may return any."""


@attrs.frozen
class FlowEdge:
    """One way out of a step.

    Attributes:
        source: Id of the step.
        signal: The signal it leaves by; `*` stands for any that is not listed.
        transition: Where that leads, as the engine has it.
    """

    source: str
    signal: str
    transition: Transition

    @property
    def target(self) -> str | None:
        """Id of the step it leads to; None where the run ends there."""
        return self.transition.target


@attrs.frozen(kw_only=True, eq=False)
class FlowGraph:
    """Every way through a workflow.

    Attributes:
        plan: The workflow.
        edges: The ways out of each step that a run can walk to or that stands on the spine, by its id.
        reachable: Ids of the steps that some way leads to.
        cycles: Steps that can come round again, in groups: each of a group leads to every other of it.
    """

    plan: Plan
    edges: Mapping[str, tuple[FlowEdge, ...]]
    reachable: frozenset[str]
    cycles: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, plan: Plan) -> FlowGraph:
        """Build the model of a workflow. Runs no user code."""
        edges = {step.id: tuple(_edges(step, plan)) for step in plan.steps.values() if step.on_spine}
        reachable = _reachable(plan, edges)
        return cls(plan=plan, edges=edges, reachable=reachable, cycles=_cycles(edges, reachable))

    def successors(self, id: str) -> tuple[str, ...]:
        """The steps that a step can lead to, each once, in the order of its signals."""
        found = (edge.target for edge in self.edges.get(id, ()))
        return tuple(dict.fromkeys(target for target in found if target is not None))

    def way_to(self, id: str, avoiding: Iterable[str] = ()) -> tuple[FlowEdge, ...] | None:
        """The shortest way from the first step to a step, without passing some others.

        Args:
            id: The step.
            avoiding: Steps that it must not pass; the step itself does not count.

        Returns:
            The edges, none where the step is the first; None where there is no such way.
        """
        first = self.plan.first
        if first is None:
            return None
        barred = set(avoiding) - {id}
        before: dict[str, FlowEdge | None] = {first.id: None}
        waiting = [first.id] if first.id not in barred else []
        for current in waiting:
            if current == id:
                return _walked(before, id)
            for edge in self.edges.get(current, ()):
                if edge.target is not None and edge.target not in before and edge.target not in barred:
                    before[edge.target] = edge
                    waiting.append(edge.target)
        return None


def signals_of(step: PlanStep, plan: Plan) -> Signals:
    """What a step's kind declares it may leave by; where its code raises, the worst case."""
    try:
        found = declared(step.kind, "signals", step, plan)
    except Exception:
        return Signals.anything()
    return found if isinstance(found, Signals) else Signals.anything()


def _edges(step: PlanStep, plan: Plan) -> Iterable[FlowEdge]:
    signals = signals_of(step, plan)
    named = dict.fromkeys((*signals.names, "error"))
    if signals.open:
        named |= dict.fromkeys(("default", *step.routes))
    for signal in named:
        yield FlowEdge(step.id, signal, advance(step, signal))
    if signals.open:
        yield FlowEdge(step.id, ANY_OTHER, Transition("unrouted"))


def _reachable(plan: Plan, edges: Mapping[str, tuple[FlowEdge, ...]]) -> frozenset[str]:
    first = plan.first
    found = {first.id: None} if first is not None else {}
    waiting = list(found)
    for id in waiting:
        for edge in edges.get(id, ()):
            if (
                edge.target is not None and edge.target in edges and edge.target not in found
            ):  # a route may lead to no step
                found[edge.target] = None
                waiting.append(edge.target)
    return frozenset(found)


def _walked(before: Mapping[str, FlowEdge | None], id: str) -> tuple[FlowEdge, ...]:
    way: list[FlowEdge] = []
    edge = before[id]
    while edge is not None:
        way.append(edge)
        edge = before[edge.source]
    return tuple(reversed(way))


def _cycles(edges: Mapping[str, tuple[FlowEdge, ...]], reachable: frozenset[str]) -> tuple[tuple[str, ...], ...]:
    """Strongly connected parts of what can be reached, those of one step only where it leads to itself."""
    after = {
        id: tuple(dict.fromkeys(edge.target for edge in edges.get(id, ()) if edge.target in reachable))
        for id in edges
        if id in reachable
    }
    order = _finished_last(after)
    into: dict[str, list[str]] = {id: [] for id in after}
    for id, targets in after.items():
        for target in targets:
            into[target].append(id)
    found: list[tuple[str, ...]] = []
    seen: set[str] = set()
    for id in order:
        group = _collect(id, into, seen)
        if len(group) > 1 or (group and group[0] in after[group[0]]):
            found.append(tuple(step for step in edges if step in group))
    return tuple(sorted(found, key=lambda group: list(edges).index(group[0])))


def _finished_last(after: Mapping[str, Iterable[str]]) -> list[str]:
    """Steps in the order opposite to that in which a depth-first walk is done with them."""
    done: list[str] = []
    seen: set[str] = set()
    for start in after:
        stack = [(start, iter(after[start]))] if start not in seen else []
        seen.add(start)
        while stack:
            id, targets = stack[-1]
            following = next((target for target in targets if target not in seen), None)
            if following is None:
                done.append(id)
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, iter(after[following])))
    return done[::-1]


def _collect(id: str, into: Mapping[str, Iterable[str]], seen: set[str]) -> list[str]:
    """Every step not seen yet that leads to one."""
    group: list[str] = []
    waiting = [id]
    while waiting:
        current = waiting.pop()
        if current not in seen:
            seen.add(current)
            group.append(current)
            waiting.extend(into[current])
    return group
