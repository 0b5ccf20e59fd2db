"""`tuvl mcp`: look at what servers offer, and call it."""

from __future__ import annotations

import asyncio
import json
import math
import re
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from tuvl_core import Plugins, ProjectError, TuvlError, did_you_mean, load_project, to_wire, too_deep

if TYPE_CHECKING:
    from tuvl_core import Project
    from tuvl_kinds_mcp.definitions import ToolDefinition
    from tuvl_kinds_mcp.servers import Server
    from tuvl_kinds_mcp.sessions import Sessions

__all__ = ["command"]

T = TypeVar("T")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)")


class _Seconds(click.FloatRange):
    """A time that passes: NaN lies in no range and out of none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        seconds = super().convert(value, param, ctx)
        if not math.isfinite(seconds):
            self.fail(f"{value} is no number of seconds.", param, ctx)
        return seconds


_SECONDS: Final = _Seconds(min=0.001)
_DIRECTORY: Final = click.option(
    "-C",
    "directory",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    metavar="DIR",
    help="The project's directory; here by itself.",
)


@click.group("mcp")
def command() -> None:
    """List and call the tools of MCP servers.

    SERVER is the name of an MCPServer document of the project.
    """


@command.command("list-tools")
@click.argument("server")
@_DIRECTORY
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_tools(server: str, directory: Path, as_json: bool) -> None:
    """List the tools of SERVER, and what they take."""
    project, found = _server(directory, server)
    tools = _with_sessions(project, server, lambda sessions: sessions.tools(found, found.timeout))
    listed = [tools[name] for name in sorted(tools)]
    if as_json:
        _echo(
            json.dumps({"server": server, "tools": [tool.to_lock() for tool in listed]}, indent=2, ensure_ascii=False)
        )
        return
    for tool in listed:
        _echo(_shown(_line(tool)))


@command.command("call")
@click.argument("server")
@click.argument("tool")
@click.option("--arguments", metavar="JSON", help="A JSON object, or `@file` that holds one.")
@click.option("--timeout", type=_SECONDS, default=60.0, show_default=True, help="In seconds.")
@_DIRECTORY
def call(server: str, tool: str, arguments: str | None, timeout: float, directory: Path) -> None:
    """Call TOOL of SERVER, and print its result: text as it is, everything else as JSON."""
    from tuvl_kinds_mcp.censor import without
    from tuvl_kinds_mcp.content import result_text, result_value
    from tuvl_kinds_mcp.failures import clean

    given = _read_arguments(arguments)
    project, found = _server(directory, server)

    def accept(tools: Mapping[str, ToolDefinition]) -> None:
        if tool not in tools:
            hint = did_you_mean(tool, tools) or f"`tuvl mcp list-tools {server}` lists them."
            raise click.BadParameter(f"MCP server {server!r} has no tool {tool!r}; {hint}", param_hint="TOOL")

    result = _with_sessions(project, server, lambda sessions: sessions.call(found, tool, given, timeout, accept))
    if result.get("isError"):
        text = clean(result_text(result), found.secrets) or "it failed and did not say why"
        raise TuvlError(f"MCP server {server!r}: the tool {tool!r} failed: {text}")
    value = result_value(result)
    if too_deep(value):
        raise TuvlError(f"MCP server {server!r}: the result of the tool {tool!r} is nested too deeply")
    value = without(value, found.telling)
    if isinstance(value, str):
        _echo(_shown(value))
    else:
        _echo_json(value)


def _server(directory: Path, name: str) -> tuple[Project, Server]:
    """Find a server of a project; a project or server that is not in order is refused."""
    from tuvl_kinds_mcp.checks import check_server
    from tuvl_kinds_mcp.servers import DOCUMENT, Server

    with redirect_stdout(sys.stderr):  # a project's own plugins may print
        project = load_project(directory, plugins=Plugins.load(root=directory))
    known = project.definitions(DOCUMENT)
    written = any(item.kind == DOCUMENT and item.name == name for item in project.documents)
    if not written:
        hint = did_you_mean(name, known) or f"the project has: {', '.join(sorted(known)) or 'none'}"
        raise click.BadParameter(f"there is no {DOCUMENT} {name!r}; {hint}", param_hint="SERVER")
    definition = project.find(DOCUMENT, name)
    if problems := list(check_server(definition)):
        raise ProjectError(f"the {DOCUMENT} {name!r} does not say how it is reached", problems)
    return project, Server.of(name, definition.spec, project.root)


def _read_arguments(given: str | None) -> dict[str, Any]:
    from tuvl_kinds_mcp.content import read_strictly

    if given is None:
        return {}
    text = given
    if given.startswith("@"):
        try:
            text = sys.stdin.read() if given == "@-" else Path(given[1:]).read_text(encoding="utf-8")
        except (OSError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or "it is no UTF-8 text"
            raise click.BadParameter(f"{given[1:]}: {why}", param_hint="--arguments") from None
    try:
        value = read_strictly(text)
    except RecursionError:
        raise click.BadParameter("nested too deeply", param_hint="--arguments") from None
    except ValueError as error:
        raise click.BadParameter(f"no JSON: {error}", param_hint="--arguments") from None
    if too_deep(value):
        raise click.BadParameter("nested too deeply", param_hint="--arguments")
    if not isinstance(value, dict):
        raise click.BadParameter("arguments come by name: give a JSON object", param_hint="--arguments")
    return value


def _with_sessions(project: Project, name: str, work: Callable[[Sessions], Awaitable[T]]) -> T:
    """Do something on sessions of its own, and close them whatever happens."""
    from tuvl_kinds_mcp.failures import CallFailed
    from tuvl_kinds_mcp.sessions import Sessions

    async def go() -> T:
        sessions = Sessions(trust_env=project.settings["mcp.trust_env"])
        try:
            return await work(sessions)
        finally:
            await sessions.close()

    try:
        return asyncio.run(go())
    except CallFailed as failure:
        raise TuvlError(f"MCP server {name!r}: {failure}") from None


def _line(tool: ToolDefinition) -> str:
    properties = tool.schema.get("properties")
    names = list(properties) if isinstance(properties, Mapping) else []
    required = tool.schema.get("required") or ()
    shown = ", ".join(name if name in required else f"{name}?" for name in names)
    text = next((line.strip() for line in tool.description.splitlines() if line.strip()), "")
    return f"{tool.name}({shown})" + (f"  {text}" if text else "")


def _echo(text: str) -> None:
    click.echo(text.encode("utf-8", "replace").decode("utf-8"))


def _echo_json(value: Any) -> None:
    """Write JSON for people, with every control character in its escaped form."""
    text = json.dumps(to_wire(value), indent=2, ensure_ascii=False)
    _echo(_CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def _shown(text: str) -> str:
    """Text that a terminal shows and does not obey: control characters but line ends and tabs go."""
    return _CONTROL.sub("\ufffd", text)
