"""Log lines, counters and spans of the kernel."""

from __future__ import annotations

import logging

from tuvl_core import counter, histogram, log_event, metrics_active


def test_fields_are_on_records_of_adapters_too(caplog):
    caplog.set_level(logging.INFO, "tuvl.test")
    adapter = logging.LoggerAdapter(logging.getLogger("tuvl.test"), {"run_id": "r1"})
    log_event(adapter, logging.INFO, "it.happened", {"n": 1})
    [record] = caplog.records
    assert (record.event, record.fields, record.run_id) == ("it.happened", {"n": 1}, "r1")
    assert record.getMessage() == "it.happened n=1"


def test_instruments_follow_the_provider(monkeypatch):
    from opentelemetry import metrics
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader

    seen, spread = counter("tuvl.test", "seen"), histogram("tuvl.test", "spread", unit="s", boundaries=(1, 2))
    seen.add(1)
    assert not metrics_active()
    for _ in range(2):
        reader = InMemoryMetricReader()
        provider = MeterProvider([reader], shutdown_on_exit=False)
        monkeypatch.setattr(metrics, "get_meter_provider", lambda provider=provider: provider)
        assert metrics_active()
        seen.add(3)
        spread.record(1.5)
        [resource] = reader.get_metrics_data().resource_metrics
        points = {item.name: item.data.data_points[0] for scope in resource.scope_metrics for item in scope.metrics}
        assert points["seen"].value == 3
        assert list(points["spread"].explicit_bounds) == [1, 2]
        provider.shutdown()
