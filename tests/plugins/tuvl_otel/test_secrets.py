"""Case O-2: secrets reach no log, span, metric, event or error; what is needed to find the fault does."""

from __future__ import annotations

import json
import logging
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from agent_stage import tool_call, turn

from tuvl_models import ModelError
from tuvl_otel.logs import formatter

SECRETS = [f"s3cr3t-{number}" for number in range(1, 7)]


class Refusing(BaseHTTPRequestHandler):
    """Answers 400 and repeats what it was sent."""

    def do_GET(self):
        body = json.dumps({"you": self.headers.get("Authorization"), "path": self.path}).encode()
        self.send_response(400)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *args):
        pass


@pytest.fixture
def refusing():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield f"127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def measured(monkeypatch):
    from opentelemetry import metrics
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader

    reader = InMemoryMetricReader()
    provider = MeterProvider([reader], shutdown_on_exit=False)
    monkeypatch.setattr(metrics, "get_meter_provider", lambda: provider)
    yield lambda: reader.get_metrics_data()
    provider.shutdown()


class Lines(logging.Handler):
    """Keeps every record as the two forms of log lines show it."""

    def __init__(self):
        super().__init__()
        self.text = ""
        self.forms = [
            formatter("json"),
            formatter("console"),
            logging.Formatter("%(message)s %(fields)s", defaults={"fields": ""}),
        ]

    def emit(self, record):
        for form in self.forms:
            self.text += form.format(record) + "\n"


async def test_no_secret_is_told(shop, refusing, spans, measured):
    lines = Lines()
    root = logging.getLogger()
    own = logging.getLogger("tuvl")
    root.addHandler(lines)
    own.setLevel(logging.DEBUG)
    actor = shop.agent(
        [
            turn(tool_call("fetch", id="1"), tool_call("ask", id="2")),
            turn(tool_call("fetch", id="3"), tool_call("leak", id="4")),
            ModelError(
                f"the key {SECRETS[4]} of sk-{SECRETS[4]} is not good: Authorization: Bearer {SECRETS[4]}",
                type="llm_auth",
            ),
        ],
        {
            "id": "fetch",
            "kind": "APICall",
            "description": "Fetches.",
            "http": {
                "url": f"http://{refusing}/a?key={SECRETS[1]}",
                "method": "GET",
                "headers": {"Authorization": f"Bearer {SECRETS[0]}"},
            },
        },
        {"id": "ask", "kind": "MCP", "description": "Asks.", "mcp": {"server": "echo", "tool": "broken"}},
        {"id": "leak", "kind": "Functional", "runner": "leak", "description": "Keeps a secret of the context."},
    )
    shop.node('\n\n@node("leak")\nasync def leak(ctx):\n    return {"note": "of " + ctx["private"][:0]}\n')
    try:
        app = await shop.open()
        events = [event.to_json() async for event in app.stream("w", {"private": SECRETS[5]})]
    finally:
        root.removeHandler(lines)
        own.setLevel(logging.NOTSET)
    told = {
        "log lines": lines.text,
        "spans": spans.text(),
        "metrics": measured().to_json(),
        "progress": "\n".join(item for item in events if '"progress"' in item),
        "tool messages": json.dumps(actor.answers()),
    }
    for what, text in told.items():
        assert text, what
        for secret in SECRETS:
            assert secret not in text, (what, secret)
    for secret in SECRETS[:4]:
        assert secret not in "".join(events), secret
    # What finds the fault is there.
    assert refusing.partition(":")[0] in told["spans"]
    assert "400" in told["spans"]
    assert "400" in told["tool messages"]
    assert "autonomous_agent.tool_failed" in lines.text
    assert spans.named("tools/call broken")[0].attributes["error.type"] == "tool_error"
