"""Real HTTP servers on loopback, and a step that calls them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import attrs
import pytest


@attrs.define
class Seen:
    """A request that a server got."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Handler(BaseHTTPRequestHandler):
    """Answers by the server's table of paths."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def answer(self, status: int = 200, body: bytes | str = b"", **headers: str) -> None:
        """Send a whole answer; `_` in header names is `-`, an empty value leaves one out."""
        data = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        given = {"Content_Length": str(len(data)), **headers}
        for name, value in given.items():
            if value:
                self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def json(self, value: Any, status: int = 200, **headers: str) -> None:
        """Send JSON."""
        self.answer(status, json.dumps(value), Content_Type="application/json", **headers)

    def handle_any(self) -> None:
        """Note the request and answer it."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        server: Any = self.server
        seen = Seen(self.command, self.path, dict(self.headers), body)
        server.seen.append(seen)
        found = server.pages.get(self.path.partition("?")[0]) or server.pages.get("*")
        try:
            if found is None:
                self.json({"message": "nothing here"}, 404)
            else:
                found(self)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = handle_any

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class Server:
    """One server on a port of its own."""

    def __init__(self) -> None:
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._http.pages = {}  # type: ignore[attr-defined]
        self._http.seen = []  # type: ignore[attr-defined]
        self.port: int = self._http.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def seen(self) -> list[Seen]:
        """Every request so far."""
        return self._http.seen  # type: ignore[attr-defined]

    def on(self, path: str, answer: Callable[[Handler], None]) -> str:
        """Answer a path; gives its URL. `*` is any other path."""
        self._http.pages[path] = answer  # type: ignore[attr-defined]
        return self.url + ("/" if path == "*" else path)

    def close(self) -> None:
        """Stop."""
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    """A server."""
    made = Server()
    yield made
    made.close()


@pytest.fixture
def other() -> Iterator[Server]:
    """Another server: the same machine, another port."""
    made = Server()
    yield made
    made.close()


class Api:
    """Runs one APICall step `call`."""

    def __init__(self, bench: Any) -> None:
        self.bench = bench

    def step(self, url: str, response: dict[str, Any] | None = None, **http: Any) -> dict[str, Any]:
        """The step."""
        step: dict[str, Any] = {"id": "call", "kind": "APICall", "http": {"url": url, **http}}
        return {**step, "response": response} if response else step

    async def __call__(
        self,
        url: str,
        context: dict[str, Any] | None = None,
        response: dict[str, Any] | None = None,
        **http: Any,
    ) -> Any:
        """Send it; gives the outcome."""
        return await self.bench.run(self.step(url, response, **http), context=context)

    def allow(self, *hosts: str) -> None:
        """Set `apicall.allow_hosts`."""
        self.bench.environ["TUVL_APICALL_ALLOW_HOSTS"] = ",".join(hosts)


@pytest.fixture
def api(bench: Any) -> Api:
    """Sends requests."""
    return Api(bench)
