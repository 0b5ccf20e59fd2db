"""What lives as long as an open app: nothing but the promise to send what is left at its end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from typing import Any

from tuvl_otel.logs import LogSetup
from tuvl_otel.options import Options

__all__ = ["OtelScope"]


class OtelScope:
    """Installs providers and the form of log lines, and flushes at the end.

    Providers belong to the process and outlive the app: OpenTelemetry lets a process set them once. A second app
    that opens later exports to where the first one said.

    Args:
        options: What to install.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._logs: LogSetup | None = None

    async def open(self) -> Mapping[str, Any] | None:
        """Install."""
        options = self._options
        if options.traces or options.metrics:
            # Importing the SDK and its exporters takes a quarter of a second.
            from tuvl_otel.providers import install

            await asyncio.to_thread(install, options)
        if options.log_format != "off":
            self._logs = LogSetup.install(options.log_format, options.log_level)
        return None

    async def close(self) -> None:
        """Send what is left, if that is done within `otel.flush_s`."""
        if self._options.traces or self._options.metrics:
            from tuvl_otel.providers import flush

            await _in_daemon_thread(flush, self._options.flush_s)
        if self._logs is not None:
            self._logs.remove()


async def _in_daemon_thread(work: Callable[[float], None], seconds: float) -> None:
    """Do it in a thread that keeps nobody from ending, and wait no longer than so many seconds."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def go() -> None:
        try:
            work(seconds)
        finally:
            try:
                loop.call_soon_threadsafe(lambda: None if done.done() else done.set_result(None))
            except RuntimeError:
                pass  # the loop is closed: nobody waits any more

    threading.Thread(target=go, name="tuvl-otel-flush", daemon=True).start()
    await asyncio.wait({done}, timeout=seconds)
    done.cancel()
