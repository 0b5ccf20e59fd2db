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
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, cast

import anyio
import anyio.lowlevel
import mcp_types
from mcp.shared.message import SessionMessage

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
    started(process)
    arriving, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, leaving = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as group:
        group.start_soon(_read, process, arriving, stray)
        group.start_soon(_write, process, leaving, arriving)
        group.start_soon(_end_with, process)
        try:
            yield incoming, outgoing
        finally:
            with anyio.CancelScope(shield=True):
                await process.stop()
            group.cancel_scope.cancel()
            for stream in (arriving, incoming, outgoing, leaving):
                stream.close()


async def _end_with(process: ChildProcess) -> None:
    """Let reading end soon after the process did, though a grandchild may hold the pipe open."""
    await process.exited.wait()
    await anyio.sleep(_LAST_WORDS_S)
    process.end_of_output()


async def _read(process: ChildProcess, arriving: Any, stray: Callable[[str], None]) -> None:
    line = bytearray()
    async with arriving:
        while chunk := await process.stdout.read(_CHUNK):
            *ended, rest = chunk.split(b"\n")
            for piece in ended:
                line += piece
                await _deliver(bytes(line), arriving, stray)
                line.clear()
            line += rest
            if len(line) > _MAX_LINE:
                stray(f"a line of more than {_MAX_LINE} bytes; the connection is closed")
                return
        if line.strip():
            stray(line[:_STDERR_KEPT].decode("utf-8", "replace"))
        with anyio.move_on_after(_LAST_WORDS_S):  # so that its exit code is known to whoever asks why
            await process.exited.wait()


async def _deliver(line: bytes, arriving: Any, stray: Callable[[str], None]) -> None:
    if not line.strip():
        return
    try:
        message = mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        stray(line[:_STDERR_KEPT].decode("utf-8", "replace"))
        return
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        await arriving.send(SessionMessage(message))


async def _write(process: ChildProcess, leaving: Any, arriving: Any) -> None:
    try:
        async with leaving:
            async for item in leaving:
                text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                await process.write(text.encode("utf-8", "replace") + b"\n")
    except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        # Its input is gone while it may still live: the session must see an end, not wait for ever.
        if not process.exited.is_set():
            arriving.close()


def _why_not(server: Server, error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        if server.cwd and not os.path.isdir(server.cwd):  # noqa: PTH112 - one look, on the way to an error
            return f"its folder {server.cwd} does not exist"
        return f"there is no program {server.command!r} on the PATH"
    if isinstance(error, PermissionError):
        return f"the program {server.command!r} may not be executed"
    return f"the program {server.command!r} cannot be started: {getattr(error, 'strerror', None) or error}"
