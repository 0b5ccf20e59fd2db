"""Exporting from the command: to a collector, to nobody who answers, and log lines as JSON."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from collector import Collector

WORKFLOW = """
kind: Workflow
metadata: { name: say }
spec: { steps: [{ id: say, kind: Response, source: word }] }
"""
OFF = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY", "all_proxy"), "")


@pytest.fixture
def command(tmp_path):
    """Runs `tuvl run say` in a project of its own, with variables."""
    (tmp_path / "say.yaml").write_text(WORKFLOW)

    def run(*arguments, **variables):
        environ = {**os.environ, **OFF, **variables}
        script = [
            str(Path(sys.executable).parent / "tuvl"),
            *(arguments or ("run", "say", "--input", '{"word": "hi"}')),
        ]
        began = time.monotonic()
        done = subprocess.run(
            script, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL
        )
        return done, time.monotonic() - began

    return run


def told(done):
    """What stands on stderr beside the steps that the command shows."""
    lines = done.stderr.splitlines()
    return [line for line in lines if line.strip() and not line.lstrip().startswith("say ")]


def dead_port():
    """A port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_an_endpoint_is_all_it_takes(command):
    with Collector() as collector:
        done, _ = command(
            OTEL_EXPORTER_OTLP_ENDPOINT=collector.url,
            OTEL_SERVICE_NAME="desk",
            OTEL_EXPORTER_OTLP_HEADERS="x-key=very%20secret",
        )
    assert done.returncode == 0, done.stderr
    assert told(done) == []
    by_name = {span.name: span for span in collector.spans}
    assert set(by_name) == {"workflow.execute", "node.Response"}
    assert by_name["node.Response"].parent_span_id == by_name["workflow.execute"].span_id
    assert collector.services == {"desk"}
    assert {metric.name for metric in collector.metrics} >= {"tuvl.runs", "tuvl.run.duration"}
    assert {seen["x-key"] for seen in collector.headers} == {"very secret"}
    assert {seen["content-type"] for seen in collector.headers} == {"application/x-protobuf"}


def test_nothing_is_exported_unasked_and_disabled_means_disabled(command):
    with Collector() as collector:
        assert command()[0].returncode == 0
        done, _ = command(OTEL_EXPORTER_OTLP_ENDPOINT=collector.url, OTEL_SDK_DISABLED="true")
        assert done.returncode == 0
        done, _ = command(
            OTEL_EXPORTER_OTLP_ENDPOINT=collector.url, OTEL_TRACES_EXPORTER="none", OTEL_METRICS_EXPORTER="none"
        )
        assert (done.returncode, told(done)) == (0, [])
    assert not collector.asked.is_set()


def test_a_collector_that_is_away_costs_one_warning(command):
    done, seconds = command(OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{dead_port()}", TUVL_OTEL_FLUSH_S="1")
    assert done.returncode == 0
    assert done.stdout.strip().endswith("hi")
    assert len(told(done)) <= 1, done.stderr
    assert "Traceback" not in done.stderr
    assert seconds < 30


def test_a_collector_that_stalls_is_left_alone(command):
    with Collector(stall=True) as collector:
        done, seconds = command(OTEL_EXPORTER_OTLP_ENDPOINT=collector.url, TUVL_OTEL_FLUSH_S="0.5")
        assert collector.asked.is_set()
    assert done.returncode == 0
    assert done.stdout.strip().endswith("hi")
    assert len(told(done)) <= 1, done.stderr
    assert seconds < 30


def test_spans_on_the_console_leave_stdout_alone(command):
    done, _ = command(
        "run",
        "say",
        "--input",
        '{"word": "hi"}',
        "--json",
        OTEL_TRACES_EXPORTER="console",
        OTEL_METRICS_EXPORTER="none",
    )
    assert json.loads(done.stdout)["result"] == "hi"
    assert [json.loads(line)["name"] for line in told(done)] == ["node.Response", "workflow.execute"]


def test_an_unknown_exporter_is_named(command):
    done, _ = command(OTEL_TRACES_EXPORTER="zipkin")
    assert "zipkin" in done.stderr
    assert "otlp, console" in done.stderr
    assert "Traceback" not in done.stderr


def test_log_lines_are_json_with_ids(command, tmp_path):
    (tmp_path / "say.yaml").write_text(
        WORKFLOW.replace("kind: Response, source: word", "kind: Functional, runner: stop")
    )
    (tmp_path / "nodes").mkdir()
    (tmp_path / "nodes" / "stop.py").write_text(
        "from tuvl_kinds_functional import node\n\n\n@node('stop')\nasync def stop(ctx):\n    raise ValueError('no')\n"
    )
    with Collector() as collector:
        done, _ = command(OTEL_EXPORTER_OTLP_ENDPOINT=collector.url, TUVL_OTEL_LOG_FORMAT="json")
    lines = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    stopped = next(line for line in lines if line["event"] == "run.stopped")
    assert stopped["step_id"] == "say"
    assert stopped["workflow"] == "say"
    assert stopped["level"] == "warning"
    assert stopped["logger"] == "tuvl.engine"
    assert stopped["timestamp"].endswith("Z")
    root = next(span for span in collector.spans if span.name == "workflow.execute")
    assert stopped["trace_id"] == root.trace_id.hex()
    assert stopped["span_id"] == root.span_id.hex()


def test_console_lines_are_for_people(command):
    done, _ = command(TUVL_OTEL_LOG_FORMAT="console")
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
