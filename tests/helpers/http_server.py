"""Serves a run service's routes on a real socket, in the test's own event loop."""

from __future__ import annotations

import asyncio
import socket
from contextlib import asynccontextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Route


def routed(service):
    def wrap(endpoint):
        async def called(request):
            request.state.service, request.state.principal = service, None
            return await endpoint(request)

        return called

    found = [route for _, some in service.app.plugins.call("tuvl_http_routes", service=service) for route in some]
    return Starlette(routes=[Route(one.path, wrap(one.endpoint), methods=list(one.methods)) for one in found])


@asynccontextmanager
async def serving(service):
    """Give the server's address."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(routed(service), log_level="warning", lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    server.install_signal_handlers = lambda: None
    task = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        async with asyncio.timeout(20):
            while not server.started:
                await asyncio.sleep(0.01)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task
        listening.close()
