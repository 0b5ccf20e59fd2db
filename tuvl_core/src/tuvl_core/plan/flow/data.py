"""Where values come from: which context keys each way has written before a step reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import attrs

from tuvl_core.diagnostics import Code, Diagnostic
from tuvl_core.kinds import Keys, declared
from tuvl_core.plan.flow.graph import FlowEdge, FlowGraph
from tuvl_core.structure import did_you_mean
from tuvl_core.templates import Condition, Expression, Template, reads_of

if TYPE_CHECKING:
    from tuvl_core.plan.model import Plan, PlanStep

__all__ = ["CODES", "Known", "check_data", "known_before", "reads_by_step"]

NEVER: Final = Code(
    code="TUVL-W020", severity="error", klass="flow", title="a step reads what nothing before it can have written"
)
SOMETIMES: Final = Code(
    code="TUVL-W021",
    severity="warning",
    klass="flow",
    title="a step reads what only some ways to it write",
)
FROM_OUTSIDE: Final = Code(
    code="TUVL-W022", severity="info", klass="flow", title="a step reads what no step is known to write"
)
CODES: Final = (NEVER, SOMETIMES, FROM_OUTSIDE)


@attrs.frozen
class Known:
    """What is known of the context where a step begins.

    Attributes:
        may: Keys that some way has written.
        must: Keys that every way has written.
        open: Whether keys beyond `may` may be there: of an open input, or of code that writes what it likes.
    """

    may: frozenset[str]
    must: frozenset[str]
    open: bool

    def joined(self, other: Known) -> Known:
        """What is known where two ways meet."""
        return Known(self.may | other.may, self.must & other.must, self.open or other.open)


def check_data(graph: FlowGraph) -> Iterator[Diagnostic]:
    """Find reads of what was never, or not always, written before."""
    plan = graph.plan
    known = known_before(graph)
    told: set[str] = set()
    for id, before in known.items():
        step = plan.steps[id]
        for name, needed in reads_by_step(step, plan).items():
            if name in before.must:
                continue
            if name not in before.may:
                found = _unwritten(name, step, before, plan)
                if found.severity == "error" or name not in told:
                    yield found
                told.add(name)
            elif needed:
                yield from _sometimes(name, step, graph)


_PLAIN: Final = frozenset((str, int, float, bool, type(None)))
"""What holds nothing: most of a config."""


def known_before(graph: FlowGraph) -> dict[str, Known]:
    """What is known before each step that can be reached, in the order of the file."""
    plan = graph.plan
    first = plan.first
    if first is None:
        return {}
    found: dict[str, Known] = {first.id: _input(plan)}
    waiting = [first.id]
    while waiting:
        id = waiting.pop()
        for edge in graph.edges[id]:
            if edge.target is None or edge.target not in graph.edges:
                continue  # an end, or a route to no step, which is told elsewhere
            after = _after(found[id], edge, plan)
            old = found.get(edge.target)
            new = after if old is None else old.joined(after)
            if new != old:
                found[edge.target] = new
                waiting.append(edge.target)
    return {id: found[id] for id in plan.steps if id in found}


def reads_by_step(step: PlanStep, plan: Plan) -> dict[str, bool]:
    """The public keys that a step reads, and whether it fails without; those with a `default(…)` are none."""
    reads = reads_of(list(_templates(step.config)))
    needed = {read.path[0] for read in reads if read.required}
    names = dict.fromkeys(sorted(needed), True)
    lenient = {read.path[0] for read in reads} - needed
    keys = _keys(step, "reads", plan)
    # What a kind declares beyond its templates it looks up in its own way, and says itself what absence means.
    for name in sorted(keys.names - needed - lenient) if keys is not None else ():
        names[name] = False
    return {name: required for name, required in names.items() if name[:1] != "_"}


def _templates(value: Any) -> Iterator[Any]:
    """What a config renders; a dotted path may be one into something else, such as an answer."""
    waiting = [value]
    while waiting:  # depth first, in order
        item = waiting.pop()
        cls = type(item)
        if cls in _PLAIN:
            continue
        if isinstance(item, (Template, Expression, Condition)):
            yield item
        elif isinstance(item, (list, tuple)):
            waiting.extend(reversed(item))
        elif isinstance(item, Mapping):
            waiting.extend(reversed(list(item.values())))
        elif attrs.has(cls):
            waiting.extend([getattr(item, field.name) for field in reversed(attrs.fields(cls))])


def _input(plan: Plan) -> Known:
    schema: Mapping[str, Any] = plan.spec.input or {}
    properties = schema.get("properties")
    names = frozenset(properties) if isinstance(properties, Mapping) else frozenset()
    required = schema.get("required")
    must = frozenset(name for name in required if isinstance(name, str)) if isinstance(required, list) else frozenset()
    # A property with a default is filled by whoever calls, not by the engine: it may be missing.
    return Known(names | must, must, schema.get("additionalProperties", True) is not False)


def _after(before: Known, edge: FlowEdge, plan: Plan) -> Known:
    """What is known behind a way out of a step: one that leaves by `error` may have written nothing."""
    keys = _keys(plan.steps[edge.source], "writes", plan)
    if keys is None:
        return Known(before.may, before.must, True)
    must = before.must if edge.signal == "error" else before.must | keys.names
    return Known(before.may | keys.names, must, before.open or keys.open)


def _keys(step: PlanStep, what: str, plan: Plan) -> Keys | None:
    try:
        found = declared(step.kind, what, step, plan)
    except Exception:
        return None
    return found if isinstance(found, Keys) else None


def _unwritten(name: str, step: PlanStep, before: Known, plan: Plan) -> Diagnostic:
    location = step.locate()
    hint = did_you_mean(name, sorted(before.may))
    if not before.open:
        return Diagnostic.of(
            NEVER,
            f"step {step.id!r} reads `{name}`, which no step before it writes, and the input does not hold",
            location=location,
            workflow=plan.workflow,
            step=step.id,
            hint=hint or "let a step before write it, or declare it in spec.input",
        )
    return Diagnostic.of(
        FROM_OUTSIDE,
        f"step {step.id!r} reads `{name}`: it has to come from the run's input, or from code that does not say "
        "what it writes",
        location=location,
        workflow=plan.workflow,
        step=step.id,
        hint=hint or "declare it in spec.input, and close that with `additionalProperties: false`, to have it checked",
    )


def _sometimes(name: str, step: PlanStep, graph: FlowGraph) -> Iterator[Diagnostic]:
    way = _way_without(name, step.id, graph)
    if way is None:
        return
    plan = graph.plan
    shown = ", ".join(f"{edge.source} by `{edge.signal}`" for edge in way) or "from the start"
    elsewhere = f"write it on that way too, or read it with a default: `{{{{ {name} | default(…) }}}}`"
    optional = f"list it under `required` in spec.input, or read it with a default: `{{{{ {name} | default(…) }}}}`"
    yield Diagnostic.of(
        SOMETIMES,
        f"step {step.id!r} reads `{name}`, which not every way to it writes: {shown}",
        location=step.locate(),
        workflow=plan.workflow,
        step=step.id,
        hint=optional if name in _input(plan).may else elsewhere,
    )


def _way_without(name: str, id: str, graph: FlowGraph) -> list[FlowEdge] | None:
    """A way to a step on which nothing can have written a key; None where code may have, on each of them."""
    plan = graph.plan
    first = plan.first
    if first is None or name in _input(plan).must:
        return None
    before: dict[str, FlowEdge | None] = {first.id: None}
    waiting = [first.id]
    for current in waiting:
        if current == id:
            return _back(before, id)
        keys = _keys(plan.steps[current], "writes", plan)
        for edge in graph.edges[current]:
            written = keys is None or keys.open or (name in keys.names and edge.signal != "error")
            if edge.target is not None and edge.target not in before and not written:
                before[edge.target] = edge
                waiting.append(edge.target)
    return None


def _back(before: Mapping[str, FlowEdge | None], id: str) -> list[FlowEdge]:
    way: list[FlowEdge] = []
    edge = before[id]
    while edge is not None:
        way.insert(0, edge)
        edge = before[edge.source]
    return way
