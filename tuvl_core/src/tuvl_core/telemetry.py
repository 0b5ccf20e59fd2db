"""Spans, counters and structured log lines that cost nothing while nobody listens.

Spans and counters go through `opentelemetry-api`. That package is looked at only when something else in
the process has imported it and installed a provider: whoever wants traces has done both, and everybody
else pays neither the import nor the no-op spans (9 µs each).

Log lines go through the standard library: the event's name is the message, its fields follow as
`key=value` and are attached to the record as `fields`, for formatters that write JSON.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, MutableMapping
from contextlib import AbstractContextManager
from typing import Any, Final, Protocol

__all__ = [
    "NULL_SPAN",
    "Counter",
    "NullSpan",
    "counter",
    "incoming_span",
    "inject_trace",
    "log_event",
    "metrics_active",
    "span",
    "tracing_active",
]

_INACTIVE: Final = frozenset({"ProxyTracerProvider", "NoOpTracerProvider"})
_INSTRUMENTATION: Final = "tuvl"


class NullSpan:
    """Stands for a span while nobody traces."""

    __slots__ = ()

    def set_attribute(self, key: str, value: Any) -> None:
        """Do nothing."""

    def set_status(self, *status: Any) -> None:
        """Do nothing."""

    def __enter__(self) -> NullSpan:
        return self

    def __exit__(self, *exc: object) -> None:
        return None


NULL_SPAN: Final = NullSpan()


def tracing_active() -> bool:
    """Whether a tracer provider that records is installed in this process."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return False
    return type(trace.get_tracer_provider()).__name__ not in _INACTIVE


def metrics_active() -> bool:
    """Whether anything in this process may collect metrics."""
    return "opentelemetry.metrics" in sys.modules


def span(name: str, attributes: Mapping[str, Any] | None = None) -> AbstractContextManager[Any]:
    """Open a span as the current one; it ends with its block, however the block is left.

    An exception marks the span as failed by its type alone: messages may hold values.
    """
    if not tracing_active():
        return NULL_SPAN
    return _RecordingSpan(name, attributes)


def incoming_span(
    name: str, carrier: Mapping[str, str], attributes: Mapping[str, Any] | None = None
) -> AbstractContextManager[Any]:
    """Open the span of a request that somebody sent, under the sender's span where they told it.

    Args:
        name: The span's name, such as `POST /api/workflows/{name}/runs`.
        carrier: The request's headers; `traceparent` and `tracestate` (W3C Trace Context) count.
        attributes: What is known at its start; never values of headers or bodies.
    """
    if not tracing_active():
        return NULL_SPAN
    from opentelemetry import propagate, trace

    options = {"context": propagate.extract(carrier), "kind": trace.SpanKind.SERVER}
    return _RecordingSpan(name, attributes, **options)


def inject_trace(carrier: MutableMapping[str, str]) -> None:
    """Write the current span into the headers of a request that is about to go out (W3C Trace Context).

    What the author of the request has set stays.
    """
    if not tracing_active():
        return
    from opentelemetry import propagate

    found: dict[str, str] = {}
    propagate.inject(found)
    taken = {name.lower() for name in carrier}
    carrier.update({name: text for name, text in found.items() if name.lower() not in taken})


class _RecordingSpan(AbstractContextManager[Any]):
    __slots__ = ("_manager", "_span")

    def __init__(self, name: str, attributes: Mapping[str, Any] | None, **options: Any) -> None:
        from opentelemetry import trace

        self._manager = trace.get_tracer(_INSTRUMENTATION).start_as_current_span(
            name,
            attributes=dict(attributes or {}),
            record_exception=False,
            set_status_on_exception=False,
            **options,
        )

    def __enter__(self) -> Any:
        self._span = self._manager.__enter__()
        return self._span

    def __exit__(self, kind: Any, error: Any, trace_back: Any) -> None:
        if kind is not None:
            from opentelemetry.trace import Status, StatusCode

            self._span.set_attribute("error.type", kind.__name__)
            self._span.set_status(Status(StatusCode.ERROR, kind.__name__))
        self._manager.__exit__(kind, error, trace_back)


class Counter(Protocol):
    """Something that counts."""

    def add(self, amount: int, attributes: Mapping[str, Any] | None = None) -> None: ...


class _LazyCounter:
    """Creates its instrument when a meter provider exists; until then adding does nothing."""

    __slots__ = ("_instrument", "_meter", "_name", "_provider")

    def __init__(self, meter: str, name: str) -> None:
        self._meter, self._name = meter, name
        self._instrument: Any = None
        self._provider: Any = None

    def add(self, amount: int, attributes: Mapping[str, Any] | None = None) -> None:
        metrics = sys.modules.get("opentelemetry.metrics")
        if metrics is None:
            return
        provider = metrics.get_meter_provider()
        if provider is not self._provider:
            self._provider = provider
            self._instrument = provider.get_meter(self._meter).create_counter(self._name)
        self._instrument.add(amount, attributes)


def counter(meter: str, name: str) -> Counter:
    """Name a counter of a meter; safe to call at import, costs nothing until metrics are collected."""
    return _LazyCounter(meter, name)


class _Fields:
    """Renders `key=value` pairs only when a handler formats the line."""

    __slots__ = ("_fields",)

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = fields

    def __str__(self) -> str:
        return " ".join(f"{key}={value}" for key, value in self._fields.items())


def log_event(
    logger: logging.Logger | logging.LoggerAdapter[Any],
    level: int,
    event: str,
    fields: Mapping[str, Any],
    *,
    exc_info: bool = False,
) -> None:
    """Write one structured line: `event key=value …`, with the fields on the record too.

    Args:
        logger: Where to.
        level: A level of the `logging` module.
        event: A stable dotted name, such as `autonomous_agent.turn`.
        fields: Metadata; never context values or secrets.
        exc_info: Whether to add the current exception.
    """
    if not logger.isEnabledFor(level):
        return
    fields = {**fields, **_trace_ids()}
    logger.log(level, "%s %s", event, _Fields(fields), extra={"fields": fields}, exc_info=exc_info)


def _trace_ids() -> dict[str, str]:
    if not tracing_active():
        return {}
    from opentelemetry import trace

    context = trace.get_current_span().get_span_context()
    if not context.is_valid:
        return {}
    return {"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"}
