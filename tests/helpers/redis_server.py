"""A Redis of a test's own, that may be killed and started again, and a way to it that may stall or break."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import socket
import subprocess
import time


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class RedisServer:
    """A server that keeps nothing on disk; what was in it is gone when it is killed."""

    def __init__(self, *options: str) -> None:
        self.port = free_port()
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        command = [shutil.which("redis-server"), "--port", str(self.port), "--bind", "127.0.0.1", "--save", ""]
        command += ["--appendonly", "no", "--enable-debug-command", "yes", *self._options]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        due = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                assert time.monotonic() < due, "redis-server does not start"
                time.sleep(0.01)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def client(self):
        import redis.asyncio

        return redis.asyncio.Redis(port=self.port, protocol=2)


class Proxy:
    """Passes bytes on between whoever connects and a port, until it stalls or breaks."""

    def __init__(self, target: int) -> None:
        self.port = 0
        self._target = target
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Proxy:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._server.close()
        await self.cut()
        await self._server.wait_closed()

    def stall(self) -> None:
        """Pass nothing on from now on; connections stay."""
        self._flowing.clear()

    def flow(self) -> None:
        self._flowing.set()

    async def cut(self) -> None:
        """Break every connection."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader, writer) -> None:
        task = asyncio.current_task()
        self._tasks.add(task)
        behind = None
        try:
            from_server, behind = await asyncio.open_connection("127.0.0.1", self._target)
            async with asyncio.TaskGroup() as group:
                group.create_task(self._pass(reader, behind))
                group.create_task(self._pass(from_server, writer))
        except* (OSError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            self._tasks.discard(task)
            for end in (writer, behind):
                if end is not None:
                    end.close()
                    with contextlib.suppress(OSError):
                        await end.wait_closed()

    async def _pass(self, reader, writer) -> None:
        while data := await reader.read(65536):
            await self._flowing.wait()
            writer.write(data)
            await writer.drain()
        raise ConnectionError
