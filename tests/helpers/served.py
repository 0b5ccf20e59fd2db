"""The real server on a real socket, in the test's own event loop, and a reader of its streams that is not ours."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

from tuvl_core import App, Gate, Plugins, RunService, load_project


@asynccontextmanager
async def served(root, *, dev=True, environ=None):
    """Serve a project; gives `(service, url)`. It drains when the block is left."""
    project = load_project(root, plugins=Plugins.load(root=root, environ={}), environ=environ or {})
    async with App(project) as app:
        service = RunService(app, gate=Gate(app, dev=dev))
        async with listening(service) as (server, url):
            service.server = server
            yield service, url


@asynccontextmanager
async def listening(service):
    """Serve a run service; gives `(server, url)`."""
    from tuvl_server.hosts import bind, shown_address
    from tuvl_server.serving import WebServer
    from tuvl_server.site import Site

    socket = bind("127.0.0.1", 0)
    started = asyncio.Event()
    server = WebServer(Site(service), ready=lambda _: started.set())
    # Not `serve`: the test's own process keeps its signal handlers.
    task = asyncio.create_task(server._serve([socket]))
    try:
        async with asyncio.timeout(20):
            await started.wait()
        yield server, shown_address(socket)
    finally:
        server.should_exit = True
        await task
        socket.close()


def frames(text: str) -> list[dict[str, str]]:
    """An event stream, read by the letter of WHATWG HTML 9.2.6, one character after the other."""
    found, fields, line, index = [], {"data": []}, "", 0
    text = text.removeprefix("\ufeff")
    while index < len(text):
        char = text[index]
        index += 1
        if char not in "\r\n":
            line += char
            continue
        if char == "\r" and text[index : index + 1] == "\n":
            index += 1
        if line == "":
            if fields["data"]:
                found.append({**fields, "data": "\n".join(fields["data"])})
            fields = {"data": []}
        elif not line.startswith(":"):
            name, _, value = line.partition(":")
            value = value[1:] if value.startswith(" ") else value
            if name == "data":
                fields["data"].append(value)
            elif name in ("event", "id"):
                fields[name] = value
        line = ""
    return found
