"""What stands before and after every endpoint: the span, who is calling, and errors as answers."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tuvl_core import DeniedError, HttpRoute, Span, incoming_span
from tuvl_server.problems import ClientGoneError, refusal
from tuvl_server.site import Site, credentials

__all__ = ["Guarded"]


class Guarded:
    """A route as an ASGI application.

    Args:
        route: What is served.
        site: The server.
    """

    def __init__(self, route: HttpRoute, site: Site) -> None:
        self._route = route
        self._site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive, send)
        method, path = request.method, self._route.path
        attributes: dict[str, Any] = {
            "http.request.method": method,
            "http.route": path,
            "url.scheme": scope.get("scheme", "http"),
        }
        with incoming_span(f"{method} {path}", dict(request.headers), attributes) as current:
            try:
                response = await self._answer(request)
            except ClientGoneError:
                current.failed("client_gone")
                return
            _note(current, response.status_code)
            await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        request.state.service, request.state.principal = self._site.service, None
        try:
            if not self._route.public:
                principal = await self._site.service.gate.admit(credentials(request))
                request.state.principal = principal
                if self._route.scope is not None and not principal.has_scope(self._route.scope):
                    raise DeniedError(f"this requires scope {self._route.scope!r}")
            response: Response = await self._route.endpoint(request)
        except ClientGoneError:
            raise
        except Exception as error:
            return refusal(request, error)
        return response


def _note(current: Span, status: int) -> None:
    current.set_attribute("http.response.status_code", status)
    if status >= 500:
        current.failed(str(status))
