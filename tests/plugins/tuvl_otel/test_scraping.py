"""`GET /metrics`, in a process of its own: providers are set once."""

from __future__ import annotations

import os
import subprocess
import sys

SCRIPT = """
import asyncio
import sys

from opentelemetry import metrics, trace
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from tuvl_core import App, Plugins, RunService, load_project
from tuvl_otel.plugin import tuvl_http_routes

theirs = sys.argv[1] == "theirs"
if theirs:
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.trace import TracerProvider

    metrics.set_meter_provider(MeterProvider(shutdown_on_exit=False))
    trace.set_tracer_provider(TracerProvider(shutdown_on_exit=False))
before = metrics.get_meter_provider(), trace.get_tracer_provider()


async def main():
    async with App(load_project(".", plugins=Plugins.load(root="."))) as app:
        for word in ("a", "b"):
            assert (await app.run("say", {"word": word})).status == "completed"
        [route] = tuvl_http_routes(service=RunService(app))
        assert not route.public
        asgi = Starlette(routes=[Route(route.path, route.endpoint, methods=list(route.methods))])
        answer = await asyncio.to_thread(lambda: TestClient(asgi).get("/metrics"))
        if theirs:
            assert answer.status_code == 404
            assert (metrics.get_meter_provider(), trace.get_tracer_provider()) == before
        else:
            assert answer.status_code == 200
            assert answer.headers["content-type"].startswith("text/plain")
            print(answer.text)


asyncio.run(main())
"""
WORKFLOW = "kind: Workflow\nmetadata: { name: say }\nspec: { steps: [{ id: say, kind: Response, source: word }] }\n"


def scrape(tmp_path, whose):
    (tmp_path / "say.yaml").write_text(WORKFLOW)
    environ = {**os.environ, "OTEL_METRICS_EXPORTER": "prometheus"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, whose], cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_runs_are_counted_by_status_and_by_no_id(tmp_path):
    text = scrape(tmp_path, "ours")
    [line] = [line for line in text.splitlines() if line.startswith("tuvl_runs_total{")]
    assert 'tuvl_run_status="completed"' in line
    assert 'tuvl_workflow_name="say"' in line
    assert line.endswith(" 2.0")
    assert "tuvl_run_duration_seconds_count" in text
    assert "run_id" not in text


def test_providers_of_somebody_else_stay(tmp_path):
    assert scrape(tmp_path, "theirs") == ""
