"""A server as sessions know it: everything it takes to reach it, and nothing that a run decides."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import attrs

from tuvl_core import PlanView, Secret, StepView
from tuvl_kinds_mcp.censor import secrets_in
from tuvl_kinds_mcp.config import McpKeys, MCPServerSpec, Transport

__all__ = ["DOCUMENT", "SAFE_ENVIRONMENT", "Server", "find_server", "safe_environment"]

DOCUMENT: Final = "MCPServer"
_CONNECT_S: Final = 30.0

SAFE_ENVIRONMENT: Final = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE"),
    *("SYSTEMROOT", "SYSTEMDRIVE", "PATHEXT", "TEMP", "TMP", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "COMSPEC"),
)
"""The variables that a program gets from ours; every other one has to be declared."""


@attrs.frozen(kw_only=True)
class Server:
    """One way of reaching one server; equal ones share a session.

    Attributes:
        name: What people know it as.
        transport: `stdio`, `http` or `sse`.
        command: The program, for `stdio`.
        args: Its arguments.
        env: Variables it gets beside the safe ones, in order of their names.
        cwd: The folder it runs in.
        url: Where it answers, for `http` and `sse`.
        headers: Headers of each request, in order of their names.
        timeout: Seconds that connecting may take.
    """

    name: str = attrs.field(eq=False)
    transport: Transport
    command: str = ""
    args: tuple[str, ...] = attrs.field(default=(), repr=False)
    env: tuple[tuple[str, str], ...] = attrs.field(default=(), repr=False)
    cwd: str = ""
    url: str = attrs.field(default="", repr=False)
    headers: tuple[tuple[str, str], ...] = attrs.field(default=(), repr=False)
    timeout: float = _CONNECT_S

    @classmethod
    def of(cls, name: str, keys: MCPServerSpec | McpKeys, root: Path) -> Server:
        """Take the keys of a document or a step.

        Args:
            name: What people know it as.
            keys: How it is reached; checked before.
            root: The project's folder, which relative folders start from.
        """
        assert keys.transport is not None
        return cls(
            name=name,
            transport=keys.transport,
            command=keys.command or "",
            args=tuple(_opened(value) for value in keys.args),
            env=_pairs(keys.env),
            cwd=str(root / (keys.cwd or "")) if keys.transport == "stdio" else "",
            url=_opened(keys.url).strip() if keys.url is not None else "",
            headers=_pairs(keys.headers),
            timeout=keys.timeout if isinstance(keys, MCPServerSpec) else _CONNECT_S,
        )

    @property
    def host(self) -> str:
        """Host and port of the URL, without what may be a credential."""
        return host_of(self.url)

    @property
    def place(self) -> str:
        """Where it is, fit for everybody: its program, or its host."""
        return self.command if self.transport == "stdio" else self.host

    @property
    def telling(self) -> tuple[str, ...]:
        """Texts of its configuration that must not show in its results either."""
        return _telling(self)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Texts of its configuration that must not show where something went wrong."""
        values = [value for _, value in (*self.env, *self.headers)]
        parts = urlsplit(self.url)
        found = [parts.password, parts.query, *(pair.partition("=")[2] for pair in parts.query.split("&"))]
        return tuple(text for text in (*values, *_credentials(values), *found, *self.telling) if text)


def host_of(url: str) -> str:
    """Host and port of a URL; empty where it has none."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port is not None else ""
        return f"{parts.hostname or ''}{port}"
    except ValueError:
        return ""


def find_server(step: StepView, plan: PlanView) -> Server | None:
    """Give the server of a step; None where its keys are not in order, which the checks report."""
    keys: McpKeys = step.config.mcp
    root: Path = plan.project.root
    if keys.server is not None:
        definition = plan.project.definitions(DOCUMENT).get(keys.server)
        return None if definition is None else Server.of(definition.name, definition.spec, root)
    return None if keys.transport is None else Server.of(f"{plan.workflow}.{step.id}", keys, root)


def safe_environment(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables every program gets.

    Args:
        env: Where they come from; None: this process.
    """
    ours = os.environ if env is None else env
    return {name: ours[name] for name in SAFE_ENVIRONMENT if name in ours}


@lru_cache(maxsize=256)
def _telling(server: Server) -> tuple[str, ...]:
    return secrets_in(server.args, server.env, server.url, server.headers)


def _opened(value: Secret) -> str:
    return str(value.reveal())


def _pairs(values: Mapping[str, Secret]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, _opened(value)) for name, value in values.items()))


def _credentials(values: list[str]) -> list[Any]:
    """What follows the scheme of a header such as `Bearer abc`: it may show without it."""
    return [value.split(None, 1)[1] for value in values if len(value.split(None, 1)) == 2]
