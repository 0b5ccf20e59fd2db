"""A worker: it opens the project, listens, and ends in good order."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any, Final

import uvicorn

from tuvl_core import App, Gate, Listener, Project, RunService, log_event
from tuvl_server.asgi import build
from tuvl_server.site import Site

__all__ = ["WebServer", "serve_project"]

_log = logging.getLogger("tuvl.server")
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_LAST_WORDS_S: Final = 2.0
"""How long last frames may take to be read once everything is over."""
_LOOK_S: Final = 0.05


class WebServer(uvicorn.Server):
    """uvicorn's server, which drains a service before it stops to listen.

    While it drains, it still answers: `readyz` says 503, new runs are refused with 503, and runs that go on can be
    followed to their end. The first SIGINT or SIGTERM begins it; another one ends the grace at once.

    Args:
        site: What is served.
        stopping: Stopped while the runs drain: what listens beside it.
        ready: Called once requests are answered.
    """

    def __init__(
        self, site: Site, stopping: Sequence[Listener] = (), ready: Callable[[WebServer], None] = lambda server: None
    ) -> None:
        settings = site.settings
        proxies = list(settings["server.trusted_proxies"])
        config = uvicorn.Config(
            build(site.service, site),
            lifespan="off",
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=bool(proxies),
            forwarded_allow_ips=proxies or "",
            timeout_graceful_shutdown=int(_LAST_WORDS_S),
        )
        super().__init__(config)
        self._site = site
        self._stopping = stopping
        self._ready = ready
        self._grace_s: float = settings["server.shutdown_grace_s"]

    @property
    def open_to_anybody(self) -> bool:
        """Whether there is any way to sign in."""
        return self._site.service.gate.open

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        self._ready(self)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Drain, then stop to listen."""
        await self._drain()
        self._site.closing.set()
        await super().shutdown(sockets)

    async def _drain(self) -> None:
        service = self._site.service
        log_event(_log, logging.INFO, "server.draining", {"running": service.running, "grace_s": self._grace_s})
        work: set[asyncio.Future[Any]] = {asyncio.ensure_future(service.drain(self._grace_s))}
        work |= {asyncio.ensure_future(one.stop(self._grace_s + _LAST_WORDS_S)) for one in self._stopping}
        waiting = work
        while waiting and not self.force_exit:
            _, waiting = await asyncio.wait(waiting, timeout=_LOOK_S)
        if waiting:
            for one in waiting:
                one.cancel()
            hurried = [service.drain(0), *(one.stop(0) for one in self._stopping)]
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.gather(*hurried, return_exceptions=True), _LAST_WORDS_S)
        for done in work:
            if not done.cancelled() and done.done() and (error := done.exception()) is not None:
                log_event(_log, logging.WARNING, "server.stop_failed", {"error": type(error).__name__})

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end; asked once more, end now."""
        if self.should_exit:
            self.force_exit = True
        self.should_exit = True

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals while it serves; having ended in good order, the process does not die of them."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


async def serve_project(
    project: Project,
    listening: socket.socket,
    *,
    dev: bool = False,
    ready: Callable[[WebServer, list[str]], None] = lambda server, also: None,
) -> None:
    """Open a project and serve it until a signal, or `should_exit` of the server that `ready` gets.

    Args:
        project: The project.
        listening: Where requests come in.
        dev: Whether every caller is the local operator.
        ready: Called once requests are answered, with what else listens.

    Raises:
        TuvlError: It cannot be served.
    """
    async with App(project) as app:
        for name in project.workflows:
            app.plan(name)
        service = RunService(app, gate=Gate(app, dev=dev))
        host = str(listening.getsockname()[0])
        offered = app.plugins.call("tuvl_listeners", service=service, host=host)
        listeners: list[Listener] = []
        try:
            also = []
            for listener in (one for _, found in offered for one in found or ()):
                also.append(await listener.start())
                listeners.append(listener)
            server = WebServer(Site(service), tuple(listeners), lambda started: ready(started, also))
            await _serve(server, listening)
            listeners.clear()  # they were stopped while it drained
        finally:
            for listener in listeners:
                with contextlib.suppress(Exception):
                    await listener.stop(0)


async def _serve(server: WebServer, listening: socket.socket) -> None:
    serving = asyncio.ensure_future(server.serve(sockets=[listening]))
    try:
        await asyncio.shield(serving)
    finally:
        if not serving.done():
            server.should_exit = server.force_exit = True
            await serving
