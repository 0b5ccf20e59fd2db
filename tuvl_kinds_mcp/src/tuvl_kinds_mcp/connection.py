"""One open session: a task of its own opens it, holds it, and closes it.

The SDK's sessions are bound to the task that enters them. So the task that opens one waits until it is
over and leaves it again, whoever asks for the end, and in whatever order. Calls come from other tasks:
each is a task of its own that is given up when its time is over, its caller goes, or the session ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AsyncExitStack
from typing import Any, Final

import mcp_types
from mcp import Client, MCPError

from tuvl_core import TimeLimit
from tuvl_kinds_mcp.answers import malformed
from tuvl_kinds_mcp.definitions import ToolDefinition
from tuvl_kinds_mcp.failures import CallFailed, excerpt, explain, first_cause
from tuvl_kinds_mcp.quiet import quiet_context, silence
from tuvl_kinds_mcp.servers import Server
from tuvl_kinds_mcp.stdio import ChildProcess
from tuvl_kinds_mcp.transports import open_streams

__all__ = ["Connection"]

_LAST_WORDS_S: Final = 0.5
_GIVE_UP_S: Final = 0.5
_CLOSE_S: Final = 8.0
_HEALTH_S: Final = 3.0
_MAX_PAGES: Final = 100
_INFO: Final = mcp_types.Implementation(name="tuvl", version="3")
_NOT_DONE: Final = (400, 404, 410)
"""What HTTP servers answer where they do not know a session, and have done nothing."""


class Connection:
    """A session with one server.

    Args:
        server: Which.
        trust_env: Whether proxies that the environment names are used.
        on_stray: Told the first line that a server wrote and that is no message, cleaned.
        on_start: Told the process id of the server's program, which is that of its group too.
        on_end: Told when it is over: whether it ended by itself or never opened.

    Attributes:
        server: Which.
        used: When it was last used, on the event loop's clock.
        tools: The server's tools by name; None while that is not known.
    """

    def __init__(
        self,
        server: Server,
        *,
        trust_env: bool,
        on_stray: Callable[[str], None],
        on_start: Callable[[int], None],
        on_end: Callable[[Connection, bool], None],
    ) -> None:
        loop = asyncio.get_running_loop()
        self.server = server
        self.tools: dict[str, ToolDefinition] | None = None
        self.used = loop.time()
        self._secrets = server.secrets
        self._trust_env = trust_env
        self._on_stray = on_stray
        self._on_start = on_start
        self._on_end = on_end
        self._client: Client | None = None
        self._process: ChildProcess | None = None
        self._status = 0
        self._leave = asyncio.Event()
        self._asked = False
        self._failure: CallFailed | None = None
        self._ready: asyncio.Future[None] = loop.create_future()
        self._ended: asyncio.Future[None] = loop.create_future()
        self._owner = loop.create_task(self._own(), name=f"mcp {server.name}", context=quiet_context())

    # --- its life ------------------------------------------------------------------------------

    @property
    def over(self) -> bool:
        """Whether it can be used no more."""
        return self._ended.done() or self._leave.is_set()

    @property
    def failure(self) -> str:
        """Why it is over, in words."""
        return str(self._failure) if self._failure is not None else "it was closed"

    @property
    def pid(self) -> int | None:
        """The process id of the server's program, if it has been started."""
        return self._process.pid if self._process is not None else None

    async def opened(self, within: float) -> None:
        """Wait until it is open.

        Args:
            within: How many seconds to wait; others may wait longer.

        Raises:
            CallFailed: It did not open, or not in time.
        """
        if not self._ready.done():
            await asyncio.wait({self._ready, self._ended}, timeout=max(within, 0), return_when=asyncio.FIRST_COMPLETED)
        if self._ended.done():
            raise self._failure or CallFailed("it was closed", type="connection")
        if not self._ready.done():
            raise CallFailed("it was not ready in time", type="timeout")

    async def close(self) -> None:
        """End it, and wait for its task; safe to call again, and from any task."""
        self._asked = True
        self._leave.set()
        if not self._owner.done():
            await asyncio.wait({self._owner}, timeout=_CLOSE_S if self._ready.done() else 0)
        if not self._owner.done():  # it is still connecting, or something does not let go
            self._owner.cancel()
            await asyncio.wait({self._owner}, timeout=_CLOSE_S)
        if self._process is not None:
            self._process.kill()

    def drop(self, failure: CallFailed | None = None) -> None:
        """Use it no more; its task ends it by itself."""
        self._failure = self._failure or failure
        self._leave.set()

    async def _own(self) -> None:
        failure: CallFailed | None = None
        try:
            await self._hold()
        except asyncio.CancelledError:
            pass  # only `close` and a closing event loop do this
        except TimeoutError:
            failure = CallFailed(self._with_stderr(f"no answer within {self.server.timeout:g} s"), type="timeout")
        except CallFailed as problem:
            failure = problem
        except BaseException as error:
            failure = malformed(first_cause(error), self._secrets) or CallFailed(self._why(error), type="connection")
        finally:
            self._over(failure)

    async def _hold(self) -> None:
        async with AsyncExitStack() as stack:
            with TimeLimit(self.server.timeout, f"mcp {self.server.name}"):
                streams = open_streams(self.server, self, trust_env=self._trust_env)
                client = Client(streams, cache=None, client_info=_INFO, message_handler=self._notice)
                self._client = await stack.enter_async_context(client)
                try:
                    self.tools = await self._list()
                except MCPError as error:
                    if _lost(error):
                        raise
            silence()  # loggers that were made while connecting
            self._ready.set_result(None)
            await self._leave.wait()

    def _over(self, failure: CallFailed | None) -> None:
        if failure is not None and failure.type == "timeout":
            self._failure = failure  # that it ended then is our own doing
        self._failure = self._failure or failure or self._end_of_process()
        self._leave.set()
        if not self._ended.done():
            self._ended.set_result(None)
        self._on_end(self, not self._asked)

    def _end_of_process(self) -> CallFailed | None:
        if self._asked:
            return None
        text = "the connection ended" if self._process is None else self._process.epitaph(self._secrets)
        return CallFailed(text, type="connection")

    # --- what its transport tells ------------------------------------------------------------

    def started(self, process: ChildProcess) -> None:
        """The server's program runs."""
        self._process = process
        self._on_start(process.pid)

    def stray(self, line: str) -> None:
        """The server wrote a line that is no message."""
        self._on_stray(excerpt(line, self._secrets))

    def answered(self, status: int) -> None:
        """An HTTP answer came."""
        self._status = status

    def stream_ended(self) -> None:
        """No message can come any more."""
        if self._asked or self._ended.done():
            return
        if self._process is not None:
            self._failure = self._failure or self._end_of_process()
        self._leave.set()
        if self._ready.done():
            self._ended.set_result(None)

    async def _notice(self, message: Any) -> None:
        if getattr(message, "method", None) == "notifications/tools/list_changed":
            self.tools = None

    # --- its use -------------------------------------------------------------------------------

    async def list_tools(self, within: float) -> dict[str, ToolDefinition]:
        """Give the server's tools, asking again where it said that they changed.

        Raises:
            CallFailed: It does not tell.
        """
        if self.tools is None:
            self.tools = await self._do(self._list(), within)
        return self.tools

    async def call(self, tool: str, arguments: Mapping[str, Any], within: float) -> dict[str, Any]:
        """Call a tool.

        Args:
            tool: Its name.
            arguments: JSON-ready.
            within: How many seconds it may take.

        Returns:
            The result as plain data, with the names of the wire.

        Raises:
            CallFailed: There is no result.
        """
        assert self._client is not None
        session = self._client.session
        try:
            result = await self._do(session.call_tool(tool, dict(arguments), allow_input_required=True), within)
        except CallFailed as failure:
            status = self._status
            if failure.type != "protocol_error" or status not in _NOT_DONE or await self.healthy():
                raise
            text = f"it does not know the session any more (status {status})"
            self.drop(CallFailed(text, type="connection", again=True))
            raise CallFailed(text, type="connection", again=True) from None
        if not isinstance(result, mcp_types.CallToolResult):
            raise CallFailed(
                "it wants to ask somebody something before it goes on; tuvl has nobody to ask", type="input_required"
            )
        return result.model_dump(mode="json", by_alias=True, exclude_none=True)

    async def healthy(self) -> bool:
        """Ask the server for a sign of life."""
        if self._client is None or self.over:
            return False
        session = self._client.session
        modern = session.initialize_result is None
        sign: Coroutine[Any, Any, Any]
        sign = session.send_discover(str(session.protocol_version)) if modern else session.send_ping()
        try:
            await self._do(sign, _HEALTH_S)
        except CallFailed as problem:
            # It answers, if only that it does not know this request.
            return problem.type == "protocol_error" and self._status < 400
        return True

    async def _list(self) -> dict[str, ToolDefinition]:
        assert self._client is not None
        session = self._client.session
        found: dict[str, ToolDefinition] = {}
        cursor: str | None = None
        for _ in range(_MAX_PAGES):
            params = mcp_types.PaginatedRequestParams(cursor=cursor) if cursor is not None else None
            page = await session.list_tools(params=params)
            found.update({tool.name: ToolDefinition.of(tool, self.server.telling) for tool in page.tools})
            cursor = page.next_cursor
            if cursor is None:
                break
        return found

    async def _do(self, work: Coroutine[Any, Any, Any], within: float) -> Any:
        """Await work on the session, no longer than it may take and than the session lasts."""
        loop = asyncio.get_running_loop()
        self.used = loop.time()
        task = loop.create_task(work, context=quiet_context())
        task.add_done_callback(_retrieve)
        try:
            await asyncio.wait({task, self._ended}, timeout=max(within, 0), return_when=asyncio.FIRST_COMPLETED)
            if not task.done() and self._ended.done():
                await asyncio.wait({task}, timeout=_LAST_WORDS_S)  # an answer may have come just before the end
            if not task.done():
                if self._ended.done():
                    raise self._failure or CallFailed("the connection ended", type="connection")
                raise CallFailed("no answer in time", type="timeout")
            return await self._outcome(task)
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task}, timeout=_GIVE_UP_S)
            self.used = loop.time()

    async def _outcome(self, task: asyncio.Task[Any]) -> Any:
        if task.cancelled():
            raise CallFailed("the connection ended", type="connection")
        error = task.exception()
        if error is None:
            return task.result()
        if (problem := malformed(error, self._secrets)) is not None:
            raise problem
        if isinstance(error, MCPError) and not _lost(error):
            raise self._refused(error)
        # The SDK holds results to the protocol and to the schema that the server declared.
        if isinstance(error, (RuntimeError, ValueError)):
            raise CallFailed(f"its result is not in order: {explain(error, self._secrets)}", type="bad_response")
        if self._process is not None:
            await asyncio.wait({self._ended}, timeout=_LAST_WORDS_S)
        failure = self._failure or CallFailed(self._why(error), type="connection", again=_unsent(error))
        self.drop(failure)
        raise failure

    def _refused(self, error: MCPError) -> CallFailed:
        """What a server answered instead of a result."""
        text = f"it answers with error {error.code}: {explain(error, self._secrets)}"
        return CallFailed(text + self._shown_status(), type="protocol_error")

    def _shown_status(self) -> str:
        return f" (status {self._status})" if self._status >= 400 else ""

    def _why(self, error: BaseException) -> str:
        if self._process is not None and self._process.exit_code is not None:
            return self._process.epitaph(self._secrets)
        return self._with_stderr(explain(error, self._secrets) + self._shown_status())

    def _with_stderr(self, text: str) -> str:
        said = excerpt(bytes(self._process.stderr), self._secrets, tail=True) if self._process is not None else ""
        return f"{text}; stderr: {said}" if said else text


def _lost(error: BaseException) -> bool:
    """Whether an error says that there is no session any more."""
    return isinstance(error, MCPError) and error.code == mcp_types.CONNECTION_CLOSED


def _unsent(error: BaseException) -> bool:
    """Whether a request cannot have reached the server."""
    return type(first_cause(error)).__name__ in ("ConnectError", "ConnectTimeout")


def _retrieve(task: asyncio.Task[Any]) -> None:
    """Look at how a task ended, which may be long after anybody waited for it."""
    if not task.cancelled():
        task.exception()
