"""Spans, metrics and structured log lines that cost nothing while nobody listens.

Spans and metrics go through `opentelemetry-api`. That package is looked at only when something else in
the process has imported it and installed a provider: whoever wants traces has done both, and everybody
else pays neither the import nor the no-op spans (9 µs each).

Log lines go through the standard library: the event's name is the message, its fields follow as
`key=value` and are attached to the record as `fields`, for formatters that write JSON.

Nothing in here raises: what is wrong with a provider, a sampler or an exporter never changes a run.
"""

from tuvl_core.telemetry.lines import log_event
from tuvl_core.telemetry.metrics import Counter, Histogram, counter, histogram, metrics_active
from tuvl_core.telemetry.spans import NULL_SPAN, NullSpan, Span, incoming_span, inject_trace, span, tracing_active

__all__ = [
    "NULL_SPAN",
    "Counter",
    "Histogram",
    "NullSpan",
    "Span",
    "counter",
    "histogram",
    "incoming_span",
    "inject_trace",
    "log_event",
    "metrics_active",
    "span",
    "tracing_active",
]
