"""The server's own routes: runs, agents' runs, health."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from tuvl_core import DeniedError, Directive, HttpRoute, InputError, ProjectError, UnknownWorkflowError
from tuvl_server.answers import answer_json, detached, run_and_answer
from tuvl_server.body import json_object, query_object, typed
from tuvl_server.openapi import describe
from tuvl_server.problems import HttpError
from tuvl_server.site import caller, site_of
from tuvl_server.streams import EventStream
from tuvl_server.trigger import Trigger, path_names

__all__ = ["OWN_ROUTES", "trigger_route", "visible_workflows"]

_WITH_QUERY: Final = frozenset({"GET", "DELETE"})
_REASON_CHARS: Final = 1000


# --- workflows ------------------------------------------------------------------------------


def visible_workflows(request: Request) -> dict[str, Any]:
    """The workflows that the caller may run, by name: their definitions."""
    app, principal = site_of(request).service.app, caller(request)
    found = {}
    for name, definition in sorted(app.project.workflows.items()):
        try:
            app.check_start(name, None, principal)
        except (DeniedError, ProjectError, UnknownWorkflowError):
            continue
        except InputError:
            pass  # it takes an input, and none was given
        found[name] = definition
    return found


async def list_workflows(request: Request) -> Response:
    """The workflows that the caller may run."""
    found = []
    for name, definition in visible_workflows(request).items():
        trigger: Trigger | None = definition.spec.sections.get("trigger")
        found.append(
            {
                "name": name,
                "description": definition.metadata.description,
                "group": getattr(definition.metadata, "group", None),
                "input": definition.spec.input,
                "trigger": {"method": trigger.method, "path": trigger.path} if trigger is not None else None,
            }
        )
    return answer_json({"workflows": found})


async def start_run(request: Request) -> Response:
    """Start a run of any workflow."""
    name, detach = request.path_params["name"], detached(request)
    return await run_and_answer(request, name, await json_object(request), caller(request), detach=detach)


def trigger_route(name: str, trigger: Trigger, schema: Mapping[str, Any] | None) -> HttpRoute:
    """The route of a workflow's trigger."""
    names = path_names(trigger.path)

    async def start(request: Request) -> Response:
        detach = detached(request) or trigger.on_disconnect == "detach"
        if trigger.method in _WITH_QUERY:
            input = query_object(request, schema)
        else:
            input = await json_object(request)
        for key in names:
            if key in input:
                raise InputError(f"{key} is given by the path", [(key, "is given by the path")])
            input[key] = typed(key, request.path_params[key], schema)
        return await run_and_answer(request, name, input, caller(request), detach=detach)

    return HttpRoute(
        path=trigger.path, endpoint=start, methods=(trigger.method,), public=trigger.public, help=f"runs {name}"
    )


# --- runs -----------------------------------------------------------------------------------


async def list_runs(request: Request) -> Response:
    """The runs that the caller may see."""
    workflow = request.query_params.get("workflow")
    found = await site_of(request).service.runs(caller(request), workflow=workflow)
    return answer_json({"runs": found.items, "missing": found.missing})


async def show_run(request: Request) -> Response:
    """One run."""
    return answer_json(await site_of(request).service.run(request.path_params["id"], caller(request)))


async def follow_run(request: Request) -> Response:
    """The events of a run, from the first that is kept or from one on."""
    site, id = site_of(request), request.path_params["id"]
    after = max(_number(request.query_params.get("after")), _number(request.headers.get("last-event-id")))
    events = await site.service.events(id, caller(request), after=after)
    request.state.run_id = id
    return EventStream(events, site, here=site.service.store.get(id) is not None, headers={"x-run-id": id})


def _number(text: str | None) -> int:
    if not text:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) <= 15):
        raise HttpError(400, "query", "`after` and `Last-Event-ID` are the number of an event: 0, 1, 2 …")
    return int(text)


async def abort_run(request: Request) -> Response:
    """Cancel a run."""
    service, principal = site_of(request).service, caller(request)
    id = request.path_params["id"]
    body = await _keys(request, "reason")
    reason = body.get("reason")
    done = await service.abort(id, principal, reason) if reason else await service.abort(id, principal)
    return answer_json({"run_id": id, "aborted": done})


# --- agents' runs ---------------------------------------------------------------------------


async def list_loops(request: Request) -> Response:
    """The agents that run right now."""
    found = await site_of(request).service.loops(caller(request))
    return answer_json({"runs": found.items, "missing": found.missing})


async def show_loop(request: Request) -> Response:
    """One of them."""
    return answer_json(await site_of(request).service.loop(request.path_params["id"], caller(request)))


async def trace_loop(request: Request) -> Response:
    """What it has done so far."""
    id = request.path_params["id"]
    return answer_json({"id": id, "events": await site_of(request).service.trace(id, caller(request))})


async def pause_loop(request: Request) -> Response:
    """Have it wait at its next turn."""
    return await _direct(request, "pause", await _keys(request, "id"))


async def resume_loop(request: Request) -> Response:
    """Let it go on."""
    return await _direct(request, "resume", await _keys(request, "id"))


async def steer_loop(request: Request) -> Response:
    """Give it guidance for its next turn."""
    return await _direct(request, "steer", await _keys(request, "id", "message"))


async def abort_loop(request: Request) -> Response:
    """End it on its exit `aborted`."""
    return await _direct(request, "abort", await _keys(request, "id", "reason", "force"))


async def _direct(request: Request, action: str, body: Mapping[str, Any]) -> Response:
    id = request.path_params["id"]
    data: dict[str, Any] = {"action": action, "text": body.get("message", body.get("reason"))}
    data |= {key: body[key] for key in ("id", "force") if body.get(key) is not None}
    try:
        directive = Directive.from_dict(data)
    except InputError as error:
        named = "message" if action == "steer" else "reason"
        problems = [(named if path == "text" else path, text) for path, text in error.problems]
        raise InputError("; ".join(f"{path}: {text}" for path, text in problems), problems) from None
    return answer_json({"id": id, "result": await site_of(request).service.direct(id, caller(request), directive)})


async def _keys(request: Request, *known: str) -> dict[str, Any]:
    """The body, which may hold these keys and no others."""
    body = await json_object(request)
    problems = [(key, "is no known key") for key in body if key not in known]
    reason = body.get("reason")
    if reason is not None and not (isinstance(reason, str) and len(reason) <= _REASON_CHARS):
        problems.append(("reason", f"must be text of at most {_REASON_CHARS} characters"))
    if problems:
        raise InputError("; ".join(f"{path}: {text}" for path, text in problems), problems)
    return body


# --- the server -----------------------------------------------------------------------------


async def healthz(request: Request) -> Response:
    """Whether the process answers."""
    return answer_json({"status": "ok"})


async def readyz(request: Request) -> Response:
    """Whether it takes new runs."""
    draining = site_of(request).service.draining
    return answer_json({"status": "draining" if draining else "ready"}, 503 if draining else 200)


async def openapi(request: Request) -> Response:
    """What the caller may call, as OpenAPI 3.1."""
    return answer_json(describe(visible_workflows(request), root=request.scope.get("root_path", "")))


_POST: Final = ("POST",)
OWN_ROUTES: Final = (
    HttpRoute(path="/healthz", endpoint=healthz, public=True),
    HttpRoute(path="/readyz", endpoint=readyz, public=True),
    HttpRoute(path="/openapi.json", endpoint=openapi),
    HttpRoute(path="/api/workflows", endpoint=list_workflows),
    HttpRoute(path="/api/workflows/{name}/runs", endpoint=start_run, methods=_POST),
    HttpRoute(path="/api/runs", endpoint=list_runs),
    HttpRoute(path="/api/runs/{id}", endpoint=show_run),
    HttpRoute(path="/api/runs/{id}/events", endpoint=follow_run),
    HttpRoute(path="/api/runs/{id}/abort", endpoint=abort_run, methods=_POST),
    HttpRoute(path="/api/agents/runs", endpoint=list_loops, scope="agent:observe"),
    HttpRoute(path="/api/agents/runs/{id}", endpoint=show_loop, scope="agent:observe"),
    HttpRoute(path="/api/agents/runs/{id}/trace", endpoint=trace_loop, scope="agent:observe"),
    HttpRoute(path="/api/agents/runs/{id}/pause", endpoint=pause_loop, methods=_POST, scope="agent:control"),
    HttpRoute(path="/api/agents/runs/{id}/resume", endpoint=resume_loop, methods=_POST, scope="agent:control"),
    HttpRoute(path="/api/agents/runs/{id}/steer", endpoint=steer_loop, methods=_POST, scope="agent:control"),
    HttpRoute(path="/api/agents/runs/{id}/abort", endpoint=abort_loop, methods=_POST, scope="agent:control"),
)
