"""Data as pages show it."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from tuvl_core import Principal, ProjectError, TuvlError
from tuvl_graph import as_svg, picture_of

if TYPE_CHECKING:
    import jinja2

    from tuvl_console.state import RunState
    from tuvl_core import Plan

__all__ = ["actions_of", "drawing", "lit", "loop_row", "page", "run_row"]

_OPEN_NODE: Final = re.compile(r'<g id="([^"]*)" class="([^"]*)">')
_ROOT: Final = re.compile(r"<svg [^>]*viewBox=\"([^\"]*)\"[^>]*>")
_BACKGROUND: Final = '<rect width="100%" height="100%" fill="#ffffff"/>'


@cache
def _templates() -> jinja2.Environment:
    import jinja2

    loader = jinja2.PackageLoader("tuvl_console")
    found = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    found.filters["duration"] = duration
    found.filters["clock"] = clock
    return found


def page(name: str, **values: Any) -> str:
    """Render a template; every value is escaped."""
    return _templates().get_template(name).render(**values)


def duration(seconds: float | None) -> str:
    """A span of time for people."""
    if seconds is None:
        return ""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def clock(text: str | None) -> str:
    """Day and time of an RFC 3339 time, without fractions of seconds."""
    return f"{text[:10]} {text[11:19]}" if text else ""


def _seconds(since: str | None, until: str | None, now: datetime.datetime) -> float | None:
    if not since:
        return None
    end = datetime.datetime.fromisoformat(until) if until else now
    return max((end - datetime.datetime.fromisoformat(since)).total_seconds(), 0.0)


def run_row(run: Mapping[str, Any], loops: Sequence[Mapping[str, Any]], now: datetime.datetime) -> dict[str, Any]:
    """A run as a row of the list, with the agent that it is in."""
    own = [loop for loop in loops if loop["run_id"] == run["run_id"]]
    usage = run.get("usage") or {}
    return {
        "id": run["run_id"],
        "workflow": run["workflow"],
        "status": run["status"],
        "step": run.get("last_step") or "",
        "started": run.get("started"),
        "seconds": _seconds(run.get("started"), run.get("ended"), now),
        "tokens": usage.get("tokens", 0),
        "error": (run.get("error") or {}).get("message", ""),
        "loops": [loop_row(loop, now) for loop in own],
    }


def loop_row(loop: Mapping[str, Any], now: datetime.datetime) -> dict[str, Any]:
    """An agent's loop: turns against their limit, tokens against their budget, and its time."""
    return {
        "id": loop["id"],
        "step": loop["step_id"],
        "parent": loop.get("parent"),
        "status": loop["status"],
        "turns": _gauge(loop.get("iteration", 0), loop.get("max_iterations")),
        "tokens": _gauge(loop.get("tokens_used", 0), loop.get("token_budget")),
        "seconds": _seconds(loop.get("started"), None, now),
        "called": ", ".join(f"{name} ×{count}" for name, count in (loop.get("tool_calls") or {}).items() if count),
        "repeats": loop.get("repeats") or 0,
        "repeated": loop.get("repeated_tool") or "",
    }


def _gauge(value: int, limit: int | None) -> dict[str, Any]:
    return {"value": value, "limit": limit, "high": limit is not None and value >= 0.8 * limit}


def actions_of(principal: Principal, loop: Mapping[str, Any]) -> dict[str, bool]:
    """What the caller may ask of a loop right now."""
    may = principal.has_scope("agent:control")
    paused = loop["status"] == "paused"
    return {"pause": may and not paused, "resume": may and paused, "steer": may, "abort": may}


# --- the graph ------------------------------------------------------------------------------


def drawing(service: Any, workflow: str) -> str | None:
    """The workflow as SVG; None where this worker cannot read it."""
    drawings: dict[str, str | None] = service.app.resources.setdefault("console.drawings", {})
    if workflow not in drawings:
        drawings[workflow] = _draw(service, workflow)
    return drawings[workflow]


def _draw(service: Any, workflow: str) -> str | None:
    try:
        plan: Plan = service.app.plan(workflow)
    except (ProjectError, TuvlError):
        return None
    drawn = as_svg(picture_of(plan, ())).replace(_BACKGROUND, "")
    return _ROOT.sub(r'<svg class="graph" role="img" aria-label="the workflow" viewBox="\1">', drawn, count=1)


def lit(svg: str, state: RunState) -> str:
    """The drawing with the state on it: where the run is, what it has left, and what is called."""

    def opened(found: re.Match[str]) -> str:
        id, role = found.groups()
        classes = [role]
        if id == state.current:
            classes.append("current")
        elif id in state.left or id in state.tools:
            classes.append("visited")
        if id == state.active:
            classes.append("active")
        if state.over is not None and id == _END_OF.get(str(state.over["status"])):
            classes.append("current")
        return f'<g id="node-{id}" class="{" ".join(classes)}">'

    return _OPEN_NODE.sub(opened, svg)


_END_OF: Final = {"completed": "@end", "stopped": "@stop", "failed": "@fail"}
