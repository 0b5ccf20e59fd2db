"""Values that a language model chose, followed by the keys that hold them into what steps make of them.

They are followed through the context and the arguments of tool calls, not through code: what a node, a server or
a database makes of them is theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import attrs

from tuvl_core.diagnostics import Code, Diagnostic
from tuvl_core.kinds import Capabilities, Child, Keys, Sink, declared
from tuvl_core.plan.flow import FlowGraph
from tuvl_core.templates import Condition, Expression, Template, reads_of
from tuvl_core.tools import IDENTITY

if TYPE_CHECKING:
    from tuvl_core.plan.model import Plan, PlanStep

__all__ = ["CODES", "TaintedUse", "check_taint", "tainted_uses"]

DANGER: Final = Code(
    code="TUVL-W024",
    severity="error",
    klass="flow",
    title="a value that a model chose decides where a step reaches",
)
CODES: Final = (DANGER,)

_WHAT: Final = {
    "url_host": "the host of a URL",
    "sql_identifier": "a name in SQL",
    "command": "a command",
    "file_path": "the path of a file",
}
_PROMPT: Final = "prompt"
_Chosen = dict[str, str]
"""Keys whose values a model chose, and how that came."""


@attrs.frozen
class TaintedUse:
    """A place where a step uses a value that a model chose.

    Attributes:
        step: Id of the step.
        path: The place below the step.
        name: The key that holds the value.
        source: How a model chose it.
        sink: What it decides there, one of `Sink.what`; None where it is data like any other.
    """

    step: str
    path: tuple[str | int, ...]
    name: str
    source: str
    sink: str | None = None


def check_taint(plan: Plan) -> Iterator[Diagnostic]:
    """Find values that a model chose where they decide what is reached; costs nothing where no step has such places."""
    steps = plan.steps.values()
    if not any(sink.what in _WHAT for step in steps for sink in _sinks(step, plan)):
        return
    for use in tainted_uses(plan):
        if use.sink not in _WHAT:
            continue
        step = plan.steps[use.step]
        yield Diagnostic.of(
            DANGER,
            f"`{use.name}` decides {_WHAT[use.sink]}, and {use.source}",
            location=step.locate(*use.path),
            workflow=plan.workflow,
            step=step.id,
            hint="write it out, choose among fixed values by a Router, or give the tool's argument an `enum`",
        )


def tainted_uses(plan: Plan, graph: FlowGraph | None = None) -> list[TaintedUse]:
    """Every place where a step uses a value that a model chose, prompts aside, in the order of the file.

    Args:
        plan: The workflow.
        graph: The ways through it, where they are at hand.
    """
    chosen = _on_the_spine(graph or FlowGraph.of(plan))
    _in_tools(chosen, plan)
    found: dict[TaintedUse, None] = {}
    for step in plan.steps.values():
        found |= dict.fromkeys(_uses(step, chosen.get(step.id, {}), plan))
    return list(found)


# --- where values come from -----------------------------------------------------------------


def _on_the_spine(graph: FlowGraph) -> dict[str, _Chosen]:
    """What a model chose of the context before each step that can be reached."""
    plan = graph.plan
    found: dict[str, _Chosen] = {plan.first.id: {}} if plan.first is not None else {}
    waiting = list(found)
    while waiting:
        id = waiting.pop()
        step = plan.steps[id]
        written, models = _writes(step, plan), _model_writes(step, plan)
        for edge in graph.edges[id]:
            if edge.target is None or edge.target not in graph.edges:  # a route may lead to no step
                continue
            kept = found[id]
            if edge.signal != "error":  # a step that fails may have left a key as it was
                kept = {name: how for name, how in kept.items() if name not in written}
            old = found.get(edge.target)
            new = {**models, **kept, **(old or {})}
            if old is None or new.keys() != old.keys():
                found[edge.target] = new
                waiting.append(edge.target)
    return found


def _in_tools(chosen: dict[str, _Chosen], plan: Plan) -> None:
    """What a model chose of what the steps read that an agent calls, at any depth."""
    waiting = list(plan.steps.values())
    while waiting:
        step = waiting.pop(0)
        for child in step.child_refs:
            tool = plan.steps.get(child.ref)
            if child.role != "tool" or tool is None:
                continue
            before = chosen.get(step.id, {})
            # What tools before it in the loop were allowed to write is in the context too.
            new = {**before, **_model_writes(step, plan), **_arguments(child, step, tool, plan)}
            old = chosen.get(tool.id, {})
            if not new.keys() <= old.keys():
                chosen[tool.id] = {**new, **old}
                waiting.append(tool)


def _arguments(child: Child, agent: PlanStep, tool: PlanStep, plan: Plan) -> _Chosen:
    """The names that a model fills when it calls a tool; where it chooses among an author's values, it is not free."""
    try:
        schema: Mapping[str, Any] = child.parameters or plan.tool_parameters(tool)
    except Exception:
        schema = {}
    properties: Mapping[str, Any] = schema.get("properties") or {}
    how = f"the model of {agent.id!r} gives it as an argument"
    found = {name: how for name, part in properties.items() if not _closed(part)}
    if schema.get("additionalProperties", True) is not False:
        names = {read.path[0] for read in reads_of(tool.config)} - set(properties) - set(IDENTITY)
        found |= {name: how for name in sorted(names) if name[:1] != "_"}
    return found


def _closed(schema: Any) -> bool:
    return isinstance(schema, Mapping) and ("enum" in schema or "const" in schema)


def _model_writes(step: PlanStep, plan: Plan) -> _Chosen:
    """The keys a step writes whose values a model chose."""
    keys = _of(step, "model_writes", plan)
    if keys is None:
        capabilities = _of(step, "capabilities", plan)
        asks = not isinstance(capabilities, Capabilities) or capabilities.model
        keys = _of(step, "writes", plan) if asks else Keys()
    names = keys.names if isinstance(keys, Keys) else ()
    return dict.fromkeys(sorted(names), f"the model of {step.id!r} chose it")


def _writes(step: PlanStep, plan: Plan) -> frozenset[str]:
    keys = _of(step, "writes", plan)
    return keys.names if isinstance(keys, Keys) else frozenset()


# --- where they go --------------------------------------------------------------------------


def _uses(step: PlanStep, chosen: _Chosen, plan: Plan) -> Iterator[TaintedUse]:
    if not chosen:
        return
    sinks = _sinks(step, plan)
    said: set[tuple[tuple[str | int, ...], str]] = set()
    for sink in sinks:
        for name in sink.reads:
            if name in chosen:
                said.add((sink.path, name))
                if sink.what != _PROMPT:
                    yield TaintedUse(step.id, sink.path, name, chosen[name], sink.what)
    for path, template in _templates(step.config, ()):
        for read in reads_of(template):
            name = read.path[0]
            if name in chosen and (path, name) not in said:
                said.add((path, name))
                yield TaintedUse(step.id, path, name, chosen[name])


def _sinks(step: PlanStep, plan: Plan) -> list[Sink]:
    return [sink for sink in _of(step, "sinks", plan) or () if isinstance(sink, Sink)]


def _templates(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """What a config renders, each with its place."""
    if isinstance(value, (Template, Expression, Condition)):
        yield path, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _templates(item, (*path, key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _templates(item, (*path, index))
    elif attrs.has(type(value)):
        for field in attrs.fields(type(value)):
            yield from _templates(getattr(value, field.name), (*path, field.name.rstrip("_")))


def _of(step: PlanStep, what: str, plan: Plan) -> Any:
    """What a kind declares; None where its code raises."""
    try:
        return declared(step.kind, what, step, plan)
    except Exception:
        return None
