"""Event streams: every character, one last frame, readers who come back, are slow, or go away."""

from __future__ import annotations

import asyncio
import json
import socket

import pytest
from served import frames

EVENTS = {"accept": "text/event-stream"}
ODD = "a\nb\r\nc\rd\u2028e\u0085f\vg\nevent: x\n\nid: 9\ndata: no\n"


async def until(condition):
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.005)


async def stream(http, path, **options):
    answer = await http.post(path, headers=EVENTS, **options)
    assert answer.headers["content-type"].startswith("text/event-stream")
    return answer.headers["x-run-id"], frames(answer.content.decode())


async def test_frames_carry_every_character(desk):
    async with desk() as (service, http):
        run_id, got = await stream(http, "/api/hello", json={"name": ODD})
        kept = service.store.get(run_id).log.kept()
        assert [frame["data"] for frame in got] == [event.to_json() for event in kept]
        assert [(frame["id"], frame["event"]) for frame in got] == [(str(e.seq), e.type) for e in kept]
        assert json.loads(got[-1]["data"])["result"] == ODD


@pytest.mark.parametrize(
    ("workflow", "status"),
    [("hello", "completed"), ("fails", "stopped"), ("late", "failed"), ("odd", "completed"), ("big", "completed")],
)
async def test_a_stream_has_one_last_frame_and_then_closes(desk, workflow, status):
    async with desk() as (service, http):
        _, got = await stream(http, f"/api/workflows/{workflow}/runs", json={"name": "x"})
        assert [frame["event"] == "run" for frame in got].count(True) == 1
        last = json.loads(got[-1]["data"])
        assert (last["type"], last["status"]) == ("run", status)


async def test_an_aborted_run_says_so_last(desk):
    async with desk() as (service, http):
        starting = asyncio.create_task(stream(http, "/api/workflows/wait/runs"))
        await until(lambda: service.running)
        [run] = (await http.get("/api/runs")).json()["runs"]
        await http.post(f"/api/runs/{run['run_id']}/abort")
        _, got = await starting
        assert json.loads(got[-1]["data"])["status"] == "cancelled"


async def test_the_run_id_comes_before_the_first_event_and_quiet_is_no_end(desk):
    async with desk("[server]\nheartbeat_s = 0.05\n") as (service, http):
        async with http.stream("POST", "/api/workflows/wait/runs", headers=EVENTS) as answer:
            assert answer.headers["x-run-id"]
            text = ""
            async with asyncio.timeout(20):
                async for chunk in answer.aiter_text():
                    text += chunk
                    if text.count("\n: still here\n") + text.startswith(": still") >= 3:
                        service.app.resources["gate"].set()
        assert [frame["event"] for frame in frames(text)] == ["step", "step", "run"]


async def test_a_reader_comes_back_where_it_was(desk):
    async with desk() as (service, http):
        run_id, got = await stream(http, "/api/hello", json={"name": "x"})
        path = f"/api/runs/{run_id}/events"
        whole = frames((await http.get(path)).text)
        assert whole == got
        assert frames((await http.get(path, headers={"last-event-id": "1"})).text) == got[1:]
        assert frames((await http.get(f"{path}?after=2")).text) == got[2:]
        assert frames((await http.get(f"{path}?after=1", headers={"last-event-id": "2"})).text) == got[2:]
        assert frames((await http.get(f"{path}?after=99")).text) == []
        for wrong in ("x", "-1", "1.5", "9" * 30):
            assert (await http.get(f"{path}?after={wrong}")).status_code == 400
        assert (await http.head(path)).content == b""


async def test_accept_with_weights_chooses(desk):
    async with desk() as (service, http):
        for accept, kind in (
            ("application/json, text/event-stream;q=0.5", "application/json"),
            ("text/event-stream, application/json;q=0.9", "text/event-stream"),
            ("text/event-stream;q=0", "application/json"),
            ("*/*", "application/json"),
        ):
            answer = await http.post("/api/hello", json={"name": "x"}, headers={"accept": accept})
            assert answer.headers["content-type"].partition(";")[0] == kind, accept


@pytest.mark.parametrize("accept", ["text/event-stream", "application/json"])
async def test_who_goes_away_takes_the_run_along(desk, accept):
    async with desk() as (service, http):
        state, before = service.app.resources, asyncio.all_tasks()
        asking = asyncio.create_task(http.post("/api/workflows/wait/runs", headers={"accept": accept}))
        await until(lambda: state["waiting"] == 1)
        [record] = service.store.list()
        asking.cancel()
        await until(lambda: record.outcome is not None)
        assert record.outcome["status"] == "cancelled"
        assert (state["cancelled"], state["waiting"], service.running) == (1, 0, 0)
        await until(lambda: not [t for t in asyncio.all_tasks() - before if t is not asking])
        again = (await http.get(f"/api/runs/{record.run_id}")).json()
        assert again["status"] == "cancelled"


@pytest.mark.parametrize("accept", ["text/event-stream", "application/json"])
@pytest.mark.parametrize("path", ["/api/kept", "/api/workflows/wait/runs?detach=1"])
async def test_a_detached_run_goes_on(desk, accept, path):
    async with desk() as (service, http):
        state = service.app.resources
        asking = asyncio.create_task(http.post(path, headers={"accept": accept}))
        await until(lambda: state["waiting"] == 1)
        asking.cancel()
        [record] = service.store.list()
        events = asyncio.create_task(http.get(f"/api/runs/{record.run_id}/events"))
        await asyncio.sleep(0.3)
        state["gate"].set()
        last = json.loads(frames((await events).text)[-1]["data"])
        assert (last["status"], state["cancelled"]) == ("completed", 0)


async def test_who_only_looks_on_takes_nothing_along(desk):
    async with desk() as (service, http):
        first = await http.post("/api/workflows/wait/runs", headers={"prefer": "respond-async"})
        path = first.headers["location"]
        looking = asyncio.create_task(http.get(f"{path}/events"))
        await asyncio.sleep(0.3)
        looking.cancel()
        await asyncio.sleep(0.2)
        assert (await http.get(path)).json()["status"] == "running"


async def test_who_leaves_the_queue_never_starts(desk):
    async with desk("[run]\nmax_running = 1\n") as (service, http):
        await http.post("/api/workflows/wait/runs", headers={"prefer": "respond-async"})
        waiting = asyncio.create_task(http.post("/api/workflows/wait/runs"))
        await until(lambda: len(service._admission._waiting) == 1)
        waiting.cancel()
        await until(lambda: not [one for one in service._admission._waiting if not one.done()])
        service.app.resources["gate"].set()
        await until(lambda: service.running == 0)
        assert (await http.post("/api/hello", json={"name": "x"})).status_code == 200
        assert len(service.store.list()) == 2


AGENT = """
import asyncio
from tuvl_core import hookimpl
from tuvl_models import ChatReply, ModelFamily, ToolCall, Usage

TUVL_API = 1
SEEN = {"models": 0, "model_cancelled": 0, "tools": 0, "tool_cancelled": 0}


class Slow:
    tool_calling = "native"

    async def complete(self, request):
        SEEN["models"] += 1
        if len(request.messages) > 4:
            try:
                await asyncio.sleep(600)
            except asyncio.CancelledError:
                SEEN["model_cancelled"] += 1
                raise
        name = "nap" if "nap" in str(request.messages[1]["content"]) else "save"
        call = ToolCall(id=f"c{SEEN['models']}", name=name, arguments='{"title": "kept?"}' if name == "save" else "{}")
        usage = Usage(prompt_tokens=1, completion_tokens=1, total_tokens=2)
        return ChatReply(content=None, finish_reason="tool_calls", tool_calls=(call,), usage=usage)


@hookimpl(optionalhook=True)
def tuvl_chat_models():
    return [ModelFamily(prefix="slow", create=lambda settings: Slow())]


@hookimpl
def tuvl_app_scope(app):
    class Scope:
        async def open(self):
            for key in SEEN:
                SEEN[key] = 0
            return {"seen": SEEN}

        async def close(self):
            pass

    return Scope()
"""
NAP = """
import asyncio
from tuvl_kinds_functional import node


@node("nap")
async def nap(ctx):
    seen = ctx["_run"].app.resources["seen"]
    seen["tools"] += 1
    try:
        await asyncio.sleep(600)
    except asyncio.CancelledError:
        seen["tool_cancelled"] += 1
        raise
"""
DESK = """
kind: ModelDefinition
metadata: { name: Note }
spec:
  tablename: notes
  fields: { id: { type: integer, primary_key: true }, title: { type: string, required: true } }
---
kind: Workflow
metadata: { name: notes }
spec: { context: [Note], output: all_result, steps: [{ id: all, kind: ModelOp, model: Note, operation: list }] }
---
kind: Workflow
metadata: { name: desk }
spec:
  context: [Note]
  steps:
    - { id: note, kind: ModelOp, model: Note, operation: create, payload: { title: first } }
    - id: work
      kind: AutonomousAgent
      agent:
        model: slow/x
        steering: "Work."
        tools: [{ ref: nap }, { ref: save }]
        outcome: { enum: [done] }
      routes: { done: END, max_iterations: END, budget_exceeded: END, aborted: END, error: END }
    - { id: nap, kind: Functional, runner: nap, description: Nap. }
    - { id: save, kind: ModelOp, model: Note, operation: create, payload: { title: "{{ title }}" }, description: Save. }
"""


@pytest.mark.parametrize("how", ["nap", "save"])
async def test_a_client_killed_mid_turn_leaves_nothing_behind(desk, tmp_path, how):
    """In a tool's nap, or in the model call after a tool that wrote: cancelled, rolled back, nothing starts any more."""
    (tmp_path / "nodes").mkdir()
    (tmp_path / "nodes" / "n.py").write_text(NAP)
    (tmp_path / "desk.yaml").write_text(DESK)
    async with desk(plugin=AGENT) as (service, http):
        seen = service.app.resources["seen"]
        assert (await http.post("/api/workflows/notes/runs")).json()["result"] == []
        before = asyncio.all_tasks()
        host, port = http.base_url.host, http.base_url.port
        reader, writer = await asyncio.open_connection(host, port)
        body = json.dumps({"how": how}).encode()
        head = (
            f"POST /api/workflows/desk/runs HTTP/1.1\r\nHost: {host}:{port}\r\nAccept: text/event-stream\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        await reader.readuntil(b"event: step")
        await until(lambda: seen["tools"] == 1 if how == "nap" else seen["models"] >= 2 and service.running)
        await asyncio.sleep(0.1)
        linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.transport.abort()  # a reset, as of a process that was killed
        record = next(item for item in service.store.list() if item.workflow == "desk")
        async with asyncio.timeout(20):
            while record.outcome is None:
                await asyncio.sleep(0.005)
        counted = dict(seen)
        assert record.outcome["status"] == "cancelled"
        assert counted["tool_cancelled"] + counted["model_cancelled"] == 1
        assert (await http.post("/api/workflows/notes/runs")).json()["result"] == []
        await until(lambda: not [t for t in asyncio.all_tasks() - before if not t.done()])
        assert dict(seen) == counted


async def test_slow_readers_lose_nothing_of_the_end_and_slow_nobody(desk):
    """Readers who take nothing until the run is over still get its last frame; another's stream goes on meanwhile."""
    async with desk("[run]\nkeep_events = 100\nkeep_bytes = 100000\n") as (service, http):
        host, port = http.base_url.host, http.base_url.port
        slow = []
        for _ in range(20):
            reader, writer = await asyncio.open_connection(host, port, limit=1024)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32768)
            request = f"POST /api/workflows/big/runs HTTP/1.1\r\nHost: {host}:{port}\r\nAccept: text/event-stream\r\n"
            writer.write(f"{request}Connection: close\r\nContent-Length: 0\r\n\r\n".encode())
            slow.append((reader, writer))
        await until(lambda: len(service.store.list()) == 20 and service.running == 0)
        assert all(record.outcome["status"] == "completed" for record in service.store.list())
        assert all(len(record.log.kept()) <= 100 for record in service.store.list())
        _, got = await stream(http, "/api/workflows/big/runs")
        assert json.loads(got[-1]["data"])["status"] == "completed"
        async with asyncio.timeout(60):
            texts = await asyncio.gather(*(reader.read(-1) for reader, _ in slow))
        for text, (_, writer) in zip(texts, slow, strict=True):
            assert '"status":"completed"' in text.decode().rpartition("event: run")[2]
            writer.close()
