"""What a project knows of tools: from its lock file, and from servers that were asked before a run."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Final

from tuvl_core import PlanView, StepView
from tuvl_kinds_mcp.definitions import ToolDefinition
from tuvl_kinds_mcp.lockfile import LockError, read_lock
from tuvl_kinds_mcp.servers import Server

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["known_tool", "learn", "lock_key", "locked_tool"]

_LEARNED: Final[weakref.WeakKeyDictionary[Any, dict[Server, Mapping[str, ToolDefinition]]]] = (
    weakref.WeakKeyDictionary()
)
"""What servers said of their tools, by project: a kind keeps no state, and a plan is made anew."""


def lock_key(step: StepView, plan: PlanView) -> str:
    """The name under which the tools of a step's server are locked; one that only a step names has the step's."""
    name: str | None = step.config.mcp.server
    return name if name is not None else f"{plan.workflow}.{step.id}"


def locked_tool(step: StepView, plan: PlanView) -> ToolDefinition | None:
    """The definition of a step's tool in `tuvl.lock`."""
    try:
        return read_lock(plan.project.root).tool(lock_key(step, plan), step.config.mcp.tool)
    except LockError:
        return None  # the checks report it


def known_tool(step: StepView, plan: PlanView, server: Server | None) -> ToolDefinition | None:
    """The definition of a step's tool: locked, or else learned."""
    found = locked_tool(step, plan)
    if found is not None or server is None:
        return found
    return _LEARNED.get(plan.project, {}).get(server, {}).get(step.config.mcp.tool)


def learn(plan: PlanView, server: Server, tools: Mapping[str, ToolDefinition]) -> None:
    """Keep what a server said, for as long as the project is in use."""
    _LEARNED.setdefault(plan.project, {})[server] = tools
