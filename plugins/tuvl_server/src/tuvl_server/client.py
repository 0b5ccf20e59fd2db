"""A client of the server for commands."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Final, cast

import httpx

from tuvl_core import (
    Applied,
    BusyError,
    DeniedError,
    Directive,
    InputError,
    RecordedEvent,
    TuvlError,
    UnauthenticatedError,
    UnknownRunError,
    UnknownWorkflowError,
    wire_dumps,
)
from tuvl_server.events import EventReader
from tuvl_server.problems import PREFIX

__all__ = ["HttpClient", "connect"]

_TRIES: Final = 6
"""How often a stream that was broken off is taken up again, where nothing came in between."""
_WAIT_S: Final = 0.2
_LIMITS: Final = httpx.Timeout(30.0, connect=10.0)
_QUIET_S: Final = 90.0
"""After so long without even a heartbeat a stream counts as broken."""
_ERRORS: Final[dict[str, type[TuvlError]]] = {"denied": DeniedError, "unauthenticated": UnauthenticatedError}


def connect(url: str, token: str | None) -> HttpClient:
    """Give a client for a server's URL, such as `http://127.0.0.1:8885`."""
    return HttpClient(url, token)


class HttpClient:
    """Speaks to a server of tuvl over HTTP.

    Args:
        url: Where the server is; with what a proxy puts before its paths.
        token: A bearer token; None: none is sent.
    """

    def __init__(self, url: str, token: str | None) -> None:
        self._url = url.rstrip("/")
        headers = {"authorization": f"Bearer {token}"} if token else {}
        self._http = httpx.AsyncClient(headers=headers, timeout=_LIMITS)

    async def __aenter__(self) -> HttpClient:
        await self._http.__aenter__()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._http.aclose()

    # --- runs -------------------------------------------------------------------------------

    async def start(
        self, workflow: str, input: Mapping[str, Any], *, detach: bool
    ) -> AsyncGenerator[RecordedEvent, None]:
        """Start a run and follow it; leaving the iteration cancels it, unless it is detached.

        Where the stream is broken off, the run is followed: what has become of it is told.

        Raises:
            TuvlError: The server refuses, or does not answer.
        """
        path = f"/api/workflows/{_segment(workflow)}/runs"
        request = self._http.build_request(
            "POST",
            self._url + path,
            params={"detach": "1"} if detach else {},
            content=wire_dumps(dict(input)).encode(),
            headers={"content-type": "application/json", "accept": "text/event-stream"},
            timeout=_streaming(),
        )
        run_id, after, ended = "", 0, False
        try:
            response = await self._open(request, workflow)
            run_id = response.headers.get("x-run-id", "")
            async with aclosing(_events(response)) as events:
                async for event in events:
                    after, ended = event.seq, event.terminal
                    yield event
        except httpx.TransportError as error:
            if not run_id:
                raise self._unreachable(error) from None
        if not ended and run_id:
            async with aclosing(self.follow(run_id, after)) as rest:
                async for event in rest:
                    yield event

    async def follow(self, run_id: str, after: int = 0) -> AsyncGenerator[RecordedEvent, None]:
        """Follow a run from an event on; where the stream is broken off it is taken up again.

        Raises:
            TuvlError: The server refuses, or does not answer any more.
        """
        left = _TRIES
        while True:
            request = self._http.build_request(
                "GET",
                f"{self._url}/api/runs/{_segment(run_id)}/events",
                headers={"accept": "text/event-stream", "last-event-id": str(after)},
                timeout=_streaming(),
            )
            cause: Exception | None = None
            try:
                response = await self._open(request, run_id)
                async with aclosing(_events(response)) as events:
                    async for event in events:
                        after, left = event.seq, _TRIES
                        yield event
                        if event.terminal:
                            return
            except (httpx.TransportError, BusyError) as error:
                cause = error
            left -= 1
            if left <= 0:
                raise self._unreachable(cause or TuvlError("the stream ended before the run did"))
            await asyncio.sleep(_WAIT_S * 2 ** (_TRIES - 1 - left))

    async def runs(self) -> list[dict[str, Any]]:
        """The runs that the caller may see."""
        found: list[dict[str, Any]] = (await self._ask("GET", "/api/runs", "runs"))["runs"]
        return found

    async def run(self, run_id: str) -> dict[str, Any]:
        """One run."""
        return await self._ask("GET", f"/api/runs/{_segment(run_id)}", run_id)

    async def abort(self, run_id: str, reason: str) -> bool:
        """Cancel a run; False if it was over."""
        answer = await self._ask("POST", f"/api/runs/{_segment(run_id)}/abort", run_id, {"reason": reason})
        return bool(answer["aborted"])

    # --- agents' runs -----------------------------------------------------------------------

    async def loops(self) -> tuple[list[dict[str, Any]], str | None]:
        """The loops that the caller may see, and what could not be seen."""
        answer = await self._ask("GET", "/api/agents/runs", "agents")
        return answer["runs"], answer["missing"]

    async def direct(self, id: str, directive: Directive) -> Applied:
        """Ask something of a loop."""
        body: dict[str, Any] = {"id": directive.id}
        if directive.action == "steer":
            body["message"] = directive.text
        elif directive.action == "abort":
            body |= {"force": directive.force, **({"reason": directive.text} if directive.text else {})}
        answer = await self._ask("POST", f"/api/agents/runs/{_segment(id)}/{directive.action}", id, body)
        return cast("Applied", answer["result"])

    # --- the wire ---------------------------------------------------------------------------

    async def _ask(self, method: str, path: str, id: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        try:
            response = await self._http.request(method, self._url + path, json=body)
        except httpx.TransportError as error:
            raise self._unreachable(error) from None
        if response.status_code != httpx.codes.OK:
            raise self._refusal(response, id)
        answer = _json(response)
        if answer is None:
            raise self._stranger(response)
        return answer

    async def _open(self, request: httpx.Request, id: str) -> httpx.Response:
        """Send a request whose answer is a stream.

        Raises:
            TuvlError: It is none.
        """
        response = await self._http.send(request, stream=True)
        kind = response.headers.get("content-type", "")
        if response.status_code == httpx.codes.OK and kind.startswith("text/event-stream"):
            return response
        try:
            await response.aread()
        finally:
            await response.aclose()
        if response.status_code == httpx.codes.OK:
            raise self._stranger(response)
        raise self._refusal(response, id)

    def _refusal(self, response: httpx.Response, id: str) -> TuvlError:
        """The error that the server's service raised, or what it says."""
        body = _json(response) or {}
        kind, text = str(body.get("type", "")).removeprefix(PREFIX), str(body.get("detail", ""))
        if kind == "not-found" and body.get("title") == "not found":
            workflow = response.request.url.path.startswith("/api/workflows/")
            return UnknownWorkflowError(id) if workflow else UnknownRunError(id)
        if kind == "input":
            errors = [(str(item.get("path")), str(item.get("message"))) for item in body.get("errors", ())]
            return InputError(text, errors)
        if kind in ("busy", "draining"):
            after = response.headers.get("retry-after", "1")
            wait = int(after) if after.isdecimal() else 1
            return BusyError(text, retry_after_s=wait, draining=kind == "draining")
        if kind in _ERRORS:
            return _ERRORS[kind](text)
        if text:
            return TuvlError(f"the server at {self._url} says: {text}")
        return self._stranger(response)

    def _stranger(self, response: httpx.Response) -> TuvlError:
        text = f"what answers at {self._url} is no server of tuvl: HTTP {response.status_code}"
        return TuvlError(f"{text}; is that the address of `tuvl serve`?")

    def _unreachable(self, error: Exception) -> TuvlError:
        said = str(error) or type(error).__name__
        return TuvlError(f"no answer from {self._url}: {said}; is `tuvl serve` running there?")


def _segment(text: str) -> str:
    from urllib.parse import quote

    return quote(text, safe="")


def _streaming() -> httpx.Timeout:
    return httpx.Timeout(_QUIET_S, connect=10.0)


def _json(response: httpx.Response) -> dict[str, Any] | None:
    try:
        value = json.loads(response.content)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


async def _events(response: httpx.Response) -> AsyncGenerator[RecordedEvent, None]:
    reader = EventReader()
    try:
        async for chunk in response.aiter_bytes():
            for frame in reader.feed(chunk):
                yield RecordedEvent.parse(frame.data)
    finally:
        await response.aclose()
