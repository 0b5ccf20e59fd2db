"""Spans and counters of a traced run."""

from __future__ import annotations

import pytest
from agent_stage import Actor, agent, answer, node, tool_call, turn

from tuvl_models import ModelError


@pytest.fixture
def spans(monkeypatch):
    """An exporter that keeps finished spans."""
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    return exporter


def tree(exporter):
    """Span names with the name of their parent."""
    found = exporter.get_finished_spans()
    names = {span.context.span_id: span.name for span in found}
    assert len({span.context.trace_id for span in found}) == 1
    return sorted((span.name, names.get(span.parent.span_id) if span.parent else None) for span in found)


async def test_spans_nest_and_say_what_the_contract_says(stage, spans):
    actor = Actor(turn(tool_call("ping", id="1"), tool_call("boom", id="2")), answer())
    scene = await stage(agent("ping", "boom") + node("ping") + node("boom"), actor=actor)
    assert (await scene.run()).signal == "resolved"
    assert tree(spans) == [
        ("autonomous_agent.iteration", "node.AutonomousAgent"),
        ("autonomous_agent.iteration", "node.AutonomousAgent"),
        ("autonomous_agent.tool_call", "autonomous_agent.iteration"),
        ("autonomous_agent.tool_call", "autonomous_agent.iteration"),
        ("chat actor", "autonomous_agent.iteration"),
        ("chat actor", "autonomous_agent.iteration"),
        ("node.AutonomousAgent", "workflow.execute"),
        ("node.Functional", "autonomous_agent.tool_call"),
        ("node.Functional", "autonomous_agent.tool_call"),
        ("workflow.execute", None),
    ]
    by_name = {}
    for span in spans.get_finished_spans():
        by_name.setdefault(span.name, []).append(dict(span.attributes))
    assert by_name["autonomous_agent.iteration"][0] == {
        "tuvl.agent.step_id": "work",
        "tuvl.agent.iteration": 1,
        "tuvl.agent.tokens_used": 10,
        "tuvl.agent.tool_calls": 2,
    }
    assert [(s["tuvl.agent.tool"], s["tuvl.agent.tool_signal"]) for s in by_name["autonomous_agent.tool_call"]] == [
        ("ping", "default"),
        ("boom", "error"),
    ]
    chat = by_name["chat actor"][0]
    assert chat["gen_ai.operation.name"] == "chat"
    assert chat["gen_ai.request.model"] == "actor"
    assert chat["gen_ai.provider.name"] == "test"
    assert chat["gen_ai.response.finish_reasons"] == ("tool_calls",)
    assert chat["gen_ai.usage.input_tokens"] == 10


async def test_spans_end_when_the_model_fails(stage, spans):
    scene = await stage(agent(), actor=Actor(ModelError("secret text", type="llm_error")))
    assert (await scene.run()).signal == "error"
    found = {span.name: span for span in spans.get_finished_spans()}
    assert found["chat actor"].attributes["error.type"] == "llm_error"
    assert "secret text" not in repr([dict(s.attributes) for s in found.values()])


async def test_counters_are_counted(stage, monkeypatch):
    from opentelemetry import metrics
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader

    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    monkeypatch.setattr(metrics, "get_meter_provider", lambda: provider)
    actor = Actor(turn(tool_call("ping", id="1"), tool_call("ping", id="2")))
    scene = await stage(agent("ping", more="token_budget: 20") + node("ping"), actor=actor)
    assert (await scene.run()).signal == "budget_exceeded"
    found = {
        metric.name: metric.data.data_points[0].value
        for resource in reader.get_metrics_data().resource_metrics
        for scope in resource.scope_metrics
        if scope.scope.name == "tuvl.agent"
        for metric in scope.metrics
    }
    assert found == {
        "tuvl.agent.iterations": 2,
        "tuvl.agent.tool_calls": 4,
        "tuvl.agent.budget_exceeded": 1,
    }
    provider.shutdown()
