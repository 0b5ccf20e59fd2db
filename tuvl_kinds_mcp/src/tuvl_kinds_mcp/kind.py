"""The kind itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import attrs

from tuvl_core import (
    UNSET,
    Capabilities,
    CodecError,
    Cost,
    Diagnostic,
    Effects,
    Keys,
    Path,
    PlanView,
    ProjectError,
    Signals,
    StepCall,
    StepError,
    StepKind,
    StepResult,
    StepView,
    Template,
    declared,
    did_you_mean,
    open_secrets,
    reads_of,
    to_wire,
    too_deep,
)
from tuvl_kinds_mcp.checks import check
from tuvl_kinds_mcp.config import MCPConfig
from tuvl_kinds_mcp.definitions import ToolDefinition
from tuvl_kinds_mcp.failures import CallFailed
from tuvl_kinds_mcp.known import known_tool, learn, locked_tool
from tuvl_kinds_mcp.parameters import parameters_for
from tuvl_kinds_mcp.servers import Server, find_server

if TYPE_CHECKING:
    from tuvl_core import App
    from tuvl_kinds_mcp.sessions import Sessions

__all__ = ["MCP", "SESSIONS"]

SESSIONS: Final = "mcp.sessions"
"""The name under which the sessions lie among the process's resources."""


@attrs.frozen(kw_only=True)
class _Prepared:
    server: Server
    tool: str
    timeout: float
    locked: ToolDefinition | None
    place: str
    output_key: str
    extract: tuple[tuple[str, Path], ...]

    def accept(self, tools: Mapping[str, ToolDefinition]) -> None:
        """Refuse a tool that the server does not have, or that is another than the locked one."""
        found = tools.get(self.tool)
        if found is None:
            hint = did_you_mean(self.tool, tools) or f"it has: {', '.join(sorted(tools)[:20]) or 'none'}"
            raise CallFailed(f"it has no such tool; {hint} ({self.place})", type="unknown_tool")
        if self.locked is not None and (changed := self.locked.changes(found)):
            raise CallFailed(
                f"{' and '.join(changed)} changed since `tuvl lock`; look at the change, then run `tuvl lock` again",
                type="tool_changed",
            )


class MCP(StepKind):
    """Call one tool of an MCP server and keep its result."""

    name = "MCP"
    Config = MCPConfig
    signals = Signals("default", "error")
    mutates_context = False
    # Whatever a server says about its tools, nobody outside it knows what a call does.
    effects = Effects.IRREVERSIBLE

    def output_key(self, step: StepView, plan: PlanView) -> str:
        """The key of the whole result."""
        return _output_key(step)

    def reads(self, step: StepView, plan: PlanView) -> Keys:
        """The names that the templates in `arguments` read."""
        return Keys(*(read.path[0] for read in reads_of(step.config.mcp.arguments or {})))

    def writes(self, step: StepView, plan: PlanView) -> Keys:
        """The result and its extracted parts."""
        return Keys(_output_key(step), *(item.as_ for item in step.config.response.extract))

    def tool_parameters(self, step: StepView, plan: PlanView) -> Mapping[str, Any]:
        """The variables in `arguments`, typed as the server says; without it the server's own schema."""
        tool = known_tool(step, plan, find_server(step, plan))
        return parameters_for(step.config.mcp.arguments, tool)

    def capabilities(self, step: StepView, plan: PlanView) -> Capabilities:
        """The server's host; a program that is started may reach for anything on the machine."""
        server = find_server(step, plan)
        if server is None:
            return Capabilities.everything()
        if server.transport == "stdio":
            return Capabilities(network=("*",), filesystem=True, subprocess=True, environment=True)
        return Capabilities(network=(server.host.partition(":")[0] or "*",))

    def cost(self, step: StepView, plan: PlanView) -> Cost:
        """Time within `mcp.timeout`; what the server charges is no cost of models."""
        return Cost(seconds=step.config.mcp.timeout)

    def validate(self, step: StepView, plan: PlanView) -> Iterable[Diagnostic]:
        """Check server, tool, arguments and the names of outputs; starts and asks nothing."""
        return list(check(step, plan))

    def prepare(self, step: StepView, plan: PlanView) -> _Prepared:
        """Look up server and locked definition, and fix the limits."""
        config: MCPConfig = step.config
        server = find_server(step, plan)
        if server is None:
            raise ProjectError(f"{step.locate('mcp', 'server')}: step {step.id!r}: its server is not known")
        allow = plan.project.settings["mcp.allow_changed_tools"]
        return _Prepared(
            server=server,
            tool=config.mcp.tool,
            timeout=config.mcp.timeout,
            locked=None if allow else locked_tool(step, plan),
            place=str(step.locate("mcp", "tool")),
            output_key=_output_key(step),
            extract=tuple((item.as_, item.path) for item in config.response.extract),
        )

    async def open_resources(self, app: App) -> None:
        """Make room for the sessions that all runs share; none is opened yet."""
        from tuvl_kinds_mcp.sessions import Sessions

        sessions = Sessions(trust_env=app.settings["mcp.trust_env"])
        app.resources[SESSIONS] = sessions
        app.on_close(sessions.close)

    async def discover(self, step: StepView, plan: PlanView, app: App) -> bool:
        """Ask the server for the schema of a tool that an agent may call and no lock file describes."""
        seconds: float = app.settings["mcp.discover_s"]
        server = find_server(step, plan)
        if seconds <= 0 or server is None or not _is_tool(step, plan) or known_tool(step, plan, server) is not None:
            return False
        sessions: Sessions = app.resources[SESSIONS]
        try:
            learn(plan, server, await sessions.tools(server, seconds))
        except CallFailed:
            return False  # a call will say so
        return True

    async def run(self, call: StepCall) -> StepResult:
        """Call the tool, read its result, keep what was asked for."""
        from tuvl_kinds_mcp.censor import without
        from tuvl_kinds_mcp.content import result_text, result_value
        from tuvl_kinds_mcp.failures import clean

        prepared: _Prepared = call.step.prepared
        server, tool = prepared.server, prepared.tool
        where = f"step {call.step.id!r}: MCP server {server.name!r}, tool {tool!r}"
        arguments = _arguments(call)
        sessions: Sessions = call.resources[SESSIONS]
        try:
            with call.span(f"tools/call {tool}", _span_attributes(server, tool), client=True) as span:
                try:
                    result = await sessions.call(server, tool, arguments, prepared.timeout, accept=prepared.accept)
                except CallFailed as failure:
                    span.failed(failure.type)
                    raise
                if result.get("isError"):
                    span.failed("tool_error")
        except CallFailed as failure:
            limit = f" (mcp.timeout: {prepared.timeout:g} s)" if failure.type == "timeout" else ""
            raise StepError(f"{where}: {failure}{limit}", type=failure.type) from failure
        if result.get("isError"):
            # The server's own words, as a model can act on them.
            text = clean(result_text(result), server.secrets)
            raise StepError(text or f"{where}: it failed and did not say why", type="tool_error")
        value = result_value(result)
        if too_deep(value):
            raise StepError(f"{where}: its result is nested too deeply", type="bad_response")
        return _kept(prepared, where, without(value, server.telling))


def _span_attributes(server: Server, tool: str) -> dict[str, Any]:
    """A tool call by the semantic conventions for MCP; never an address with its path and query."""
    attributes: dict[str, Any] = {
        "mcp.method.name": "tools/call",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        "tuvl.mcp.server": server.name,
        "network.transport": "pipe" if server.transport == "stdio" else "tcp",
    }
    if server.transport != "stdio":
        attributes["server.address"] = server.host
    return attributes


def _arguments(call: StepCall) -> dict[str, Any]:
    """The arguments to send: the step's own, rendered; without them, those of a model's call as they are."""
    given: Mapping[str, Template[Any]] | None = call.step.config.mcp.arguments
    if given is None:
        return dict(call.arguments or {})
    values: dict[str, Any] = {}
    for name, template in given.items():
        value = call.render(template)
        if value is not None or template.constant:
            values[name] = _sendable(name, value)
    return values


def _sendable(name: str, value: Any) -> Any:
    try:
        return to_wire(open_secrets(value), f"mcp.arguments.{name}")
    except CodecError as error:
        raise StepError(f"the argument cannot be sent: {error}", type="bad_request") from None


def _kept(prepared: _Prepared, where: str, value: Any) -> StepResult:
    writes: dict[str, Any] = {prepared.output_key: value}
    for key, path in prepared.extract:
        found = path.get(value)
        if found is UNSET:
            raise StepError(f"{where}: the result holds nothing at {path.source!r}", type="bad_response", writes=writes)
        writes[key] = found
    return StepResult(writes=writes)


def _output_key(step: StepView) -> str:
    key: str | None = step.config.response.output_key
    return key if key is not None else f"{step.id}_result"


def _is_tool(step: StepView, plan: PlanView) -> bool:
    """Whether some other step may call this one."""
    return any(
        child.ref == step.id
        for other in plan.steps.values()
        for child in declared(plan.kind_of(other), "children", other, plan)
    )
