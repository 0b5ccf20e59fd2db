"""What every request passes first and every answer last: ids, limits, hosts, and a line in the log."""

from __future__ import annotations

import asyncio
import logging
import re
import time
import uuid
from typing import Any, Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tuvl_core import log_event
from tuvl_server.hosts import is_local_name
from tuvl_server.problems import HttpError, problem, refusal
from tuvl_server.site import Site

__all__ = ["Edge"]

_log = logging.getLogger("tuvl.server.access")
_ID: Final = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_LONGEST: Final = 200
_TOO_LARGE: Final = 413
_DISCARD_S: Final = 2.0
_DISCARD_BYTES: Final = 16_000_000


class Edge:
    """The outermost part of the application.

    Args:
        app: What answers.
        site: The server.
    """

    def __init__(self, app: ASGIApp, site: Site) -> None:
        self._app = app
        self._site = site
        self._most = site.settings["server.max_body_bytes"]
        self._hosts = frozenset(name.lower() for name in site.settings["server.hosts"])
        self._logs = site.settings["server.access_log"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limited = _Limited(receive, self._most)
        exchange = _Exchange(scope, send, limited)
        try:
            refused = self._refused(Headers(scope=scope))
            if refused is not None:
                await refusal(Request(scope), refused)(scope, receive, exchange.send)
            else:
                await self._app(scope, limited.receive, exchange.send)
        except HttpError as error:
            await self._late(error, exchange, scope, receive)
        except Exception:
            log_event(logging.getLogger("tuvl.server"), logging.ERROR, "http.request_failed", {}, exc_info=True)
            if exchange.status is not None:
                raise  # the connection breaks: that is how a client learns that the answer is no whole one
            answer = problem(500, "failed", "the server failed to answer; its log says why")
            await answer(scope, receive, exchange.send)
        finally:
            if self._logs:
                log_event(_log, logging.INFO, "http.request", exchange.fields())

    async def _late(self, error: HttpError, exchange: _Exchange, scope: Scope, receive: Receive) -> None:
        if exchange.status is not None:
            raise error
        await refusal(Request(scope), error)(scope, receive, exchange.send)

    def _refused(self, headers: Headers) -> HttpError | None:
        """What is wrong with a request whatever it asks for."""
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self._most:
            return _too_large(self._most)
        host = (urlsplit(f"//{headers.get('host', '')}").hostname or "").lower()
        dev = self._site.service.gate.dev
        # Where everybody is an operator, a page of anybody's must not be able to call: not through a name that
        # it lets point here, and not through a form.
        if self._hosts and host not in self._hosts and not (dev and is_local_name(host)):
            return HttpError(421, "host", "this server does not answer for that host; `server.hosts` lists its names")
        if dev and not self._hosts and not is_local_name(host):
            return HttpError(421, "host", "with --dev only names of this machine are answered")
        origin = headers.get("origin")
        if dev and origin is not None and not self._known_origin(origin):
            return HttpError(403, "origin", "with --dev pages of other origins may not call; see `server.cors_origins`")
        return None

    def _known_origin(self, origin: str) -> bool:
        return origin in self._site.settings["server.cors_origins"] or is_local_name(urlsplit(origin).hostname or "")


def _too_large(most: int) -> HttpError:
    text = f"the body is larger than {most} bytes; `server.max_body_bytes` sets how much is taken"
    return HttpError(413, "body-too-large", text, {"connection": "close"})


class _Limited:
    """Counts what is received, however it is sent."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive = receive
        self._left = most
        self._most = most
        self._more = True

    async def receive(self) -> Message:
        """The next message of the request."""
        message = await self._next()
        if self._left < 0:
            raise _too_large(self._most)
        return message

    async def discard(self) -> None:
        """Take what is still being sent, within bounds: who is cut off while sending never reads the answer."""
        try:
            async with asyncio.timeout(_DISCARD_S):
                while self._more and self._left > -_DISCARD_BYTES:
                    await self._next()
        except TimeoutError:
            return

    async def _next(self) -> Message:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        self._more = message["type"] == "http.request" and message.get("more_body", False)
        return message


class _Exchange:
    """One request and its answer: marks the answer, and notes what the log will say."""

    def __init__(self, scope: Scope, send: Send, limited: _Limited) -> None:
        self._scope = scope
        self._limited = limited
        self._send = send
        self._began = time.monotonic()
        given = Headers(scope=scope).get("x-request-id", "")
        self.id = given if _ID.fullmatch(given) else uuid.uuid4().hex
        self.status: int | None = None
        scope.setdefault("state", {})["request_id"] = self.id

    async def send(self, message: Message) -> None:
        """Send a message of the answer."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            if self.status == _TOO_LARGE:
                await self._limited.discard()
            headers = MutableHeaders(scope=message)
            headers["x-request-id"] = self.id
            headers.setdefault("x-content-type-options", "nosniff")
        await self._send(message)

    def fields(self) -> dict[str, Any]:
        """What the log says of it: nothing that the client chose but the path's own, escaped form."""
        scope, state = self._scope, self._scope["state"]
        route = getattr(scope.get("route"), "path", None)
        fields: dict[str, Any] = {"method": scope["method"]}
        if route is not None:
            fields["route"] = route
        else:
            raw = scope.get("raw_path") or b""
            fields["path"] = raw.partition(b"?")[0].decode("ascii", "replace")[:_LONGEST]
        fields["status"] = self.status if self.status is not None else 499
        fields["duration_ms"] = round((time.monotonic() - self._began) * 1000, 1)
        fields["request_id"] = self.id
        if state.get("run_id") is not None:
            fields["run_id"] = state["run_id"]
        if state.get("principal") is not None:
            fields["subject"] = state["principal"].subject
        return fields
