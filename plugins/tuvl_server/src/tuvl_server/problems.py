"""Errors as answers: `application/problem+json` (RFC 9457)."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from tuvl_core import (
    BusyError,
    DeniedError,
    InputError,
    ProjectError,
    TuvlError,
    UnauthenticatedError,
    UnknownRunError,
    UnknownWorkflowError,
    log_event,
)

__all__ = ["PREFIX", "ClientGoneError", "HttpError", "problem", "refusal"]

PREFIX: Final = "urn:tuvl:problem:"
"""What a problem's `type` begins with; the rest is its stable name."""

_log = logging.getLogger("tuvl.server")

# The first that fits counts: classes before those they come from.
_STATUS: Final[tuple[tuple[type[TuvlError], int, str, str], ...]] = (
    (UnauthenticatedError, 401, "unauthenticated", "nobody knows who is calling"),
    (DeniedError, 403, "denied", "not allowed"),
    (UnknownRunError, 404, "not-found", "not found"),
    (UnknownWorkflowError, 404, "not-found", "not found"),
    (InputError, 422, "input", "the input does not fit"),
    (BusyError, 429, "busy", "too much runs already"),
)


class HttpError(TuvlError):
    """A request that is wrong as such, whatever it asks for.

    Args:
        status: The HTTP status.
        name: The problem's stable name.
        detail: What is wrong, and what to do.
        headers: What to send along.
    """

    def __init__(self, status: int, name: str, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.name = name
        self.headers = dict(headers or {})


class ClientGoneError(Exception):
    """The client went away: there is nobody to answer."""


def problem(
    status: int,
    name: str,
    detail: str,
    *,
    title: str | None = None,
    headers: Mapping[str, str] | None = None,
    **more: Any,
) -> Response:
    """An answer that says what is wrong: `type`, `title`, `status`, `detail`, and what else is given."""
    title = title or name.replace("-", " ")
    body = {"type": f"{PREFIX}{name}", "title": title, "status": status, "detail": detail, **more}
    # Escaped: a text may hold half a surrogate pair, which no UTF-8 can.
    return Response(json.dumps(body), status, headers, "application/problem+json")


def refusal(request: Request, error: Exception) -> Response:
    """The answer that goes with an error; what is nobody's to know is logged in its place."""
    if isinstance(error, HttpError):
        return problem(error.status, error.name, str(error), headers=error.headers)
    found = next((entry for entry in _STATUS if isinstance(error, entry[0])), None)
    if found is None:
        return _failure(request, error)
    _, status, name, title = found
    if isinstance(error, UnauthenticatedError):
        return problem(status, name, str(error), title=title, headers={"www-authenticate": _challenge(request)})
    if isinstance(error, BusyError):
        headers = {"retry-after": str(error.retry_after_s)}
        if error.draining:
            return problem(503, "draining", str(error), title="the server is about to end", headers=headers)
        return problem(status, name, str(error), title=title, headers=headers)
    if isinstance(error, InputError):
        errors = [{"path": path, "message": message} for path, message in error.problems]
        return problem(status, name, str(error), title=title, errors=errors)
    if isinstance(error, (UnknownRunError, UnknownWorkflowError)):
        # The same bytes for what there is not and for what the caller may not see, whatever its name.
        return problem(status, name, "there is none of that name, or none that you may see", title=title)
    return problem(status, name, str(error), title=title)


def _challenge(request: Request) -> str:
    """What to sign in with (RFC 6750)."""
    given = "authorization" in request.headers
    return 'Bearer realm="tuvl", error="invalid_token"' if given else 'Bearer realm="tuvl"'


def _failure(request: Request, error: Exception) -> Response:
    route = request.scope.get("route")
    fields = {"method": request.method, "route": getattr(route, "path", None), "error": type(error).__name__}
    if isinstance(error, ProjectError):
        log_event(_log, logging.ERROR, "http.request_failed", {**fields, "message": error.message})
        return problem(500, "invalid-workflow", "the workflow cannot run; `tuvl validate` says why to its operator")
    log_event(_log, logging.ERROR, "http.request_failed", fields, exc_info=True)
    return problem(500, "failed", "the server failed to answer; its log says why")
