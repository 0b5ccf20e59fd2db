"""Answers with the right number that are none: told at once, as what they are."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuvl_kinds_mcp.answers import _answered

DEEP = "[" * 400 + "]" * 400
LINES = [
    '{"jsonrpc": "2.0", "id": ID, "result": null}',
    '{"jsonrpc": "2.0", "id": ID, "result": []}',
    '{"jsonrpc": "2.0", "id": ID}',
    '{"id": ID, "result": {"content": []}}',
    '{"jsonrpc": "2.0", "id": ID, "error": "no"}',
    '[{"jsonrpc": "2.0", "id": ID, "result": {"content": []}}]',
    '{"result": {"content": [{"type": "text", "text": "\\ud800"}]}, "jsonrpc": "2.0", "id": ID}',
    '{"jsonrpc": "2.0", "id": ID, "result": {"content": [], "structuredContent": {"a": %s}}}' % DEEP,
    '{"jsonrpc": "2.0", "id": ID, "result": {"content": [], "structuredContent": {"a": %s}}}' % ("[" * 50_000),
]


@pytest.mark.parametrize("line", LINES, ids=lambda line: line[:60])
async def test_a_malformed_answer_is_told_at_once(calls, line):
    began = time.monotonic()
    done = await calls("raw", {"line": line}, timeout=60)
    assert time.monotonic() - began < 10
    assert (done.signals, done.error_type) == (["error"], "bad_response")
    assert "'faults'" in done.error and "'raw'" in done.error and "malformed" in done.error


async def test_the_session_goes_on_after_one(calls):
    steps = [
        {"id": "a", "kind": "MCP", "mcp": {"server": calls.server(), "tool": "pid"}},
        {**calls.step("raw", {"line": LINES[0]}), "id": "b", "routes": {"error": "c"}},
        {"id": "c", "kind": "MCP", "mcp": {"server": "faults", "tool": "pid"}},
    ]
    done = await calls.bench.run(*steps)
    assert done.signals == ["default", "error", "default"]
    assert done.context["a_result"] == done.context["c_result"]


async def test_a_malformed_list_of_tools(calls):
    calls.server("--odd-list")
    began = time.monotonic()
    done = await calls("say", timeout=60)
    assert time.monotonic() - began < 10
    assert (done.signals, done.error_type) == (["error"], "bad_response")
    assert "malformed" in done.error and "'faults'" in done.error and "closed" not in done.error


async def test_a_line_that_only_looks_like_an_answer_is_left_out(calls):
    line = '{"level": "info", "id": ID}\n{"jsonrpc": "2.0", "id": ID, "result": {"content": []}}'
    assert await calls.value("raw", {"line": line}) is None


@pytest.mark.parametrize("levels", [201, 480, 900])
async def test_a_text_that_is_nested_too_deeply(calls, levels):
    said = {"content": [{"type": "text", "text": "[" * levels + "]" * levels}]}
    done = await calls("say", {"result": said})
    assert (done.signals, done.error_type) == (["error"], "bad_response")
    assert "nested too deeply" in done.error
    assert done.result.status == "completed"


async def test_a_text_that_is_nested_as_deep_as_may_be(calls):
    text = "[" * 200 + "]" * 200
    done = await calls("say", {"result": {"content": [{"type": "text", "text": text}]}})
    assert json.dumps(done.result.to_dict()["context"]["call_result"]) == text


@pytest.mark.parametrize(
    ("line", "numbers"),
    [
        (b'{"jsonrpc":"2.0","id":3}', [3]),
        (b'{"result":{"id":4,"x":["id",{"id":5}]},"id":"a\\"b"}', ['a\\"b']),
        (b'[{"id":1,"result":1},{"id":2,"error":1},{"id":3}]', [1, 2]),
        (b'{"jsonrpc":"2.0","id":3,"result":{"a":"\xff', [3]),
        (b'{"jsonrpc":"2.0","id":3,"method":"ping"}', []),
        (b'{"jsonrpc":"2.0","id":null,"result":1}', []),
        (b'{"text":"\\"id\\":3,\\"result\\":1"}', []),
        (b"DEBUG id: 3", []),
    ],
)
def test_which_requests_a_line_answers(line, numbers):
    assert _answered(line) == numbers


@given(st.binary(max_size=60) | st.text('[]{}":,id1 result\\', max_size=60).map(str.encode))
def test_any_line_can_be_looked_at(line):
    found = _answered(line)
    assert all(isinstance(number, (int, str)) for number in found)
    assert len(found) <= line.count(b'"id"')


class Events(BaseHTTPRequestHandler):
    """HTTP with server-sent events of the older form."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.server.events = self.wfile
        self.tell("endpoint", "/post")
        self.server.over.wait(30)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(202)
        self.send_header("Content-Length", "0")
        self.end_headers()
        if "id" not in body:
            return
        info = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "x", "version": "1"}}
        results = {"initialize": info, "tools/list": {"tools": [{"name": "raw", "inputSchema": {"type": "object"}}]}}
        answer = {"jsonrpc": "2.0", "id": body["id"], "error": {"code": -32601, "message": "no"}}
        if found := results.get(body["method"]):
            answer = {"jsonrpc": "2.0", "id": body["id"], "result": found}
        text = json.dumps(answer)
        if body["method"] == "tools/call":
            text = body["params"]["arguments"]["line"].replace("ID", str(body["id"]))
        self.tell("message", text)

    def tell(self, event, data):
        self.server.events.write(f"event: {event}\ndata: {data}\n\n".encode())
        self.server.events.flush()

    def log_message(self, *args):
        pass


@pytest.mark.parametrize("line", [LINES[0], LINES[2], LINES[5], LINES[6]], ids=lambda line: line[:60])
async def test_malformed_events(calls, line):
    http = ThreadingHTTPServer(("127.0.0.1", 0), Events)
    http.daemon_threads, http.over = True, threading.Event()
    threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True).start()
    try:
        calls.document("faults", transport="sse", url=f"http://127.0.0.1:{http.server_port}/sse")
        began = time.monotonic()
        done = await calls("raw", {"line": line}, timeout=20)
        assert time.monotonic() - began < 8
        assert (done.signals, done.error_type) == (["error"], "bad_response"), done.error
    finally:
        http.over.set()
        http.shutdown()
        http.server_close()
