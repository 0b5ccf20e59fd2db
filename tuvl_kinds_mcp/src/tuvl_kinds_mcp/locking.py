"""What `tuvl lock` writes about MCP servers: each tool that a workflow calls, as its server describes it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from tuvl_core import StepView, TuvlError, compile_workflow, did_you_mean

if TYPE_CHECKING:
    from tuvl_core import App
    from tuvl_kinds_mcp.definitions import ToolDefinition
    from tuvl_kinds_mcp.servers import Server

__all__ = ["collect"]

_ANSWER_S: Final = 30.0
Used = dict[str, tuple["Server", dict[str, str]]]
"""Servers by the name they are locked under, with the tools that are used and where."""


async def collect(app: App) -> Mapping[str, Any]:
    """Ask every server that a workflow uses for the definitions of the tools that are called.

    Args:
        app: The open project.

    Raises:
        TuvlError: A server does not answer, or lacks a tool.
        ProjectError: A workflow has structure errors.
    """
    from tuvl_kinds_mcp.failures import CallFailed
    from tuvl_kinds_mcp.sessions import Sessions

    used = _used(app)
    sessions = Sessions(trust_env=app.settings["mcp.trust_env"])
    try:
        answers = await asyncio.gather(
            *(sessions.tools(server, server.timeout + _ANSWER_S) for server, _ in used.values()), return_exceptions=True
        )
    finally:
        await sessions.close()
    servers: dict[str, Any] = {}
    for (name, (_, tools)), answer in zip(used.items(), answers, strict=True):
        if isinstance(answer, CallFailed):
            raise TuvlError(f"MCP server {name!r}: {answer}") from None
        if isinstance(answer, BaseException):
            raise answer
        servers[name] = {"tools": {tool: _locked(name, tool, place, answer) for tool, place in sorted(tools.items())}}
    return {"servers": servers} if servers else {}


def _used(app: App) -> Used:
    from tuvl_kinds_mcp.known import lock_key
    from tuvl_kinds_mcp.servers import find_server

    found: Used = {}
    for workflow in app.project.workflows:
        plan = compile_workflow(app.project, workflow)
        for step in plan.steps.values():
            if _is_ours(step):
                server = find_server(step, plan)
                assert server is not None  # the plan compiled
                _, tools = found.setdefault(lock_key(step, plan), (server, {}))
                tools.setdefault(step.config.mcp.tool, str(step.locate("mcp", "tool")))
    return dict(sorted(found.items()))


def _is_ours(step: StepView) -> bool:
    from tuvl_kinds_mcp.config import MCPConfig

    return isinstance(step.config, MCPConfig)


def _locked(server: str, tool: str, place: str, tools: Mapping[str, ToolDefinition]) -> dict[str, Any]:
    found = tools.get(tool)
    if found is None:
        hint = did_you_mean(tool, tools) or f"it has: {', '.join(sorted(tools)) or 'none'}"
        raise TuvlError(f"{place}: MCP server {server!r} has no tool {tool!r}; {hint}")
    return found.to_lock()
