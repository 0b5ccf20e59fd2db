"""The SDK's providers: one of each for the process, and none where somebody else has installed one."""

from __future__ import annotations

import logging
import os
import sys
import threading
from typing import Any, Final

from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import ConsoleMetricExporter, MetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter, SimpleSpanProcessor

from tuvl_core import PluginError, log_event
from tuvl_otel.exporters import Patient, quieten
from tuvl_otel.options import Options

__all__ = ["flush", "install", "registry"]

_log: Final = logging.getLogger("tuvl.otel")
_lock: Final = threading.Lock()
_ours: Final[list[Any]] = []
_state: Final[dict[str, Any]] = {}


def install(options: Options) -> None:
    """Install what is asked for and missing; safe to call again.

    Raises:
        PluginError: An exporter is not installed.
    """
    with _lock:
        resource = Resource.create({"service.name": options.service_name})
        if options.traces and type(trace.get_tracer_provider()).__name__ == "ProxyTracerProvider":
            trace.set_tracer_provider(_tracer_provider(options, resource))
        if options.metrics and type(metrics.get_meter_provider()).__name__ == "_ProxyMeterProvider":
            metrics.set_meter_provider(_meter_provider(options, resource))


def flush(seconds: float) -> None:
    """Send what is left. Blocks for as long as the exporter does: call it in a thread of its own."""
    for provider in tuple(_ours):
        provider.force_flush(int(seconds * 1000))


def registry() -> Any:
    """What Prometheus reads; None where metrics are not kept for it."""
    return _state.get("registry")


def _tracer_provider(options: Options, resource: Resource) -> TracerProvider:
    # At the end of the process the SDK would wait for a collector as long as that takes.
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    if "otlp" in options.traces:
        exporter = Patient(_otlp("trace_exporter", "OTLPSpanExporter", "traces", options), "spans")
        provider.add_span_processor(BatchSpanProcessor(exporter))
    if "console" in options.traces:
        # One line for each: stdout belongs to the command.
        out = ConsoleSpanExporter(out=sys.stderr, formatter=lambda span: span.to_json(indent=None) + "\n")
        provider.add_span_processor(SimpleSpanProcessor(out))
    _ours.append(provider)
    return provider


def _meter_provider(options: Options, resource: Resource) -> MeterProvider:
    readers: list[MetricReader] = []
    if "otlp" in options.metrics:
        exporter = Patient(_otlp("metric_exporter", "OTLPMetricExporter", "metrics", options), "metrics")
        readers.append(PeriodicExportingMetricReader(exporter))
    if "console" in options.metrics:
        readers.append(PeriodicExportingMetricReader(ConsoleMetricExporter(out=sys.stderr)))
    if "prometheus" in options.metrics:
        readers.append(_prometheus())
    provider = MeterProvider(readers, resource=resource, shutdown_on_exit=False)
    _ours.append(provider)
    return provider


def _prometheus() -> MetricReader:
    try:
        from opentelemetry.exporter.prometheus import PrometheusMetricReader
        from prometheus_client import CollectorRegistry
    except ImportError as error:
        raise _missing("prometheus") from error
    _state["registry"] = found = CollectorRegistry()
    reader: MetricReader = PrometheusMetricReader(registry=found)
    return reader


def _otlp(module: str, name: str, signal: str, options: Options) -> Any:
    try:
        found = __import__(f"opentelemetry.exporter.otlp.proto.http.{module}", fromlist=[name])
    except ImportError as error:
        raise _missing("otlp") from error
    quieten()
    _say_which_protocol(signal)
    # A variable for this signal alone comes before the one for all: the exporter reads it itself.
    own = os.environ.get(f"OTEL_EXPORTER_OTLP_{signal.upper()}_ENDPOINT")
    endpoint = f"{options.endpoint}/v1/{signal}" if options.endpoint and not own else None
    headers = None if os.environ.get(f"OTEL_EXPORTER_OTLP_{signal.upper()}_HEADERS") else options.headers
    return getattr(found, name)(endpoint=endpoint, headers=headers)


def _say_which_protocol(signal: str) -> None:
    asked = os.environ.get(f"OTEL_EXPORTER_OTLP_{signal.upper()}_PROTOCOL") or os.environ.get(
        "OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"
    )
    if asked != "http/protobuf":
        log_event(_log, logging.WARNING, "otel.protocol", {"signal": signal, "asked": asked, "used": "http/protobuf"})


def _missing(extra: str) -> PluginError:
    return PluginError(f"tuvl-otel: the exporter is not installed; run: pip install 'tuvl-otel[{extra}]'")
