"""Servers of others that some tests talk to, and where `make test-services` puts them."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".services"
REQUIRED = "TUVL_TESTS_REQUIRE_SERVICES"

PROGRAMS = {
    "mcp-server-git": FOLDER / "mcp" / "bin" / "mcp-server-git",
    "mcp-server-time": FOLDER / "mcp" / "bin" / "mcp-server-time",
    "mcp-server-sqlite": FOLDER / "mcp-1" / "bin" / "mcp-server-sqlite",
    "server-everything": FOLDER / "node" / "node_modules" / ".bin" / "mcp-server-everything",
    "server-filesystem": FOLDER / "node" / "node_modules" / ".bin" / "mcp-server-filesystem",
    "server-memory": FOLDER / "node" / "node_modules" / ".bin" / "mcp-server-memory",
}


POSTGRESQL = ("127.0.0.1", 5432)
COMMANDS = {"chromium": "Debian's package chromium", "redis-server": "Debian's package redis-server"}
"""Programs that are looked for on the path, and what brings them."""


def missing(name: str) -> str | None:
    """Say why a service cannot be used; None if it can. Services of other tests are theirs to find."""
    if name == "postgresql":
        return _no_postgresql()
    if name in COMMANDS:
        return None if shutil.which(name) else f"{name} is not there: {COMMANDS[name]} brings it"
    program = PROGRAMS.get(name)
    if program is None or program.exists():
        return None
    return f"{name} is not installed: run `make test-services`"


def _no_postgresql() -> str | None:
    try:
        socket.create_connection(POSTGRESQL, timeout=5).close()
    except OSError as error:
        return f"PostgreSQL is not there: {error}"
    return None if shutil.which("createdb") else "the programs of PostgreSQL are not there: `createdb`"


def required() -> bool:
    """Whether a service that is missing is a failure, as in CI."""
    return os.environ.get(REQUIRED, "") not in ("", "0")
