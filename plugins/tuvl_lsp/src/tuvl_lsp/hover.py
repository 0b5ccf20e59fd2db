"""What an editor shows of the thing under the mouse."""

from __future__ import annotations

import inspect
import json
from typing import Any

from tuvl_core import Plan, PlanStep, ProjectError, StepKind, declared
from tuvl_lsp.look import STEP, Look, step_path
from tuvl_lsp.spots import Spot

__all__ = ["about_kind", "hover"]


def hover(look: Look, spot: Spot) -> str | None:
    """Say in Markdown what stands at a place; None where there is nothing to say."""
    if spot.key:
        return _key(look, spot)
    if spot.path[-1:] == ("kind",) and (len(spot.path) == 1 or step_path(spot.path) == spot.path[:-1]):
        return about_kind(look, spot.text, of_step=len(spot.path) > 1)
    refers = look.refers(spot)
    if refers == STEP:
        return _step(look, spot)
    if refers is not None:
        return _document(look, refers, spot.text)
    return look.knowledge.description(spot.document.data, spot.path) or None


def about_kind(look: Look, name: str, *, of_step: bool) -> str | None:
    """What a kind of step or document is."""
    plugins = look.project.plugins
    if of_step:
        entry = plugins.kinds.get(name)
        if entry is None:
            return None
        says = inspect.getdoc(type(entry.kind)) or ""
        return f"**{name}** ({entry.candidate.label})\n\n{says}\n\n{_signals(entry.kind)}"
    description = look.knowledge.description({"kind": name}, ("spec",))
    known = name == "Workflow" or name in plugins.document_kinds
    return f"**{name}**\n\n{description}" if known else None


def _signals(kind: StepKind) -> str:
    signals = declared(kind, "signals")
    names = ", ".join(f"`{name}`" for name in dict.fromkeys((*signals.names, "error")))
    return f"Signals: {names}{', and others, which depend on the step' if signals.open else ''}"


def _key(look: Look, spot: Spot) -> str | None:
    data = spot.document.data
    said = look.knowledge.description(data, spot.path)
    if not said:
        return None
    lines = [f"**{spot.text}**: {said}"]
    choices = look.knowledge.choices(data, spot.path)
    if choices:
        lines.append(f"One of {', '.join(f'`{_yaml(item)}`' for item in choices)}.")
    default = look.knowledge.default(data, spot.path)
    if default not in (None, ""):
        lines.append(f"Default: `{_yaml(default)}`.")
    return "\n\n".join(lines)


def _step(look: Look, spot: Spot) -> str | None:
    plan = look.plan(spot.document)
    target = plan.steps.get(spot.text) if plan is not None else None
    if plan is None or target is None:
        return None
    title = f"**{target.id}**: {target.kind_name}"
    said = f"{title}\n\n{target.description}" if target.description else title
    around = look.step(spot)
    if around is not None and any(child.ref == target.id and child.role == "tool" for child in around[1].child_refs):
        return f"{said}\n\n{_tool(plan, around[1], target)}"
    return said


def _tool(plan: Plan, owner: PlanStep, target: PlanStep) -> str:
    """The arguments that a model is shown for a tool."""
    try:
        parameters = _parameters(plan, owner, target)
    except Exception as problem:  # a plugin's mistake
        return f"Its arguments cannot be told: {type(problem).__name__}: {problem}"
    return f"Arguments that the model fills:\n\n```json\n{json.dumps(parameters, indent=2, ensure_ascii=False)}\n```"


def _parameters(plan: Plan, owner: PlanStep, target: PlanStep) -> Any:
    own = next((child.parameters for child in owner.child_refs if child.ref == target.id and child.parameters), None)
    return own if own is not None else plan.tool_parameters(target)


def _document(look: Look, kind: str, name: str) -> str | None:
    try:
        found = look.project.find(kind, name)
    except ProjectError:
        return None
    title = f"**{name}**: {kind}, {found.document.path}"
    return f"{title}\n\n{found.metadata.description}" if found.metadata.description else title


def _yaml(value: Any) -> str:
    return json.dumps(value) if isinstance(value, bool) else str(value)
