"""A server as a child process: lines of JSON over its pipes.

The SDK has such a transport. This one also tells why a server ended (exit code, end of stderr), bears and
reports lines that are no messages, gives the program no variable that was not declared, and leaves no
process of its group behind.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, Self, cast

import anyio
import mcp_types
from mcp.shared.message import SessionMessage

from tuvl_kinds_mcp.answers import stand_ins
from tuvl_kinds_mcp.failures import CallFailed, excerpt
from tuvl_kinds_mcp.servers import Server, safe_environment

__all__ = ["ChildProcess", "stdio_transport"]

_MAX_LINE: Final = 64 * 1024 * 1024
_CHUNK: Final = 256 * 1024
_STDERR_KEPT: Final = 8_000
_GRACE_S: Final = 2.0
"""How long a server may take to end by itself once its input is closed."""
_TERM_S: Final = 1.0
_KILL_S: Final = 2.0
_LAST_WORDS_S: Final = 0.5
"""How long output is still read after the process is gone: a grandchild may hold the pipe open."""


class ChildProcess(asyncio.SubprocessProtocol):
    """One running program.

    Attributes:
        exited: Set once it is gone.
        stdout: What it writes.
        stderr: The end of what it wrote to stderr.
    """

    def __init__(self) -> None:
        self.exited = asyncio.Event()
        self.stdout = asyncio.StreamReader(limit=_CHUNK)
        self.stderr = bytearray()
        self._over = False
        self._writable = asyncio.Event()
        self._writable.set()
        self._transport: asyncio.SubprocessTransport | None = None

    @classmethod
    async def start(cls, server: Server) -> ChildProcess:
        """Start a server's program in a process group of its own.

        Raises:
            CallFailed: There is no such program or folder, or it may not be started.
        """
        loop = asyncio.get_running_loop()
        try:
            _, process = await loop.subprocess_exec(
                cls,
                server.command,
                *server.args,
                cwd=server.cwd or None,
                env={**safe_environment(), **dict(server.env)},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise CallFailed(_why_not(server, error), type="connection") from None
        return process

    # --- what asyncio calls --------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)
        pipe = self._transport.get_pipe_transport(1)
        if pipe is not None:
            self.stdout.set_transport(pipe)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 1:
            if not self._over:
                self.stdout.feed_data(data)
        else:
            self.stderr += data
            del self.stderr[:-_STDERR_KEPT]

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1:
            self.end_of_output()
        elif fd == 0:
            self._writable.set()

    def process_exited(self) -> None:
        self.exited.set()
        self._writable.set()
        asyncio.get_running_loop().call_later(_LAST_WORDS_S, self.end_of_output)

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def end_of_output(self) -> None:
        """Take nothing more from its output."""
        self._over = True
        self.stdout.feed_eof()

    # --- what we do with it --------------------------------------------------------------------

    @property
    def pid(self) -> int:
        """Its process id, which is that of its group too."""
        assert self._transport is not None
        return self._transport.get_pid()

    @property
    def exit_code(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        return None if self._transport is None else self._transport.get_returncode()

    async def write(self, data: bytes) -> None:
        """Write to its input, no faster than it reads.

        Raises:
            ConnectionError: Its input is closed.
        """
        pipe: Any = self._transport.get_pipe_transport(0) if self._transport is not None else None
        if pipe is None or pipe.is_closing():
            raise ConnectionResetError("the input of the server is closed")
        pipe.write(data)
        if not self._writable.is_set():
            await self._writable.wait()

    async def stop(self) -> None:
        """End it and everything in its group: first by closing its input, in the end by force."""
        assert self._transport is not None
        pipe = self._transport.get_pipe_transport(0)
        if pipe is not None:
            pipe.close()
        try:
            if not await self._gone_within(_GRACE_S):
                self._signal(signal.SIGTERM)
                await self._gone_within(_TERM_S)
            self.kill()
            await self._gone_within(_KILL_S)
        finally:  # even where nobody waits any longer
            self.kill()
            self._transport.close()

    def kill(self) -> None:
        """Kill whatever is left of its group, at once."""
        self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))

    async def exit_noticed(self) -> None:
        """Give the event loop a moment to learn the exit code, for whoever asks why a pipe ended."""
        await self._gone_within(_LAST_WORDS_S)

    async def _gone_within(self, seconds: float) -> bool:
        with anyio.move_on_after(seconds):
            await self.exited.wait()
        return self.exited.is_set()

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                if self.exit_code is None and self._transport is not None:
                    self._transport.terminate()
            else:
                os.killpg(self.pid, number)

    def epitaph(self, secrets: tuple[str, ...]) -> str:
        """Say how it ended, with the end of what it wrote to stderr."""
        code = self.exit_code
        if code is None:
            how = "it closed its output"
        elif code < 0:
            how = f"it was ended by signal {-code}"
        else:
            how = f"it exited with code {code}"
        said = excerpt(bytes(self.stderr), secrets, tail=True)
        return f"{how}; stderr: {said}" if said else how


@asynccontextmanager
async def stdio_transport(
    server: Server, stray: Callable[[str], None], started: Callable[[ChildProcess], None]
) -> AsyncIterator[tuple[Any, Any]]:
    """Start a server, and give the streams that an SDK client reads from and writes to.

    Args:
        server: Which.
        stray: Told each line that is no message.
        started: Told the process.

    Raises:
        CallFailed: It cannot be started.
    """
    process = await ChildProcess.start(server)
    try:
        started(process)
        yield _Incoming(process, stray), _Outgoing(process)
    finally:
        with anyio.CancelScope(shield=True):
            await process.stop()


class _Stream:
    """What the SDK expects of either direction."""

    def __init__(self, process: ChildProcess) -> None:
        self._process = process
        self._closed = False

    async def aclose(self) -> None:
        self._closed = True

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()


class _Incoming(_Stream):
    """The messages of a server, read straight from its pipe: every hop between tasks would cost each call."""

    def __init__(self, process: ChildProcess, stray: Callable[[str], None]) -> None:
        super().__init__(process)
        self._stray = stray
        self._lines: deque[bytes] = deque()
        self._waiting: deque[SessionMessage] = deque()
        self._rest = bytearray()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def receive(self) -> SessionMessage:
        """Give the next message.

        Raises:
            anyio.EndOfStream: There are no more.
        """
        while not self._closed:
            while self._lines or self._waiting:
                message = self._waiting.popleft() if self._waiting else self._message(self._lines.popleft())
                if message is not None:
                    return message
            if not await self._read():
                break
        raise anyio.EndOfStream

    async def _read(self) -> bool:
        """Read on; False at the end."""
        chunk = await self._process.stdout.read(_CHUNK)
        if not chunk:
            self._leave(bytes(self._rest))
            await self._process.exit_noticed()
            return False
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            self._lines.append(bytes(self._rest + piece))
            self._rest.clear()
        self._rest += rest
        if len(self._rest) > _MAX_LINE:
            self._stray(f"a line of more than {_MAX_LINE} bytes; the connection is closed")
            return False
        return True

    def _message(self, line: bytes) -> SessionMessage | None:
        if not line.strip():
            return None
        try:
            message = mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError as error:
            self._waiting.extend(stand_ins(line, error))
            if not self._waiting:
                self._leave(line)
            return None
        return SessionMessage(message)

    def _leave(self, line: bytes) -> None:
        """Leave a line out, and tell about it."""
        if line.strip():
            self._stray(line[:_STDERR_KEPT].decode("utf-8", "replace"))


class _Outgoing(_Stream):
    """Messages to a server, written straight to its pipe."""

    async def send(self, item: SessionMessage) -> None:
        """Write one message.

        Raises:
            anyio.ClosedResourceError: This side is closed.
            anyio.BrokenResourceError: The server does not read any more.
        """
        if self._closed:
            raise anyio.ClosedResourceError
        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        try:
            await self._process.write(text.encode("utf-8", "replace") + b"\n")
        except OSError:
            # Its input is gone while it may still live: the session must see an end, not wait for ever.
            self._process.end_of_output()
            await self._process.exit_noticed()
            raise anyio.BrokenResourceError from None


def _why_not(server: Server, error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        if server.cwd and not os.path.isdir(server.cwd):  # noqa: PTH112 - one look, on the way to an error
            return f"its folder {server.cwd} does not exist"
        return f"there is no program {server.command!r} on the PATH"
    if isinstance(error, PermissionError):
        return f"the program {server.command!r} may not be executed"
    return f"the program {server.command!r} cannot be started: {getattr(error, 'strerror', None) or error}"
