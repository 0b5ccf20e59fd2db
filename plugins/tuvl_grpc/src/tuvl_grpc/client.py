"""A client of `runs.proto` for commands."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, cast

import grpc

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
    wire_dumps,
)
from tuvl_grpc.proto import runs_pb2, runs_pb2_grpc

__all__ = ["GrpcClient", "connect"]

_CONNECT_S: Final = 10.0
_GONE: Final = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED)
_ERRORS: Final[dict[str, type[TuvlError]]] = {
    error.__name__: error for error in (BusyError, DeniedError, InputError, UnauthenticatedError)
}
"""What a server says by name in `tuvl-error`, and is raised here as it was raised there."""
_TRIES: Final = 5
"""How often a stream that was broken off is taken up again, where nothing came in between."""


def connect(url: str, token: str | None) -> GrpcClient:
    """Give a client for `grpc://HOST:PORT` or `HOST:PORT`."""
    return GrpcClient(url.removeprefix("grpc://"), token)


class GrpcClient:
    """Speaks to a server of tuvl over gRPC.

    Args:
        target: `HOST:PORT`.
        token: A bearer token; None: none is sent.
    """

    def __init__(self, target: str, token: str | None) -> None:
        self._target = target
        self._metadata = (("authorization", f"Bearer {token}"),) if token else ()

    async def __aenter__(self) -> GrpcClient:
        self._channel = grpc.aio.insecure_channel(self._target)
        self._stub = runs_pb2_grpc.RunsStub(self._channel)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._channel.close(None)

    async def start(self, workflow: str, input: Mapping[str, Any], *, detach: bool) -> AsyncIterator[RecordedEvent]:
        """Start a run and follow it; leaving the iteration cancels it, unless it is detached."""
        request = runs_pb2.RunWorkflowRequest(workflow=workflow, input_json=wire_dumps(dict(input)), detach=detach)
        with self._told(workflow):
            call = self._stub.RunWorkflow(request, metadata=self._metadata)
            try:
                async for event in call:
                    yield RecordedEvent(event.seq, event.type, event.json)
            finally:
                call.cancel()

    async def follow(self, run_id: str, after: int = 0) -> AsyncIterator[RecordedEvent]:
        """Follow a run from an event on; where the stream is broken off it is taken up again."""
        left = _TRIES
        while True:
            request = runs_pb2.FollowRunRequest(run_id=run_id, after=after)
            call = self._stub.FollowRun(request, metadata=self._metadata)
            try:
                with self._told(run_id):
                    async for event in call:
                        after, left = event.seq, _TRIES
                        yield RecordedEvent(event.seq, event.type, event.json)
                return
            except _Unreachable:
                left -= 1
                if left == 0:
                    raise
                await self._wait()
            finally:
                call.cancel()

    async def _wait(self) -> None:
        import asyncio

        await asyncio.sleep(0.5)

    async def runs(self) -> list[dict[str, Any]]:
        """The runs that the caller may see."""
        with self._told("runs"):
            answer = await self._stub.ListRuns(runs_pb2.ListRunsRequest(), **self._options)
        return [json.loads(run.json) for run in answer.runs]

    async def run(self, run_id: str) -> dict[str, Any]:
        """One run."""
        with self._told(run_id):
            answer = await self._stub.GetRun(runs_pb2.GetRunRequest(run_id=run_id), **self._options)
        found: dict[str, Any] = json.loads(answer.json)
        return found

    async def abort(self, run_id: str, reason: str) -> bool:
        """Cancel a run; False if it was over."""
        request = runs_pb2.ControlRunRequest(id=run_id, abort=runs_pb2.Abort(reason=reason))
        return await self._control(run_id, request) == "applied"

    async def loops(self) -> tuple[list[dict[str, Any]], str | None]:
        """The loops that the caller may see, and what could not be seen."""
        with self._told("loops"):
            answer = await self._stub.ListLoops(runs_pb2.ListLoopsRequest(), **self._options)
        return [json.loads(loop.json) for loop in answer.loops], answer.missing or None

    async def direct(self, id: str, directive: Directive) -> Applied:
        """Ask something of a loop."""
        request = runs_pb2.ControlRunRequest(id=id, directive_id=directive.id)
        match directive.action:
            case "pause":
                request.pause.SetInParent()
            case "resume":
                request.resume.SetInParent()
            case "steer":
                request.steer.message = directive.text or ""
            case _:
                request.abort.SetInParent()
                request.abort.reason, request.abort.force = directive.text or "", directive.force
        return cast("Applied", await self._control(id, request))

    async def _control(self, id: str, request: runs_pb2.ControlRunRequest) -> str:
        with self._told(id):
            answer = await self._stub.ControlRun(request, **self._options)
        return str(answer.result)

    @property
    def _options(self) -> dict[str, Any]:
        return {"metadata": self._metadata, "timeout": _CONNECT_S}

    @contextmanager
    def _told(self, id: str) -> Iterator[None]:
        """Turn a status into the error that the service raised, or into what to do."""
        try:
            yield
        except grpc.aio.AioRpcError as error:
            raise self._error(error, id) from None

    def _error(self, error: grpc.aio.AioRpcError, id: str) -> TuvlError:
        text = error.details() or error.code().name
        name = dict(error.trailing_metadata() or ()).get("tuvl-error", "")
        if name == "UnknownRunError":
            return UnknownRunError(id)
        if name in _ERRORS:
            return _ERRORS[name](text)
        if error.code() in _GONE:
            hint = "is `tuvl serve` running there, with grpc.port set?"
            return _Unreachable(f"no answer from gRPC at {self._target}: {text}; {hint}")
        return TuvlError(f"the server at {self._target} says: {text}")


class _Unreachable(TuvlError):
    """Nobody answers, or the connection broke."""
