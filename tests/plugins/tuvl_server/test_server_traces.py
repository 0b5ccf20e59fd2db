"""A request's span lies in the caller's trace, is named by its route, and holds the run."""

from __future__ import annotations

import json
import os
import subprocess
import sys

SCRIPT = """
import asyncio, json, sys
from pathlib import Path

import httpx
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

sys.path.insert(0, sys.argv[2])
from served import served

exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)


async def main():
    async with served(Path(sys.argv[1])) as (service, url), httpx.AsyncClient(base_url=url) as http:
        sent = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
        for path, accept in (("/api/ok", "application/json"), ("/api/bad?k=s3cr3t", "text/event-stream"), ("/api/bad", "*/*")):
            await http.post(path, json={"x": "s3cr3t"}, headers={**sent, "accept": accept})
    spans = [json.loads(span.to_json()) for span in exporter.get_finished_spans()]
    print(json.dumps(spans))


asyncio.run(main())
"""
WORKFLOWS = """
kind: Workflow
metadata: { name: ok }
spec: { trigger: { path: /api/ok }, steps: [{ id: s, kind: Response, source: x }] }
---
kind: Workflow
metadata: { name: bad }
spec: { trigger: { path: /api/bad }, steps: [{ id: s, kind: Response, source: y }] }
"""


def test_spans_nest_below_the_request(tmp_path):
    # In a process of its own: a tracer provider is set once and stays.
    (tmp_path / "w.yaml").write_text(WORKFLOWS)
    helpers = os.path.join(os.path.dirname(__file__), "..", "..", "helpers")
    command = [sys.executable, "-c", SCRIPT, str(tmp_path), helpers]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    spans = json.loads(done.stdout)
    requests = [span for span in spans if span["kind"] == "SpanKind.SERVER"]
    assert [span["name"] for span in requests] == ["POST /api/ok", "POST /api/bad", "POST /api/bad"]
    assert {span["parent_id"] for span in requests} == {"0xb7ad6b7169203331"}
    assert {span["context"]["trace_id"] for span in spans} == {"0x0af7651916cd43dd8448eb211c80319c"}
    assert [span["attributes"]["http.response.status_code"] for span in requests] == [200, 200, 500]
    assert [span["status"]["status_code"] for span in requests] == ["UNSET", "UNSET", "ERROR"]
    ids = {span["context"]["span_id"] for span in requests}
    runs = [span for span in spans if span["name"] == "workflow.execute"]
    assert len(runs) == 3
    assert {span["parent_id"] for span in runs} == ids
    assert "s3cr3t" not in done.stdout
