"""The console's pages and what they post to."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import cache, wraps
from importlib import resources
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse

from tuvl_console.caller import forget, form_of, remember, who
from tuvl_console.live import RunPage, follow_list, follow_run, list_parts
from tuvl_console.views import page
from tuvl_core import DeniedError, Directive, HttpRoute, InputError, TuvlError, UnauthenticatedError, UnknownRunError

__all__ = ["routes"]

Endpoint = Callable[[Request], Awaitable[Response]]

_HEADERS: Final = {
    # Nothing of anybody else's, nothing inline: what a run's values hold can never become a script.
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}
_TYPES: Final = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


def routes() -> list[HttpRoute]:
    """Everything under `/console`. Each finds out by itself who is calling: browsers send a cookie."""
    get, post = ("GET",), ("POST",)
    found: list[tuple[str, tuple[str, ...], Endpoint]] = [
        ("/", get, home),
        ("/console/", get, home),
        ("/console", get, runs),
        ("/console/live", get, live_runs),
        ("/console/sign-in", post, sign_in),
        ("/console/sign-out", post, sign_out),
        ("/console/static/{name}", get, static),
        ("/console/runs/{id}", get, run),
        ("/console/runs/{id}/live", get, live_run),
        ("/console/runs/{id}/abort", post, abort_run),
        ("/console/loops/{id}/{action}", post, direct),
    ]
    return [
        HttpRoute(path=path, endpoint=endpoint, methods=methods, public=True, help="operator console")
        for path, methods, endpoint in found
    ]


def guarded(endpoint: Endpoint) -> Endpoint:
    """Answer what an endpoint raises with a page: the form to sign in, or what is wrong."""

    @wraps(endpoint)
    async def answered(request: Request) -> Response:
        try:
            response = await endpoint(request)
        except UnauthenticatedError as error:
            response = _sign_in_page(str(error) if request.cookies else "", 401)
        except DeniedError as error:
            response = _problem("Not allowed", error, 403)
        except UnknownRunError as error:
            response = _problem("Not found", error, 404)
        except InputError as error:
            response = _problem("Not understood", error, 422)
        except TuvlError as error:
            response = _problem("Not possible", error, 500)
        for name, value in _HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    return answered


def _problem(title: str, error: TuvlError, status: int) -> Response:
    return HTMLResponse(page("problem.html", title=title, text=str(error)), status)


def _sign_in_page(text: str, status: int) -> Response:
    return HTMLResponse(page("sign_in.html", text=text), status)


# --- pages ----------------------------------------------------------------------------------


async def home(request: Request) -> Response:
    """Whoever opens the server's address in a browser means the console."""
    return RedirectResponse("/console", 307)


@guarded
async def runs(request: Request) -> Response:
    """The list of runs."""
    principal = await who(request)
    parts = await list_parts(request.state.service, principal)
    dev = request.state.service.gate.dev
    return HTMLResponse(page("runs.html", parts=parts, principal=principal, dev=dev))


@guarded
async def run(request: Request) -> Response:
    """One run."""
    principal = await who(request)
    shown = RunPage(request.state.service, principal, request.path_params["id"])
    await shown.catch_up()
    parts = await shown.parts()
    dev = request.state.service.gate.dev
    return HTMLResponse(
        page(
            "run.html",
            parts=parts,
            principal=principal,
            dev=dev,
            run_id=request.path_params["id"],
            workflow=shown.workflow,
        )
    )


@guarded
async def live_runs(request: Request) -> Response:
    """The list of runs as it changes."""
    principal = await who(request)
    return _stream(follow_list(request.state.service, principal))


@guarded
async def live_run(request: Request) -> Response:
    """One run as it changes."""
    principal = await who(request)
    service, id = request.state.service, request.path_params["id"]
    shown = RunPage(service, principal, id)
    await shown.catch_up()
    return _stream(follow_run(shown, await service.events(id, principal, after=shown.state.seq)))


def _stream(frames: AsyncIterator[str]) -> Response:
    async def lines() -> AsyncIterator[str]:
        yield "retry: 2000\n\n"
        async for frame in frames:
            yield f"data: {frame}\n\n"
        yield "event: end\ndata: {}\n\n"

    return StreamingResponse(lines(), media_type="text/event-stream", headers={"x-accel-buffering": "no"})


# --- what pages post ------------------------------------------------------------------------


@guarded
async def sign_in(request: Request) -> Response:
    """Take a token, and keep it."""
    token = (await form_of(request)).get("token", "").strip().removeprefix("Bearer ")
    try:
        await request.state.service.gate.admit({"authorization": f"Bearer {token}"})
    except UnauthenticatedError as error:
        return _sign_in_page(str(error), 401)
    response = RedirectResponse("/console", 303)
    remember(response, token, secure=request.url.scheme == "https")
    return response


@guarded
async def sign_out(request: Request) -> Response:
    """Forget the token."""
    await form_of(request)
    response = RedirectResponse("/console", 303)
    forget(response)
    return response


@guarded
async def direct(request: Request) -> Response:
    """Pause, resume, steer or abort an agent."""
    form = await form_of(request)
    principal = await who(request)
    id, action = request.path_params["id"], request.path_params["action"]
    data = {"action": action, "text": form.get("text") or None, "force": form.get("force") == "on"}
    directive = Directive.from_dict(data)
    await request.state.service.direct(id, principal, directive)
    return RedirectResponse(f"/console/runs/{id.rpartition('.')[0]}", 303)


@guarded
async def abort_run(request: Request) -> Response:
    """Cancel a run as a whole."""
    await form_of(request)
    principal = await who(request)
    id = request.path_params["id"]
    await request.state.service.abort(id, principal, f"aborted by {principal.subject} at the console")
    return RedirectResponse(f"/console/runs/{id}", 303)


# --- files ----------------------------------------------------------------------------------


@cache
def _files() -> dict[str, tuple[bytes, str, str]]:
    """The console's own files by name: content, type and tag."""
    found = {}
    for file in resources.files("tuvl_console").joinpath("static").iterdir():
        content = file.read_bytes()
        kind = _TYPES[file.name.rpartition(".")[2]]
        found[file.name] = (content, kind, f'"{hashlib.sha256(content).hexdigest()[:16]}"')
    return found


async def static(request: Request) -> Response:
    """A style sheet, a script or a picture."""
    file = _files().get(request.path_params["name"])
    if file is None:
        return Response(status_code=404)
    content, kind, tag = file
    headers = {"etag": tag, "cache-control": "no-cache", "x-content-type-options": "nosniff"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=kind, headers=headers)
