"""The keys of an MCP step, and of an MCPServer document."""

from __future__ import annotations

from typing import Any, Literal

import attrs

from tuvl_core import Path, Secret, Template
from tuvl_core import field as key

__all__ = ["Extract", "MCPConfig", "MCPServerSpec", "McpKeys", "ResponseConfig", "Transport"]

Transport = Literal["stdio", "http", "sse"]


@attrs.frozen(kw_only=True)
class _ConnectionKeys:
    """How a server is reached. Values that may hold credentials are secrets: they never show."""

    command: str | None = key(default=None, min=1, doc="With `stdio`: the program to start.")
    args: tuple[Secret, ...] = key(
        factory=tuple, reveals=True, source_text=True, doc="With `stdio`: the program's arguments."
    )
    env: dict[str, Secret] = key(
        factory=dict,
        reveals=True,
        source_text=True,
        doc="With `stdio`: environment variables; besides these the program gets a small safe set only.",
    )
    cwd: str | None = key(
        default=None, min=1, doc="With `stdio`: the folder it runs in; the project's by itself, and relative to that."
    )
    url: Secret | None = key(default=None, reveals=True, doc="With `http` and `sse`: where the server answers.")
    headers: dict[str, Secret] = key(
        factory=dict, reveals=True, source_text=True, doc="With `http` and `sse`: headers of each request."
    )


@attrs.frozen(kw_only=True)
class MCPServerSpec(_ConnectionKeys):
    """A server of the Model Context Protocol: what it is called, and how it is reached."""

    transport: Transport = key(
        doc="`stdio` starts a program; `http` is streamable HTTP; `sse` is the older HTTP with server-sent events."
    )
    timeout: float = key(default=30.0, above=0, doc="Seconds that starting and connecting may take.")


@attrs.frozen(kw_only=True)
class McpKeys(_ConnectionKeys):
    """The call."""

    server: str | None = key(
        default=None, min=1, refers="MCPServer", doc="Name of an MCPServer; or give the keys of one here."
    )
    transport: Transport | None = key(default=None, doc="How a server is reached that only this step names.")
    tool: str = key(min=1, doc="The tool's name on the server.")
    arguments: dict[str, Template[Any]] | None = key(
        default=None,
        reveals=True,
        doc="What the tool is given; a template that yields null leaves its argument out. "
        "Without this key a model that calls the step fills the server's own schema.",
    )
    timeout: float = key(default=30.0, min=0.001, doc="Seconds for everything: connecting and the call.")


@attrs.frozen(kw_only=True)
class Extract:
    """A value of the result that goes into the context under a name of its own."""

    path: Path = key(doc="Dotted path in the result, such as `entries.0.name`.")
    as_: str = key(name="as", doc="The context key that gets it.")


@attrs.frozen(kw_only=True)
class ResponseConfig:
    """What to do with the result."""

    output_key: str | None = key(
        default=None, doc="The context key that gets the whole result; `<id>_result` by itself."
    )
    extract: tuple[Extract, ...] = key(factory=tuple, doc="Parts of the result to keep by name.")


@attrs.frozen(kw_only=True)
class MCPConfig:
    """The keys of an MCP step."""

    mcp: McpKeys = key(doc="The call.")
    response: ResponseConfig = key(factory=ResponseConfig, doc="What to do with the result.")
