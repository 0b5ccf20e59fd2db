"""Case O-1: one trace from the request to the tools' own work, and every span ends once, whatever ends the run."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from agent_stage import answer, tool_call, turn

from tuvl_core import Directive, incoming_span, inject_trace, span
from tuvl_models import ModelError


class Pages(BaseHTTPRequestHandler):
    """Answers with JSON, and notes who asked."""

    def do_GET(self):
        self.server.seen.append(dict(self.headers))
        away = getattr(self.server, "away", None)
        self.send_response(302 if away else 200)
        if away:
            self.send_header("Location", away)
        body = b'{"ok": true}'
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *args):
        pass


@pytest.fixture
def http():
    """Starts HTTP servers."""
    running = []

    def start(away=None):
        server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
        server.seen, server.away = [], away
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        running.append((server, thread))
        server.url = f"http://127.0.0.1:{server.server_address[1]}"
        return server

    yield start
    for server, thread in running:
        server.shutdown()
        server.server_close()
        thread.join()


def three_tools(shop, url, turns):
    """An agent with an HTTP, a database and an MCP tool."""
    return shop.agent(
        turns,
        {"id": "fetch", "kind": "APICall", "description": "Fetches.", "http": {"url": url, "method": "GET"}},
        {"id": "list_orders", "description": "Lists.", "model": "Order", "operation": "list"},
        {"id": "ask", "kind": "MCP", "description": "Asks.", "mcp": {"server": "echo", "tool": "trace"}},
    )


async def test_one_trace_from_the_request_to_the_tools(shop, http, spans, caplog):
    server = http()
    actor = three_tools(
        shop,
        f"{server.url}/a",
        [
            turn(tool_call("fetch", id="1"), tool_call("list_orders", id="2")),
            turn(tool_call("ask", id="3"), tool_call("fetch", id="4")),
            answer(),
        ],
    )
    app = await shop.open()
    caplog.set_level(logging.DEBUG, "tuvl")
    with span("POST /runs"):
        events = [event.to_dict() async for event in app.stream("w")]
    assert events[-1]["outcome"]["status"] == "completed" if "outcome" in events[-1] else events[-1]["status"]
    assert {item.context.trace_id for item in spans.finished} == {spans.finished[0].context.trace_id}
    assert spans.once
    loop = ["autonomous_agent.tool_call", "autonomous_agent.iteration", "node.AutonomousAgent"]
    above = [*loop, "workflow.execute", "POST /runs"]
    for kind, count in (("APICall", 2), ("ModelOp", 1), ("MCP", 1)):
        found = spans.named(f"node.{kind}")
        assert len(found) == count
        assert all(spans.above(item) == above for item in found)
    assert [spans.above(item)[0] for item in spans.named("GET")] == ["node.APICall"] * 2
    [asked] = spans.named("tools/call trace")
    assert spans.above(asked) == ["node.MCP", *above]
    assert not any(item.name.startswith("MCP ") for item in spans.finished)
    assert [spans.above(item)[0] for item in spans.named("chat actor")] == ["autonomous_agent.iteration"] * 3
    calls = spans.named("autonomous_agent.tool_call")
    assert [item.attributes["tuvl.agent.tool"] for item in calls] == ["fetch", "list_orders", "ask", "fetch"]

    trace_id = f"{asked.context.trace_id:032x}"
    told = [record for record in caplog.records if record.message.startswith("autonomous_agent.")]
    assert {record.fields["trace_id"] for record in told} == {trace_id}
    assert {record.run_id for record in told} == {events[0]["run_id"]}
    assert "detach" not in caplog.text
    # What went out names the span that sent it.
    sent = {seen["traceparent"] for seen in server.seen}
    assert {value[:-2] for value in sent} == {
        f"00-{trace_id}-{item.context.span_id:016x}-" for item in spans.named("GET")
    }
    assert f"00-{trace_id}-{asked.context.span_id:016x}-" in json.dumps(actor.answers())


async def test_a_started_run_stands_below_the_request_and_may_outlive_it(shop, spans):
    shop.workflow({"id": "look", "model": "Order", "operation": "list"})
    app = await shop.open()
    with incoming_span("POST", {"traceparent": f"00-{'a' * 32}-{'b' * 16}-01", "baggage": "user=7"}) as request:
        handle = await app.start("w")
        request.set_attribute("http.response.status_code", 202)
    assert (await handle.wait()).status == "completed"
    [found] = spans.named("workflow.execute")
    assert spans.above(found) == ["POST"]
    assert found.status.is_unset or found.status.is_ok
    assert f"{found.context.trace_id:032x}" == "a" * 32
    assert f"{spans.named('POST')[0].parent.span_id:016x}" == "b" * 16
    assert spans.once


async def test_a_redirect_to_another_host_learns_nothing(shop, http, spans):
    target = http()
    first = http(away=f"{target.url}/b")
    keys = {"url": f"{first.url}/a", "method": "GET", "follow_redirects": True}
    shop.workflow({"id": "go", "kind": "APICall", "http": {**keys, "headers": {"TraceParent": "mine"}}})
    assert (await shop.run()).context["go_result"] == {"ok": True}
    assert [value for name, value in first.seen[0].items() if name.lower() == "traceparent"] == ["mine"]
    assert not any(name.lower() == "traceparent" for name in target.seen[0])


def test_what_the_author_set_stays_and_baggage_never_goes(spans):
    from opentelemetry import baggage, context

    token = context.attach(baggage.set_baggage("user", "secret"))
    try:
        with span("outer"):
            headers = {"TraceParent": "mine"}
            inject_trace(headers)
            sent = {}
            inject_trace(sent)
    finally:
        context.detach(token)
    assert headers == {"TraceParent": "mine"}
    assert set(sent) == {"traceparent"}


NODES = """
import asyncio
import threading


@node("fine")
async def fine(ctx):
    return {"n": 1}


@node("thread")
def thread(ctx):
    from opentelemetry import trace
    return {"span": trace.get_current_span().get_span_context().span_id, "thread": threading.current_thread().name}


@node("boom")
async def boom(ctx):
    raise ValueError("s3cr3t-9")


@node("wait")
async def wait(ctx):
    ctx["_run"].app.resources["began"].set()
    await asyncio.sleep(1000)


@node("stubborn")
async def stubborn(ctx):
    ctx["_run"].app.resources["began"].set()
    while True:
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            if ctx["_run"].over:
                raise
"""


async def test_plain_functions_in_threads_are_in_the_trace(shop, spans):
    shop.node(NODES)
    shop.workflow({"id": "t", "kind": "Functional", "runner": "thread"})
    result = await shop.run()
    assert result.context["thread"] != threading.main_thread().name
    assert result.context["span"] == spans.named("node.Functional")[0].context.span_id


ENDINGS = {
    "completed": ("fine", None, None, None),
    "raises": ("boom", None, "ValueError", None),
    "tool times out": ("wait", None, "tool_timeout", {"tool_timeout": 0.2}),
    "tool is left behind": ("stubborn", None, "tool_timeout", {"tool_timeout": 0.2}),
    "cancelled": ("wait", "cancel", "CancelledError", None),
    "cancelled and left behind": ("stubborn", "cancel", None, None),
    "aborted by force": ("wait", "force", "CancelledError", None),
    "the reader goes": ("wait", "leave", "CancelledError", None),
}


@pytest.mark.parametrize("ending", ENDINGS)
async def test_every_span_ends_once_whatever_ends_the_run(shop, spans, ending, caplog):
    tool, how, error_type, more = ENDINGS[ending]
    shop.node(NODES)
    shop.agent(
        [turn(tool_call(tool, id="1")), answer()],
        {"id": tool, "kind": "Functional", "runner": tool, "description": "Does."},
        entries=[{"ref": tool}],
    )
    if more:
        shop.environ["TUVL_AGENT_TOOL_TIMEOUT_S"] = str(more["tool_timeout"])
    app = await shop.open()
    began = app.resources["began"] = asyncio.Event()
    if how == "leave":
        stream = app.stream("w")
        async for _ in stream:
            if began.is_set():
                break
        await stream.aclose()
    else:
        handle = await app.start("w")
        if how is not None:
            await asyncio.wait_for(began.wait(), 20)
        if how == "cancel":
            handle.cancel("enough")
        elif how == "force":
            [loop] = app.loops.visible_to(handle.run.principal.tenant)
            loop.control.apply(Directive(action="abort", text="enough", force=True, source="operator"))
        await handle.wait()
    assert spans.once, [item.name for item in spans.finished]
    assert {"workflow.execute", "node.AutonomousAgent", "node.Functional"} <= {item.name for item in spans.finished}
    [found] = spans.named("node.Functional")
    said = found.attributes.get("error.type")
    if ending == "cancelled and left behind":  # both the tool's and the run's grace are over at the same time
        assert said in ("CancelledError", "abandoned")
    else:
        assert said == error_type
    assert found.status.is_unset is (said is None)
    assert "detach" not in caplog.text
    assert "ended span" not in caplog.text
    assert "s3cr3t-9" not in spans.text()


async def test_a_step_that_never_lets_go_ends_with_its_run(shop, spans):
    shop.node(NODES)
    shop.workflow({"id": "s", "kind": "Functional", "runner": "stubborn"})
    app = await shop.open()
    app.resources["began"] = began = asyncio.Event()
    handle = await app.start("w")
    await asyncio.wait_for(began.wait(), 20)
    handle.cancel("enough")
    assert (await handle.wait()).status == "cancelled"
    assert spans.once
    [found] = spans.named("node.Functional")
    assert found.attributes["error.type"] == "abandoned"
    [run] = spans.named("workflow.execute")
    assert run.attributes["error.type"] == "cancelled"
    assert run.attributes["tuvl.run.status"] == "cancelled"


async def test_a_failing_model_is_named_by_its_type(shop, spans):
    shop.agent([ModelError("the key s3cr3t-9 is not good", type="llm_auth")])
    await shop.run()
    for name in ("chat actor", "autonomous_agent.iteration", "node.AutonomousAgent"):
        [found] = spans.named(name)
        assert found.attributes["error.type"] == "llm_auth", name
    assert "s3cr3t-9" not in spans.text()


def test_a_broken_tracer_changes_nothing(monkeypatch):
    from opentelemetry import trace

    class Broken:
        def get_tracer(self, *args):
            raise RuntimeError("no")

    monkeypatch.setattr(trace, "get_tracer_provider", Broken)
    done = []
    with span("x") as current:
        current.set_attribute("a", 1)
        current.failed("b")
        done.append("work")
    assert done == ["work"]
