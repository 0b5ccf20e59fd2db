"""The sessions of a process: one for each server, opened when first needed, opened again when it ended."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import attrs

from tuvl_core import log_event
from tuvl_kinds_mcp.failures import CallFailed
from tuvl_kinds_mcp.guard import Guard
from tuvl_kinds_mcp.servers import Server

if TYPE_CHECKING:
    from tuvl_kinds_mcp.connection import Connection
    from tuvl_kinds_mcp.definitions import ToolDefinition

__all__ = ["Sessions"]

_log: Final = logging.getLogger("tuvl.mcp")
_IDLE_S: Final = 30.0
"""After how long without use an HTTP server is asked for a sign of life first."""
_FIRST_PAUSE_S: Final = 0.5
_LONGEST_PAUSE_S: Final = 30.0
_PATIENCE_S: Final = 1.0
"""How much of a pause a call waits out; a longer one fails it at once."""


@attrs.define
class _State:
    """What is known of one server.

    Attributes:
        connection: The session that is open or opening.
        failures: How often in a row it ended by itself with no call done.
        not_before: When it may be opened again, on the event loop's clock.
        cause: Why it ended last.
        warned: Whether stray output was reported.
    """

    connection: Connection | None = None
    failures: int = 0
    not_before: float = 0.0
    cause: str = ""
    warned: bool = False


class Sessions:
    """Sessions by server.

    Args:
        trust_env: Whether proxies that the environment names are used.
    """

    def __init__(self, *, trust_env: bool = False) -> None:
        self._trust_env = trust_env
        self._states: dict[Server, _State] = {}
        self._connections: set[Connection] = set()
        self._guard = Guard()
        self._closed = False
        self._make: type[Connection] | None = None

    async def tools(self, server: Server, within: float) -> dict[str, ToolDefinition]:
        """Give a server's tools by name.

        Args:
            server: Which.
            within: How many seconds it may take, connecting included.

        Raises:
            CallFailed: They cannot be had.
        """
        await self._load()
        due = asyncio.get_running_loop().time() + within
        connection = await self._connected(server, within)
        return await connection.list_tools(_left(due))

    async def call(
        self,
        server: Server,
        tool: str,
        arguments: Mapping[str, Any],
        within: float,
        accept: Callable[[Mapping[str, ToolDefinition]], None] | None = None,
    ) -> dict[str, Any]:
        """Call a tool.

        Args:
            server: Which.
            tool: The tool's name.
            arguments: JSON-ready.
            within: How many seconds it may take, connecting included.
            accept: Given the server's tools before the call; raises `CallFailed` to refuse it.

        Returns:
            The result as plain data, with the names of the wire.

        Raises:
            CallFailed: There is no result.
        """
        if self._make is None:
            await self._load()
        due = asyncio.get_running_loop().time() + within
        try:
            result = await self._call_once(server, tool, arguments, due, accept)
        except CallFailed as failure:
            if not failure.again:
                raise
            result = await self._call_once(server, tool, arguments, due, accept)
        self._states[server].failures = 0
        return result

    async def _call_once(
        self,
        server: Server,
        tool: str,
        arguments: Mapping[str, Any],
        due: float,
        accept: Callable[[Mapping[str, ToolDefinition]], None] | None,
    ) -> dict[str, Any]:
        connection = await self._connected(server, _left(due))
        if accept is not None:
            accept(connection.tools if connection.tools is not None else await connection.list_tools(_left(due)))
        return await connection.call(tool, arguments, _left(due))

    async def close(self) -> None:
        """End every session, all at the same time."""
        self._closed = True
        if self._connections:
            await asyncio.gather(*(item.close() for item in list(self._connections)))
        self._guard.close()

    async def _load(self) -> None:
        """Import the SDK: a second of work, outside of the event loop and of anybody's time limit."""
        if self._make is None:
            module = await asyncio.to_thread(import_module, "tuvl_kinds_mcp.connection")
            self._make = module.Connection

    async def _connected(self, server: Server, within: float) -> Connection:
        """A session that is open and lives."""
        loop = asyncio.get_running_loop()
        due = loop.time() + within
        state = self._states.setdefault(server, _State())
        connection = state.connection
        if connection is not None and not connection.over and server.transport != "stdio":
            await self._check(connection)
        while state.connection is None or state.connection.over:
            pause = state.not_before - loop.time()
            if pause <= 0:
                state.connection = self._open(server, state)
            elif pause > min(_PATIENCE_S, _left(due)):
                raise CallFailed(
                    f"it failed {state.failures} times in a row, at last: {state.cause}; it is tried again "
                    f"in {pause:.1f} s",
                    type="connection",
                )
            else:
                await asyncio.sleep(pause)
        connection = state.connection
        await connection.opened(_left(due))
        return connection

    async def _check(self, connection: Connection) -> None:
        """Let go of a session that was idle for long and gives no sign of life."""
        now = asyncio.get_running_loop().time()
        if now - connection.used > _IDLE_S and not await connection.healthy():
            connection.drop()

    def _open(self, server: Server, state: _State) -> Connection:
        assert self._make is not None
        if self._closed:
            raise CallFailed("the process is shutting down", type="connection")

        def warn(line: str) -> None:
            if not state.warned:
                state.warned = True
                fields = {"server": server.name, "excerpt": line}
                log_event(_log, logging.WARNING, "mcp.stray_output", fields)

        def ended(connection: Connection, by_itself: bool) -> None:
            self._connections.discard(connection)
            if connection.pid is not None:
                self._guard.drop(connection.pid)
            if by_itself:
                self._ended(server, state, connection)

        connection = self._make(
            server, trust_env=self._trust_env, on_stray=warn, on_start=self._guard.add, on_end=ended
        )
        self._connections.add(connection)
        return connection

    def _ended(self, server: Server, state: _State, connection: Connection) -> None:
        """Open it again at once after the first time, later and later after that."""
        state.failures += 1
        state.cause = connection.failure
        pause = 0.0
        if state.failures > 1:
            pause = min(_FIRST_PAUSE_S * 2 ** min(state.failures - 2, 10), _LONGEST_PAUSE_S)
        state.not_before = asyncio.get_running_loop().time() + pause
        fields = {"server": server.name, "cause": state.cause, "pause_s": pause}
        log_event(_log, logging.INFO, "mcp.session_ended", fields)


def _left(due: float) -> float:
    return max(0.0, due - asyncio.get_running_loop().time())
