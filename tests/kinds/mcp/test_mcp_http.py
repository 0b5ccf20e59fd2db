"""HTTP servers that refuse, hang and lie: what is told of them, and what is not."""

from __future__ import annotations

import json
import logging
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

TOOL = {"name": "echo", "inputSchema": {"type": "object"}}


class Handler(BaseHTTPRequestHandler):
    """Speaks just enough of the protocol, or what `server.refuse` says instead."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((body.get("method"), dict(self.headers)))
        refuse = self.server.refuse(body)
        if refuse is not None:
            return self.send(*refuse)
        if "id" not in body:
            return self.send(202, b"")
        results = {
            "initialize": {
                "protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"},
            },
            "tools/list": {"tools": [TOOL]},
            "ping": {},
            "tools/call": {"content": [{"type": "text", "text": "hello"}]},
        }  # fmt: skip
        found = results.get(body["method"])
        answer = {"result": found} if found is not None else {"error": {"code": -32601, "message": "no"}}
        return self.send(200, json.dumps({"jsonrpc": "2.0", "id": body["id"], **answer}).encode())

    def do_GET(self):
        self.send(405, b"")

    do_DELETE = do_GET

    def send(self, status, body, **headers):
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class Site:
    """A server, and the MCPServer `faults` that names it."""

    def __init__(self, calls):
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.http.seen, self.http.refuse = [], lambda body: None
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()
        self.host = f"127.0.0.1:{self.http.server_port}"
        headers = {"Authorization": "Bearer s3cr3t-1", "X-Key": "s3cr3t-2"}
        calls.document(
            "faults", transport="http", url=f"http://{self.host}/mcp?token=s3cr3t-3", headers=headers, timeout=3
        )

    def close(self):
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def site(calls):
    """A server."""
    made = Site(calls)
    yield made
    made.close()


async def test_headers_and_query_arrive_and_show_nowhere(site, calls, caplog):
    calls.bench.workflow(calls.step("echo"))
    app = await calls.bench.open()
    with caplog.at_level(logging.DEBUG):
        events = [event.to_dict() async for event in app.stream("w")]
    said = repr(events) + "".join(record.getMessage() for record in caplog.records)
    assert "hello" in said
    assert "s3cr3t" not in said
    assert all(headers["Authorization"] == "Bearer s3cr3t-1" for _, headers in site.http.seen)


@pytest.mark.parametrize("status", [401, 403, 500, 503])
async def test_a_server_that_refuses_is_named_with_its_status(site, calls, caplog, status):
    """Case O-2: what is needed to find the fault shows, the credentials do not."""
    site.http.refuse = lambda body: (status, b'{"detail": "s3cr3t-1 s3cr3t-2 s3cr3t-3 are bad"}')
    with caplog.at_level(logging.DEBUG):
        done = await calls("echo")
    assert done.signals == ["error"]
    assert str(status) in done.error and "'faults'" in done.error
    assert "s3cr3t" not in done.error + "".join(record.getMessage() for record in caplog.records)


async def test_a_call_that_is_refused_is_not_sent_again(site, calls):
    assert (await calls("echo")).signals == ["default"]
    site.http.refuse = lambda body: (500, b"oops") if body["method"] == "tools/call" else None
    site.http.seen.clear()
    done = await calls.bench.run()
    assert done.error_type == "protocol_error" and "500" in done.error
    assert [method for method, _ in site.http.seen].count("tools/call") == 1


async def test_a_bad_request_on_a_session_that_lives_is_not_sent_again(site, calls):
    assert (await calls("echo")).signals == ["default"]
    site.http.refuse = lambda body: (400, b"oops") if body["method"] == "tools/call" else None
    site.http.seen.clear()
    done = await calls.bench.run()
    assert done.error_type == "protocol_error" and "400" in done.error
    assert [method for method, _ in site.http.seen].count("tools/call") == 1


async def test_no_answer_in_time(site, calls):
    site.http.refuse = lambda body: time.sleep(2) if body["method"] == "tools/call" else None
    began = time.monotonic()
    done = await calls("echo", timeout=0.5)
    assert time.monotonic() - began < 2
    assert done.error_type == "timeout"


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"jsonrpc": "2.0"}', b"\xff"])
async def test_answers_that_are_none(site, calls, body):
    site.http.refuse = lambda request: (200, body) if request["method"] == "tools/call" else None
    began = time.monotonic()
    done = await calls("echo", timeout=5)
    assert time.monotonic() - began < 4
    assert (done.signals, done.error_type) == (["error"], "bad_response")
    assert "malformed" in done.error


async def test_redirects_to_other_servers_are_not_followed(site, calls):
    other = Site(calls)  # the document names this one now
    try:
        Handler_send = Handler.send
        other.http.refuse = lambda body: (307, b"")

        def send(self, status, body, **headers):
            if status == 307:
                headers["Location"] = f"http://{site.host}/mcp"
            Handler_send(self, status, body, **headers)

        Handler.send = send
        done = await calls("echo")
    finally:
        Handler.send = Handler_send
        other.close()
    assert done.signals == ["error"]
    assert site.http.seen == []
    assert "s3cr3t" not in done.error


async def test_a_session_that_was_idle_is_asked_for_a_sign_of_life(site, calls, monkeypatch):
    assert (await calls("echo")).signals == ["default"]
    monkeypatch.setattr("tuvl_kinds_mcp.sessions._IDLE_S", 0)
    site.http.seen.clear()
    assert (await calls.bench.run()).signals == ["default"]
    assert [method for method, _ in site.http.seen] == ["ping", "tools/call"]
    site.http.refuse = lambda body: (404, b"") if body["method"] == "ping" else None
    site.http.seen.clear()
    assert (await calls.bench.run()).signals == ["default"]
    methods = [method for method, _ in site.http.seen]
    assert methods[0] == "ping" and "initialize" in methods and methods[-1] == "tools/call"
