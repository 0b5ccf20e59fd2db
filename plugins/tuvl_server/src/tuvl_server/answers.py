"""A run as an answer: once it is over, at once with where to find it, or event by event."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from tuvl_core import CodecError, LiveRun, Principal, RunResult, wire_dumps
from tuvl_server.problems import ClientGoneError, HttpError
from tuvl_server.site import Site, site_of
from tuvl_server.streams import EventStream

__all__ = ["answer_json", "detached", "run_and_answer"]

_BODILESS: Final = frozenset({204, 205, 304})
_NO_STORE: Final = {"cache-control": "no-store"}


def answer_json(data: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """An answer that is strict JSON."""
    return Response(wire_dumps(data).encode(), status, {**_NO_STORE, **(headers or {})}, "application/json")


def detached(request: Request) -> bool:
    """Whether the client asks by `?detach=1` that the run goes on without it.

    Raises:
        HttpError: It says something else.
    """
    given = request.query_params.get("detach", "0")
    if given not in ("0", "1"):
        raise HttpError(400, "query", "`detach` must be 1 or 0")
    return given == "1"


async def run_and_answer(
    request: Request, workflow: str, input: Mapping[str, Any], principal: Principal, *, detach: bool
) -> Response:
    """Start a run and answer in the form that the client asks for.

    The run belongs to this request: where its client goes away, it is cancelled, unless `detach` is set or the
    client asked for an answer at once.

    Raises:
        ClientGoneError: The client went away.
        TuvlError: The run does not start.
    """
    site = site_of(request)
    stream = _wants_events(request)
    later = not stream and _prefers_async(request)
    gone = asyncio.ensure_future(_disconnected(request)) if not stream else None
    try:
        live = await _start(site, gone, workflow, input, principal, detach or later)
        request.state.run_id = live.run_id
        headers = {"x-run-id": live.run_id}
        if stream:
            return EventStream(live.events(), site, owner=live, headers=headers)
        if later:
            path = f"{request.scope.get('root_path', '')}/api/runs/{live.run_id}"
            headers |= {"location": path, "preference-applied": "respond-async"}
            return answer_json(live.record.to_dict(), 202, headers)
        assert gone is not None
        return await _answer(site, live, await _end_of(live, gone), headers)
    finally:
        if gone is not None:
            gone.cancel()


def _wants_events(request: Request) -> bool:
    """Whether the client would rather have an event stream than JSON (RFC 9110, section 12.5.1)."""
    wishes: dict[str, float] = {}
    for part in ",".join(request.headers.getlist("accept")).split(","):
        kind, _, parameters = part.partition(";")
        quality = parameters.replace(" ", "").partition("q=")[2].partition(";")[0]
        wishes[kind.strip().lower()] = float(quality) if quality.replace(".", "", 1).isdecimal() else 1.0
    events = wishes.get("text/event-stream", 0.0)
    return events > 0 and events >= wishes.get("application/json", 0.0)


def _prefers_async(request: Request) -> bool:
    """`Prefer: respond-async` (RFC 7240)."""
    preferred = ",".join(request.headers.getlist("prefer"))
    return any(part.partition(";")[0].strip().lower() == "respond-async" for part in preferred.split(","))


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _start(
    site: Site,
    gone: asyncio.Future[None] | None,
    workflow: str,
    input: Mapping[str, Any],
    principal: Principal,
    detach: bool,
) -> LiveRun:
    """Start the run; who goes away while it waits for its turn gives the turn up."""
    starting = asyncio.ensure_future(site.service.start(workflow, input, principal=principal, detach=detach))
    try:
        both: set[asyncio.Future[Any]] = {starting, gone} if gone is not None else {starting}
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    finally:
        if not starting.done():
            starting.add_done_callback(_let_go)
            starting.cancel()
    if not starting.done():
        raise ClientGoneError
    return starting.result()


def _let_go(starting: asyncio.Future[LiveRun]) -> None:
    """What has begun at the very moment at which its owner went away goes as well."""
    if not starting.cancelled() and starting.exception() is None:
        starting.result().cancel("the client went away")


async def _end_of(live: LiveRun, gone: asyncio.Future[None]) -> RunResult:
    """Wait for the end; where the client goes away before, the run's fate is that of its owner."""
    waiting = asyncio.ensure_future(live.wait())
    try:
        both: set[asyncio.Future[Any]] = {waiting, gone}
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if waiting.done():
            return waiting.result()
    finally:
        if not waiting.done():
            # Shielded: the server may cut the request off as well, and the run still has to be let go.
            await asyncio.shield(live.left())
            waiting.cancel()
    raise ClientGoneError


async def _answer(site: Site, live: LiveRun, result: RunResult, headers: dict[str, str]) -> Response:
    status = _status_of(result)
    if live.record.outcome is None:
        await asyncio.sleep(0)  # the service notes the end in the loop's next round
    try:
        data = dict(live.record.outcome or result.to_dict())
    except CodecError:
        data = {}
    if result.status == "completed" and data.get("error"):
        status = 500  # its result has no form in JSON
    if result.status == "cancelled" and site.service.draining:
        status = 503
        headers = {**headers, "retry-after": "5"}
    if status in _BODILESS:
        return Response(status_code=status, headers={**_NO_STORE, **headers})
    return answer_json(data, status, headers)


def _status_of(result: RunResult) -> int:
    if result.status == "completed":
        return result.result_status
    if result.error is not None and result.error.limit == "timeout_s":
        return 504
    return 500
