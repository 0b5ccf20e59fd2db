"""The section `mcp` of `tuvl.lock`, as it was written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import attrs

from tuvl_kinds_mcp.definitions import ToolDefinition

__all__ = ["LOCK_FILE", "Lock", "LockError", "read_lock"]

LOCK_FILE: Final = "tuvl.lock"
_EMPTY: Final[Mapping[str, Any]] = {}


class LockError(Exception):
    """`tuvl.lock` cannot be read; the message says why."""


@attrs.frozen
class Lock:
    """What is locked of MCP servers.

    Attributes:
        servers: The locked tools of each server, by their names.
    """

    servers: Mapping[str, Mapping[str, ToolDefinition]] = attrs.field(factory=dict)

    def tool(self, server: str, tool: str) -> ToolDefinition | None:
        """The locked definition of a tool."""
        return self.servers.get(server, {}).get(tool)


def read_lock(root: Path) -> Lock:
    """Read the lock file of a project; one that does not exist locks nothing.

    Args:
        root: The project's folder.

    Raises:
        LockError: It cannot be read, or is not what `tuvl lock` writes.
    """
    path = root / LOCK_FILE
    try:
        stamp = path.stat()
    except OSError:
        return Lock()
    return _read(path, stamp.st_mtime_ns, stamp.st_size)


@lru_cache(maxsize=32)
def _read(path: Path, mtime: int, size: int) -> Lock:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise LockError(f"{LOCK_FILE} cannot be read: {error}") from None
    servers = _mapping(_mapping(_mapping(data, "the file").get("mcp", _EMPTY), "mcp").get("servers", _EMPTY), "servers")
    return Lock({name: _tools(name, found) for name, found in servers.items()})


def _tools(server: str, data: Any) -> dict[str, ToolDefinition]:
    tools = _mapping(_mapping(data, server).get("tools", _EMPTY), f"{server}.tools")
    found = {}
    for name, entry in tools.items():
        fields = _mapping(entry, name)
        found[name] = ToolDefinition(
            name, str(fields.get("description") or ""), _mapping(fields.get("schema", _EMPTY), name)
        )
    return found


def _mapping(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise LockError(f"{LOCK_FILE} is not what `tuvl lock` writes: {name} is no mapping")
    return value
