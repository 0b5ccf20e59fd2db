"""What is wrong with an MCP step or an MCPServer, beyond the shape of its keys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from tuvl_core import Code, Definition, Diagnostic, PlanView, StepView, did_you_mean
from tuvl_kinds_mcp.config import MCPConfig, McpKeys, MCPServerSpec
from tuvl_kinds_mcp.definitions import ToolDefinition
from tuvl_kinds_mcp.known import lock_key, locked_tool
from tuvl_kinds_mcp.lockfile import LockError, read_lock
from tuvl_kinds_mcp.servers import DOCUMENT

__all__ = ["CODES", "check", "check_server", "check_servers"]

UNKNOWN_SERVER: Final = Code(
    code="TUVL-T001",
    severity="error",
    klass="structure",
    title="an MCP step names a server that the project does not have",
)
BAD_CONNECTION: Final = Code(
    code="TUVL-T002",
    severity="error",
    klass="structure",
    title="the keys of an MCP server do not say how it is reached",
)
WHICH_SERVER: Final = Code(
    code="TUVL-T003",
    severity="error",
    klass="structure",
    title="an MCP step says twice, or not at all, where its server is",
)
BAD_OUTPUT: Final = Code(
    code="TUVL-T004",
    severity="error",
    klass="structure",
    title="the result of an MCP step cannot be kept under that name or taken from that path",
)
NOT_LOCKED: Final = Code(
    code="TUVL-T005",
    severity="warning",
    klass="flow",
    title="an MCP step calls a tool that `tuvl.lock` does not hold, though it holds others of its server",
)
BAD_LOCK: Final = Code(
    code="TUVL-T006",
    severity="error",
    klass="structure",
    title="the section `mcp` of `tuvl.lock` cannot be read",
)
BAD_ARGUMENTS: Final = Code(
    code="TUVL-T007",
    severity="warning",
    klass="flow",
    title="an MCP step gives an argument that is not in the tool's locked definition",
)
MISSING_ARGUMENT: Final = Code(
    code="TUVL-T008",
    severity="error",
    klass="flow",
    title="an MCP step leaves out an argument that the tool's locked definition needs",
)
CODES: Final = (
    *(UNKNOWN_SERVER, BAD_CONNECTION, WHICH_SERVER, BAD_OUTPUT, NOT_LOCKED),
    *(BAD_LOCK, BAD_ARGUMENTS, MISSING_ARGUMENT),
)

_TOKEN: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "stdio": ("command", "args", "env", "cwd"),
    "http": ("url", "headers"),
    "sse": ("url", "headers"),
}
_NEEDED: Final[Mapping[str, str]] = {"stdio": "command", "http": "url", "sse": "url"}
_ALL_KEYS: Final = ("command", "args", "env", "cwd", "url", "headers")
Place = tuple[str | int, ...]
Finding = tuple[Code, str, Place, str | None]


def check(step: StepView, plan: PlanView) -> Iterator[Diagnostic]:
    """Every finding about one MCP step."""
    for code, message, place, hint in _findings(step, plan):
        yield Diagnostic.of(
            code, message, location=step.locate(*place), workflow=plan.workflow, step=step.id, hint=hint
        )


def check_servers(plan: PlanView) -> Iterator[Diagnostic]:
    """Every finding about the MCPServer documents that a workflow's steps name."""
    named = {config.mcp.server for config in _configs(plan)}
    for name, definition in plan.project.definitions(DOCUMENT).items():
        if name in named:
            yield from check_server(definition)


def check_server(definition: Definition[MCPServerSpec]) -> Iterator[Diagnostic]:
    """Every finding about one MCPServer document."""
    for code, message, place, hint in _connection(definition.spec, ("spec",)):
        text = f"{DOCUMENT} {definition.name!r}: {message}"
        yield Diagnostic.of(code, text, location=definition.locate(*place), hint=hint)


def _configs(plan: PlanView) -> list[MCPConfig]:
    return [step.config for step in plan.steps.values() if isinstance(step.config, MCPConfig)]


def _findings(step: StepView, plan: PlanView) -> Iterator[Finding]:
    config: MCPConfig = step.config
    yield from _server(config.mcp, plan)
    yield from _outputs(config)
    yield from _lock(step, plan)


def _server(keys: McpKeys, plan: PlanView) -> Iterator[Finding]:
    inline = [name for name in ("transport", *_ALL_KEYS) if getattr(keys, name)]
    if keys.server is None:
        if keys.transport is not None:
            yield from _connection(keys, ("mcp",))
            return
        hint = f"name an {DOCUMENT} with `server:`, or give `transport:` and its keys here"
        yield WHICH_SERVER, "the step does not say where its server is", ("mcp",), hint
        return
    if inline:
        message = f"`server` names the {DOCUMENT} {keys.server!r}, and `{inline[0]}` describes another"
        yield WHICH_SERVER, message, ("mcp", inline[0]), "keep one of the two"
    known = plan.project.definitions(DOCUMENT)
    if keys.server not in known:
        listed = ", ".join(sorted(known)) or "none"
        hint = did_you_mean(keys.server, known) or f"the project has: {listed}"
        yield UNKNOWN_SERVER, f"there is no {DOCUMENT} {keys.server!r} in order", ("mcp", "server"), hint


def _connection(keys: MCPServerSpec | McpKeys, place: Place) -> Iterator[Finding]:
    assert keys.transport is not None
    needed = _NEEDED[keys.transport]
    if not getattr(keys, needed):
        yield BAD_CONNECTION, f"the transport `{keys.transport}` needs `{needed}`", (*place, "transport"), None
    for name in _ALL_KEYS:
        if getattr(keys, name) and name not in _KEYS[keys.transport]:
            message = f"`{name}` means nothing to the transport `{keys.transport}`"
            yield BAD_CONNECTION, message, (*place, name), f"it takes {', '.join(_KEYS[keys.transport])}"
    if keys.url is not None and (problem := _url_problem(str(keys.url.reveal()).strip())):
        yield BAD_CONNECTION, problem, (*place, "url"), None
    for name, value in keys.headers.items():
        if not _TOKEN.fullmatch(name):
            yield BAD_CONNECTION, f"{name!r} is no header name", (*place, "headers", name), None
        elif re.search(r"[\r\n\0]", str(value.reveal()).strip()):
            yield BAD_CONNECTION, f"the header {name!r} holds a line break", (*place, "headers", name), None
    for name, value in keys.env.items():
        if not name or "=" in name or "\0" in name + str(value.reveal()):
            yield BAD_CONNECTION, f"{name!r} is no environment variable", (*place, "env", name), None


def _url_problem(url: str) -> str | None:
    """What is wrong with a URL, without showing it: it may hold a credential."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return "the URL cannot be read"
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return "a URL has the form https://host/path"
    return None


def _outputs(config: MCPConfig) -> Iterator[Finding]:
    response = config.response
    if response.output_key is not None and (problem := _key_problem(response.output_key)):
        yield BAD_OUTPUT, problem, ("response", "output_key"), None
    seen: set[str] = set()
    for number, item in enumerate(response.extract):
        place: Place = ("response", "extract", number)
        problem = _key_problem(item.as_)
        if item.as_ in seen or item.as_ == response.output_key:
            problem = f"{item.as_!r} is written twice"
        seen.add(item.as_)
        if problem:
            yield BAD_OUTPUT, problem, (*place, "as"), None
        if "{{" in item.path.source:
            message = f"a dotted path has no braces: write `{item.path.source.strip('{} ')}`"
            yield BAD_OUTPUT, message, (*place, "path"), None


def _key_problem(key: str) -> str | None:
    if not key.strip():
        return "a context key has a name"
    if key.startswith("_"):
        return f"{key!r} starts with `_`; such names belong to the engine"
    return None


def _lock(step: StepView, plan: PlanView) -> Iterator[Finding]:
    keys: McpKeys = step.config.mcp
    try:
        lock = read_lock(plan.project.root)
    except LockError as error:
        yield BAD_LOCK, str(error), ("mcp",), "remove it, and write it again with `tuvl lock`"
        return
    tool = locked_tool(step, plan)
    others = lock.servers.get(lock_key(step, plan))
    if tool is None and others:
        hint = did_you_mean(keys.tool, others) or "write it again with `tuvl lock`"
        message = f"`tuvl.lock` holds no tool {keys.tool!r} of this server"
        yield NOT_LOCKED, message, ("mcp", "tool"), hint
    if tool is not None and keys.arguments is not None:
        yield from _arguments(keys.arguments, tool)
    elif tool is not None and getattr(step, "on_spine", True):
        yield from _missing({}, tool, ("mcp",))  # no model gives any there


def _arguments(given: Mapping[str, Any], tool: ToolDefinition) -> Iterator[Finding]:
    properties = tool.schema.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    if known and tool.schema.get("additionalProperties") in (None, False):
        for name in given:
            if name not in known:
                message = f"the tool {tool.name!r} takes no argument {name!r}"
                hint = did_you_mean(name, known) or f"it takes: {', '.join(sorted(known))}"
                yield BAD_ARGUMENTS, message, ("mcp", "arguments", name), hint
    yield from _missing(given, tool, ("mcp", "arguments"))


def _missing(given: Mapping[str, Any], tool: ToolDefinition, place: Place) -> Iterator[Finding]:
    required = tool.schema.get("required")
    for name in required if isinstance(required, (list, tuple)) else ():
        if isinstance(name, str) and name not in given:
            message = f"the tool {tool.name!r} needs the argument {name!r}"
            hint = f"add `{name}` to `arguments`; if the server has changed, run `tuvl lock`"
            yield MISSING_ARGUMENT, message, place, hint
