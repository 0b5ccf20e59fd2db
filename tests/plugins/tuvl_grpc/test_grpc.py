"""Runs over gRPC: a real server on a real socket, and the client that the commands use."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from tuvl_core import (
    App,
    BusyError,
    DeniedError,
    Directive,
    Gate,
    InputError,
    Plugins,
    Principal,
    RunService,
    TuvlError,
    UnauthenticatedError,
    UnknownRunError,
    load_project,
)
from tuvl_grpc.client import connect
from tuvl_grpc.listener import GrpcListener
from tuvl_grpc.proto import runs_pb2, runs_pb2_grpc

NODES = """
import asyncio

from tuvl_core import DeniedError, Principal, StepKind, StepResult, hookimpl

TUVL_API = 1
ODD = "a\\nb\\r\\nc\\rd\\u2028e\\u0085f\\x0bg\\nevent: x\\n"


class Wait(StepKind):
    name = "t.Wait"

    async def run(self, call):
        try:
            await asyncio.sleep(60)
        finally:
            call.run.app.resources.setdefault("ended", []).append(call.run.id)


class Say(StepKind):
    name = "t.Say"

    async def run(self, call):
        return StepResult(writes={"said": ODD})


class Turns(StepKind):
    name = "t.Turns"
    progress_channel = "agent_progress"

    async def run(self, call):
        loop = call.open_loop(iteration=0)
        steered = []
        try:
            while True:
                loop.metadata["iteration"] += 1
                if loop.touched:
                    found = await loop.checkpoint()
                    steered += found.steer
                    if found.aborted is not None:
                        return StepResult(writes={"why": found.aborted, "steered": steered})
                await asyncio.sleep(0.002)
        finally:
            loop.close()


class Keys:
    async def authenticate(self, credentials):
        scheme, _, key = credentials.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        if "/" not in key:
            raise DeniedError("the key is not known")
        tenant, subject, *scopes = key.split("/")
        return Principal(subject=subject, tenant=tenant, scopes=frozenset(scopes))


@hookimpl
def tuvl_step_kinds():
    return [Wait, Say, Turns]


@hookimpl
def tuvl_authenticate(app):
    return Keys()
"""
WORKFLOWS = """
kind: Workflow
metadata: { name: say }
spec: { input: { type: object, properties: { n: { type: integer } } }, output: said, steps: [{ id: say, kind: t.Say }] }
---
kind: Workflow
metadata: { name: wait }
spec: { steps: [{ id: wait, kind: t.Wait }] }
---
kind: Workflow
metadata: { name: turns }
spec: { steps: [{ id: turns, kind: t.Turns }] }
---
kind: Workflow
metadata: { name: broken }
spec: { steps: [{ id: x, kind: t.NoSuch }] }
"""


@pytest.fixture
def serve(tmp_path):
    @asynccontextmanager
    async def opened(settings="", *, dev=True):
        (tmp_path / "plugins").mkdir()
        (tmp_path / "plugins" / "kinds.py").write_text(NODES)
        (tmp_path / "w.yaml").write_text(WORKFLOWS)
        (tmp_path / "tuvl.toml").write_text(settings)
        project = load_project(tmp_path, plugins=Plugins.load(root=tmp_path, environ={}), environ={})
        async with App(project) as app:
            service = RunService(app, gate=Gate(app, dev=dev))
            listener = GrpcListener(service, "127.0.0.1", 0)
            assert (await listener.start()).startswith("gRPC on 127.0.0.1:")
            try:
                yield service, f"127.0.0.1:{listener.port}"
            finally:
                await listener.stop(0)

    return opened


async def until(condition):
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.005)


async def test_a_run_is_streamed_followed_and_found(serve):
    async with serve() as (service, target), connect(f"grpc://{target}", None) as client:
        events = [event async for event in client.start("say", {"n": 1}, detach=False)]
        assert [event.seq for event in events] == [1, 2, 3]
        assert events[-1].terminal
        id = events[-1].to_dict()["run_id"]
        kept = service.store.get(id).log.kept()
        assert [event.json for event in events] == [event.to_json() for event in kept]
        assert events[-1].to_dict()["result"] == "a\nb\r\nc\rd\u2028e\u0085f\x0bg\nevent: x\n"
        again = [event async for event in client.follow(id, after=1)]
        assert again == events[1:]
        found = await client.run(id)
        assert found["status"] == "completed"
        assert [item["run_id"] for item in await client.runs()] == [id]
        assert await client.abort(id, "late") is False


async def test_the_run_goes_when_its_call_is_cancelled_and_stays_when_it_is_detached(serve):
    async with serve() as (service, target), connect(target, None) as client:
        for detach in (False, True):
            stream = client.start("wait", {}, detach=detach)
            first = await anext(stream)
            id = first.to_dict()["run_id"]
            await stream.aclose()
            if not detach:
                await until(lambda: service.running == 0)
                assert service.app.resources["ended"] == [id]
                assert (await client.run(id))["status"] == "cancelled"
            else:
                assert (await client.run(id))["status"] == "running"
                assert await client.abort(id, "enough")
                await until(lambda: service.running == 0)


async def test_loops_are_listed_and_directed(serve):
    async with serve() as (service, target), connect(target, None) as client:
        live = await service.start("turns", principal=Principal.local())
        await until(lambda: len(service.app.loops))
        loops, missing = await client.loops()
        assert missing is None
        [loop] = loops
        assert loop == (await service.loops(Principal.local())).items[0] | {"iteration": loop["iteration"]}
        assert await client.direct(loop["id"], Directive(action="resume")) == "ignored"
        assert await client.direct(loop["id"], Directive(action="pause", id="p")) == "applied"
        assert await client.direct(loop["id"], Directive(action="pause", id="p")) == "repeated"
        await until(lambda: live.record.run.status == "paused")
        assert await client.direct(loop["id"], Directive(action="steer", text="be brief")) == "applied"
        assert await client.direct(loop["id"], Directive(action="resume")) == "applied"
        await until(lambda: live.record.run.status == "running")
        await asyncio.sleep(0.05)
        assert await client.direct(loop["id"], Directive(action="abort", text="enough")) == "applied"
        assert (await live.wait()).context == {"why": "enough", "steered": ["be brief"]}


async def test_each_refusal_has_its_status_and_comes_back_as_what_it_was(serve):
    async with serve("[run]\nmax_running = 1\nmax_queued = 0\n", dev=False) as (service, target):

        async def refused(token, ask):
            async with connect(target, token) as client:
                with pytest.raises(TuvlError) as caught:
                    await ask(client)
                return caught.value

        async def drain(events):
            return [event async for event in events]

        ann = "acme/ann/run:read"
        assert type(await refused(None, lambda c: c.runs())) is UnauthenticatedError
        assert type(await refused("bad", lambda c: c.runs())) is UnauthenticatedError
        assert type(await refused(ann, lambda c: c.loops())) is DeniedError
        assert type(await refused(ann, lambda c: c.run("nope"))) is UnknownRunError
        assert "no workflow 'nope'" in str(await refused(ann, lambda c: drain(c.start("nope", {}, detach=False))))
        assert type(await refused(ann, lambda c: drain(c.start("say", {"n": "x"}, detach=False)))) is InputError
        assert "t.NoSuch" in str(await refused(ann, lambda c: drain(c.start("broken", {}, detach=False))))
        live = await service.start("wait", principal=Principal(subject="ann", tenant="acme"))
        assert type(await refused(ann, lambda c: drain(c.start("say", {}, detach=False)))) is BusyError

        foreign = "evil/eve/run:read/agent:observe/agent:control"
        for ask in (
            lambda c: c.run(live.run_id),
            lambda c: drain(c.follow(live.run_id)),
            lambda c: c.abort(live.run_id, ""),
        ):
            assert type(await refused(foreign, ask)) is UnknownRunError
        pause = Directive(action="pause")
        assert type(await refused(foreign, lambda c: c.direct(f"{live.run_id}.1", pause))) is UnknownRunError
        steer = Directive(action="steer", text="")
        assert type(await refused("acme/op/agent:control", lambda c: c.direct("x.1", steer))) is InputError
        await live.left()


async def test_what_is_no_json_object_is_refused_by_name(serve):
    async with serve() as (_, target), grpc.aio.insecure_channel(target) as channel:
        stub = runs_pb2_grpc.RunsStub(channel)
        for text in ("{", "[1]", '{"n": NaN}', "[" * 100_000):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await stub.RunWorkflow(runs_pb2.RunWorkflowRequest(workflow="say", input_json=text)).read()
            assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT, text[:20]
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.ControlRun(runs_pb2.ControlRunRequest(id="x.1"))
        assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT
        assert "action" in caught.value.details()


async def test_a_request_that_is_too_large_is_refused(serve):
    async with serve("[grpc]\nmax_message_bytes = 2000\n") as (_, target), grpc.aio.insecure_channel(target) as channel:
        stub = runs_pb2_grpc.RunsStub(channel)
        text = json.dumps({"text": "x" * 5000})
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.RunWorkflow(runs_pb2.RunWorkflowRequest(workflow="say", input_json=text)).read()
        assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_the_run_s_id_comes_before_its_first_event(serve):
    async with serve() as (service, target), grpc.aio.insecure_channel(target) as channel:
        call = runs_pb2_grpc.RunsStub(channel).RunWorkflow(runs_pb2.RunWorkflowRequest(workflow="wait"))
        id = dict(await call.initial_metadata())["x-run-id"]
        assert service.store.get(id).workflow == "wait"
        call.cancel()
        await until(lambda: service.running == 0)


async def test_health_and_reflection_are_the_standard_ones(serve):
    async with serve() as (_, target), grpc.aio.insecure_channel(target) as channel:
        health = health_pb2_grpc.HealthStub(channel)
        for name in ("", "tuvl.v1.Runs"):
            answer = await health.Check(health_pb2.HealthCheckRequest(service=name))
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
        reflection = reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo(
            iter([reflection_pb2.ServerReflectionRequest(list_services="")])
        )
        names = {service.name async for answer in reflection for service in answer.list_services_response.service}
        assert "tuvl.v1.Runs" in names


async def test_nobody_there_is_said_with_what_to_do():
    async with connect("127.0.0.1:9", None) as client:
        with pytest.raises(TuvlError, match=r"127\.0\.0\.1:9.*grpc\.port"):
            await client.runs()


async def test_a_port_that_is_taken_is_said(serve):
    async with serve() as (service, _):
        import socket

        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            with pytest.raises(TuvlError, match="port is taken"):
                await GrpcListener(service, "127.0.0.1", taken.getsockname()[1]).start()


async def test_stopping_ends_calls_once_the_grace_is_over(serve):
    async with serve() as (service, target), connect(target, None) as client:
        stream = client.start("wait", {}, detach=False)
        await anext(stream)
        rest = asyncio.create_task(anext(stream))
        await service.drain(0.05)
        event = await rest
        while not event.terminal:
            event = await anext(stream)
        assert event.to_dict()["status"] == "cancelled"
        await stream.aclose()
