"""The ways to a server, as streams that an SDK client reads from and writes to."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Protocol

import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from tuvl_kinds_mcp.answers import stand_ins_of_error
from tuvl_kinds_mcp.servers import Server
from tuvl_kinds_mcp.stdio import ChildProcess, stdio_transport

__all__ = ["Listener", "open_streams"]


class Listener(Protocol):
    """Told what a transport notices."""

    def started(self, process: ChildProcess) -> None:
        """The server's process runs."""
        ...

    def stray(self, line: str) -> None:
        """The server has written a line that is no message to its stdout."""
        ...

    def answered(self, status: int) -> None:
        """An HTTP request has been answered with this status."""
        ...

    def stream_ended(self) -> None:
        """The stream of what the server sends by itself is over."""
        ...


@asynccontextmanager
async def open_streams(server: Server, listener: Listener, *, trust_env: bool) -> AsyncIterator[tuple[Any, Any]]:
    """Start or reach a server.

    Args:
        server: Which.
        listener: Told what happens; the end of the messages is the end of the session.
        trust_env: Whether proxies that the environment names are used.

    Raises:
        CallFailed: Its program cannot be started.
        httpx2.HTTPError: It cannot be reached.
    """
    async with _transport(server, listener, trust_env) as (incoming, outgoing):
        yield _Watched(incoming, listener.stream_ended), outgoing


def _transport(server: Server, listener: Listener, trust_env: bool) -> AbstractAsyncContextManager[Any]:
    if server.transport == "stdio":
        return stdio_transport(server, listener.stray, listener.started)

    async def saw(response: httpx2.Response) -> None:
        if response.request.method == "POST":
            listener.answered(response.status_code)

    def make_client(headers: dict[str, str] | None = None, timeout: Any = None, auth: Any = None) -> httpx2.AsyncClient:
        # How long an answer may take is each call's own matter, so nothing limits reading.
        limits = httpx2.Timeout(server.timeout, read=None)
        hooks: dict[str, list[Any]] = {"response": [saw]}
        return httpx2.AsyncClient(headers=headers, timeout=limits, auth=auth, trust_env=trust_env, event_hooks=hooks)

    if server.transport == "sse":
        return sse_client(server.url, headers=dict(server.headers), httpx_client_factory=make_client)
    return _streamable(server, make_client)


@asynccontextmanager
async def _streamable(server: Server, make_client: Callable[..., httpx2.AsyncClient]) -> AsyncIterator[Any]:
    async with (
        make_client(headers=dict(server.headers)) as client,
        streamable_http_client(server.url, http_client=client) as streams,
    ):
        yield streams


class _Watched:
    """The messages of a server, and a word when there are no more."""

    def __init__(self, stream: Any, ended: Callable[[], None]) -> None:
        self._stream = stream
        self._ended = ended
        self._waiting: deque[Any] = deque()

    @property
    def last_context(self) -> Any:
        """The context that the sender of the last message was in, where the stream knows it."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> Any:
        try:
            return await self._next(self._stream.receive)
        except Exception:
            self._ended()
            raise

    def __aiter__(self) -> _Watched:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self._next(self._stream.__anext__)
        except Exception:
            self._ended()
            raise

    async def _next(self, receive: Callable[[], Awaitable[Any]]) -> Any:
        if self._waiting:
            return self._waiting.popleft()
        item = await receive()
        if isinstance(item, Exception) and (found := stand_ins_of_error(item)):
            self._waiting.extend(found)
            return self._waiting.popleft()
        return item

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> _Watched:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()
        self._ended()
