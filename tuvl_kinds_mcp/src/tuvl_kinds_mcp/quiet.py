"""Keeps libraries from telling about our requests: addresses, headers, arguments and results.

The SDK logs them, and its spans carry the texts of errors, in which a server may repeat any secret that it was given.
In our context it does neither; the span of a call is our own, and what is sent names it.
"""

from __future__ import annotations

import contextvars
import logging
import sys
from typing import Any, Final

__all__ = ["quiet_context", "silence"]

_QUIET: Final[contextvars.ContextVar[bool]] = contextvars.ContextVar("tuvl_mcp_quiet", default=False)
_LIBRARIES: Final = ("mcp", "client", "httpx2", "httpcore2")


class _Quiet(logging.Filter):
    """Drops what is logged while we are at work; whoever uses the libraries themselves keeps their logs."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not _QUIET.get()


_FILTER: Final = _Quiet()


def silence() -> None:
    """Put the filter on every logger of the libraries: records pass only the filters of their own logger."""
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in _LIBRARIES:
            logger = logging.getLogger(name)
            if _FILTER not in logger.filters:
                logger.addFilter(_FILTER)


def quiet_context() -> contextvars.Context:
    """A copy of the current context in which the libraries stay silent, without baggage that would be sent along."""
    _make_no_spans()
    context = contextvars.copy_context()
    context.run(_be_quiet)
    return context


def _be_quiet() -> None:
    _QUIET.set(True)
    baggage = sys.modules.get("opentelemetry.baggage")
    if baggage is not None and baggage.get_all():
        from opentelemetry.context import attach

        attach(baggage.clear())


class _Tracer:
    """The SDK's tracer, which makes no spans while we are at work."""

    def __init__(self, tracer: Any) -> None:
        from opentelemetry.trace import NoOpTracer

        self._tracer, self._none = tracer, NoOpTracer()

    def start_as_current_span(self, *args: Any, **options: Any) -> Any:
        return (self._none if _QUIET.get() else self._tracer).start_as_current_span(*args, **options)


def _make_no_spans() -> None:
    """Have the SDK open no spans for our requests; those of others in this process stay."""
    from mcp.shared import _otel

    if not isinstance(_otel._tracer, _Tracer):
        _otel._tracer = _Tracer(_otel._tracer)
