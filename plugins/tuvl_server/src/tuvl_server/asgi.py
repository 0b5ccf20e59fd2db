"""The server as an ASGI application."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from tuvl_core import HttpRoute, RunService, log_event
from tuvl_server.checks import shape_of
from tuvl_server.edge import Edge
from tuvl_server.endpoints import OWN_ROUTES, trigger_route
from tuvl_server.guard import Guarded
from tuvl_server.problems import problem
from tuvl_server.site import Site
from tuvl_server.trigger import Trigger

__all__ = ["build"]

_log = logging.getLogger("tuvl.server")
_SENT: Final = ("Authorization", "Content-Type", "Last-Event-ID", "Prefer", "X-Request-Id", "traceparent", "tracestate")
_SHOWN: Final = ("Location", "Retry-After", "WWW-Authenticate", "X-Request-Id", "X-Run-Id")
_NAMES: Final = {404: "not-found", 405: "method-not-allowed"}


def build(service: RunService, site: Site | None = None) -> ASGIApp:
    """Give the application that serves a run service, with triggers and the routes of plugins.

    Args:
        service: What requests are handed to; its app is open.
        site: The server; None: one of its own.
    """
    site = site or Site(service)
    routes: dict[tuple[str, str], HttpRoute] = {}
    for owner, route in _offered(service):
        taken = [method for method in route.methods if (method, shape_of(route.path)) in routes]
        if taken:
            fields = {"path": route.path, "methods": ",".join(taken), "owner": owner}
            log_event(_log, logging.WARNING, "http.route_taken", fields)
            continue
        routes |= {(method, shape_of(route.path)): route for method in route.methods}
    app: Any = Starlette(
        routes=[
            Route(route.path, Guarded(route, site), methods=list(route.methods))
            for route in dict.fromkeys(routes.values())
        ],
        exception_handlers={HTTPException: _plain},  # type: ignore[dict-item]
    )
    app.router.redirect_slashes = False
    app.state.site = site
    origins = list(service.app.settings["server.cors_origins"])
    if origins:
        methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]
        app = CORSMiddleware(
            app, allow_origins=origins, allow_methods=methods, allow_headers=_SENT, expose_headers=_SHOWN
        )
    return Edge(app, site)


def _offered(service: RunService) -> Iterator[tuple[str, HttpRoute]]:
    """Every route with its owner: the server's own first, then those of plugins, then triggers."""
    for route in OWN_ROUTES:
        yield "tuvl-server", route
    for candidate, found in service.app.plugins.call("tuvl_http_routes", service=service):
        for route in found or ():
            yield candidate.dist, route
    for name, definition in service.app.project.workflows.items():
        trigger = definition.spec.sections.get("trigger")
        if isinstance(trigger, Trigger):
            yield f"workflow {name}", trigger_route(name, trigger, definition.spec.input)


async def _plain(request: Request, error: HTTPException) -> Response:
    """What routing says, as a problem."""
    name = _NAMES.get(error.status_code, "http")
    detail = "there is nothing at this path" if error.status_code == 404 else error.detail
    if error.status_code == 405 and error.headers:
        detail = f"this path takes {error.headers.get('Allow', 'another method')}"
    return problem(error.status_code, name, detail, headers=error.headers)
