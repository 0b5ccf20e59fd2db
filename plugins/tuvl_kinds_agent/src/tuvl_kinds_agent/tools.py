"""The tools of an agent: declared steps, as a model sees and calls them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from tuvl_core import PlanView, StepView, ToolSpec, declared, wire_names
from tuvl_kinds_agent.config import ToolEntry

__all__ = ["Tool", "build_tools"]


@attrs.frozen(kw_only=True)
class Tool:
    """One tool.

    Attributes:
        ref: Id of the step behind it: what people see.
        function: What the model is told of it.
        spec: Checks its arguments.
        writes_context: Whether what it changes goes into the shared context.
        reveal: Secure fields of its result that the model may see.
        output_key: The context key that holds its result, if it has one.
    """

    ref: str
    function: dict[str, Any]
    spec: ToolSpec
    writes_context: bool
    reveal: frozenset[str]
    output_key: str | None


def build_tools(entries: Sequence[ToolEntry], plan: PlanView) -> dict[str, Tool]:
    """Build the tools of an agent, by their name on the wire."""
    refs = [entry.ref for entry in entries if entry.ref is not None]
    names = wire_names(refs)
    return {
        names[entry.ref]: _tool(entry, names[entry.ref], plan.steps[entry.ref], plan)
        for entry in entries
        if entry.ref is not None
    }


def _tool(entry: ToolEntry, name: str, step: StepView, plan: PlanView) -> Tool:
    parameters = entry.parameters
    spec = ToolSpec(
        ref=step.id,
        wire_name=name,
        description=step.description or entry.description or f"Invoke the '{step.id}' component.",
        parameters=dict(parameters) if parameters is not None else plan.tool_parameters(step),
        writes_context=entry.writes_context,
        reveal=frozenset(entry.reveal),
    )
    return Tool(
        ref=step.id,
        function=spec.openai,
        spec=spec,
        writes_context=entry.writes_context,
        reveal=frozenset(entry.reveal),
        output_key=declared(plan.kind_of(step), "output_key", step, plan),
    )
