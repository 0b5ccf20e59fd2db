"""The calls of `runs.proto`, answered by the run service."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final, NoReturn

import grpc

from tuvl_core import (
    BusyError,
    DeniedError,
    Directive,
    InputError,
    Principal,
    ProjectError,
    RecordedEvent,
    RunService,
    StepEvent,
    TuvlError,
    UnauthenticatedError,
    UnknownRunError,
    UnknownWorkflowError,
    incoming_span,
    wire_dumps,
)
from tuvl_grpc.proto import runs_pb2, runs_pb2_grpc

__all__ = ["Runs"]

# The first that fits counts: classes before those they come from.
_STATUS: Final = (
    (UnauthenticatedError, grpc.StatusCode.UNAUTHENTICATED),
    (DeniedError, grpc.StatusCode.PERMISSION_DENIED),
    (UnknownRunError, grpc.StatusCode.NOT_FOUND),
    (UnknownWorkflowError, grpc.StatusCode.NOT_FOUND),
    (InputError, grpc.StatusCode.INVALID_ARGUMENT),
    (ProjectError, grpc.StatusCode.FAILED_PRECONDITION),
    (BusyError, grpc.StatusCode.RESOURCE_EXHAUSTED),
    (TuvlError, grpc.StatusCode.INTERNAL),
)


class Runs(runs_pb2_grpc.RunsServicer):
    """`tuvl.v1.Runs`.

    Args:
        service: What requests are handed to.
    """

    def __init__(self, service: RunService) -> None:
        self._service = service

    # protoc names methods as the .proto does.
    async def RunWorkflow(  # noqa: N802
        self, request: runs_pb2.RunWorkflowRequest, context: grpc.aio.ServicerContext
    ) -> AsyncIterator[runs_pb2.Event]:
        """Start a run and follow it to its end; it belongs to this call."""
        async with self._answering(context, "RunWorkflow") as principal:
            live = await self._service.start(
                request.workflow, _input(request.input_json), principal=principal, detach=request.detach
            )
            try:
                await context.send_initial_metadata((("x-run-id", live.run_id),))
                async for event in live.events():
                    yield _event(live.run_id, event)
            finally:
                # Cancelled or broken off: what it leaves behind is waited for, whatever is cancelled meanwhile.
                await asyncio.shield(live.left())

    async def FollowRun(  # noqa: N802
        self, request: runs_pb2.FollowRunRequest, context: grpc.aio.ServicerContext
    ) -> AsyncIterator[runs_pb2.Event]:
        """Follow a run that somebody has started."""
        async with self._answering(context, "FollowRun") as principal:
            async for event in await self._service.events(request.run_id, principal, after=request.after):
                yield _event(request.run_id, event)

    async def GetRun(  # noqa: N802
        self, request: runs_pb2.GetRunRequest, context: grpc.aio.ServicerContext
    ) -> runs_pb2.Run:
        """One run."""
        async with self._answering(context, "GetRun") as principal:
            return _run(await self._service.run(request.run_id, principal))

    async def ListRuns(  # noqa: N802
        self, request: runs_pb2.ListRunsRequest, context: grpc.aio.ServicerContext
    ) -> runs_pb2.ListRunsResponse:
        """The runs that the caller may see."""
        async with self._answering(context, "ListRuns") as principal:
            found = await self._service.runs(principal, workflow=request.workflow or None)
            return runs_pb2.ListRunsResponse(runs=map(_run, found.items), missing=found.missing or "")

    async def ListLoops(  # noqa: N802
        self, request: runs_pb2.ListLoopsRequest, context: grpc.aio.ServicerContext
    ) -> runs_pb2.ListLoopsResponse:
        """The loops that go right now."""
        async with self._answering(context, "ListLoops") as principal:
            found = await self._service.loops(principal)
            return runs_pb2.ListLoopsResponse(loops=map(_loop, found.items), missing=found.missing or "")

    async def ControlRun(  # noqa: N802
        self, request: runs_pb2.ControlRunRequest, context: grpc.aio.ServicerContext
    ) -> runs_pb2.ControlRunResponse:
        """Ask something of a loop, or abort a run."""
        async with self._answering(context, "ControlRun") as principal:
            return runs_pb2.ControlRunResponse(result=await self._control(request, principal))

    @asynccontextmanager
    async def _answering(self, context: grpc.aio.ServicerContext, method: str) -> AsyncIterator[Principal]:
        """Give the caller, inside the call's span; an error ends the call with the status that goes with it."""
        headers = _metadata(context)
        attributes = {"rpc.system.name": "grpc", "rpc.method": f"tuvl.v1.Runs/{method}"}
        with incoming_span(f"tuvl.v1.Runs/{method}", headers, attributes):
            try:
                yield await self._service.gate.admit(headers)
            except TuvlError as error:
                await _refuse(context, error)

    async def _control(self, request: runs_pb2.ControlRunRequest, principal: Principal) -> str:
        action = request.WhichOneof("action")
        if action == "abort" and "." not in request.id:
            reason = request.abort.reason or "aborted by its operator"
            return "applied" if await self._service.abort(request.id, principal, reason) else "ignored"
        data: dict[str, Any] = {"action": action}
        if request.directive_id:
            data["id"] = request.directive_id
        if action == "steer":
            data["text"] = request.steer.message
        elif action == "abort":
            data |= {"text": request.abort.reason or None, "force": request.abort.force}
        return await self._service.direct(request.id, principal, Directive.from_dict(data))


def _metadata(context: grpc.aio.ServicerContext) -> dict[str, str]:
    """The call's metadata as headers; binary ones are nobody's credentials."""
    given = context.invocation_metadata() or ()
    return {key.lower(): value for key, value in given if isinstance(value, str)}


async def _refuse(context: grpc.aio.ServicerContext, error: TuvlError) -> NoReturn:
    trailing = [("tuvl-error", type(error).__name__)]
    code = next(code for kind, code in _STATUS if isinstance(error, kind))
    if isinstance(error, BusyError):
        code = grpc.StatusCode.UNAVAILABLE if error.draining else code
        # As gRFC A6 has it: how long a client that retries should wait.
        trailing.append(("grpc-retry-pushback-ms", str(error.retry_after_s * 1000)))
    await context.abort(code, str(error), tuple(trailing))
    raise AssertionError  # abort raises


def _input(text: str) -> Any:
    if not text:
        return {}
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise InputError(f"input_json is no JSON: {error}", [("input_json", "is no JSON")]) from None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not in JSON (RFC 8259)")


def _event(run_id: str, event: StepEvent | RecordedEvent) -> runs_pb2.Event:
    return runs_pb2.Event(run_id=run_id, seq=event.seq, type=event.type, json=event.to_json())


def _run(data: dict[str, Any]) -> runs_pb2.Run:
    return runs_pb2.Run(run_id=data["run_id"], workflow=data["workflow"], status=data["status"], json=wire_dumps(data))


def _loop(data: dict[str, Any]) -> runs_pb2.Loop:
    return runs_pb2.Loop(
        id=data["id"],
        run_id=data["run_id"],
        step_id=data["step_id"],
        parent=data["parent"] or "",
        status=data["status"],
        json=wire_dumps(data),
    )
