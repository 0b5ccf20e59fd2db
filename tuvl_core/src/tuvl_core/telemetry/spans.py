"""Spans that end once, whatever ends the work: a return, an error, a cancellation, or being left behind.

A span knows the spans that were opened under it. Where it ends before them, the work that holds them was left
behind by a time limit or a cancellation that it does not heed: they end with it, with `error.type` `abandoned`, and
what such work opens later is no span at all. Spans of runs and requests stand for themselves: a run may outlive the
request or the step that started it.
"""

from __future__ import annotations

import contextvars
import logging
import sys
from collections.abc import Mapping, MutableMapping
from contextlib import AbstractContextManager
from typing import Any, Final, Protocol

from tuvl_core.errors import TuvlError

__all__ = ["NULL_SPAN", "NullSpan", "Span", "incoming_span", "inject_trace", "span", "trace_ids", "tracing_active"]

_INACTIVE: Final = frozenset({"ProxyTracerProvider", "NoOpTracerProvider"})
_INSTRUMENTATION: Final = "tuvl"
_BAGGAGE: Final = "baggage"
ABANDONED: Final = "abandoned"
_log = logging.getLogger("tuvl.telemetry")


class Span(Protocol):
    """What `span` gives inside its block."""

    def set_attribute(self, key: str, value: Any) -> None:
        """Say something about the work: metadata, never a value of the context."""
        ...

    def failed(self, error_type: str) -> None:
        """Say that the work failed though nothing is raised; the first that is said holds.

        Args:
            error_type: A short name out of few; it becomes `error.type`.
        """
        ...


class NullSpan:
    """Stands for a span while nobody traces."""

    __slots__ = ()

    def set_attribute(self, key: str, value: Any) -> None:
        """Do nothing."""

    def failed(self, error_type: str) -> None:
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


def span(
    name: str, attributes: Mapping[str, Any] | None = None, *, client: bool = False, own: bool = False
) -> AbstractContextManager[Any]:
    """Open a span as the current one; it ends with its block, however the block is left.

    An exception marks the span as failed by its type alone: messages may hold values.

    Args:
        name: The span's name, one out of few.
        attributes: What is known at its start.
        client: Whether it stands for a call to another system (span kind `CLIENT`).
        own: Whether its work may outlive that of the span around it.
    """
    if not tracing_active():
        return NULL_SPAN
    return _RecordingSpan(name, attributes, "CLIENT" if client else "INTERNAL", own=own)


def incoming_span(
    name: str, carrier: Mapping[str, str], attributes: Mapping[str, Any] | None = None
) -> AbstractContextManager[Any]:
    """Open the span of a request that somebody sent, under the sender's span where they told it.

    Args:
        name: The span's name, such as `POST /api/workflows/{name}/runs`.
        carrier: The request's headers, by lower-case names; `traceparent` and `tracestate` (W3C Trace Context)
            count, baggage does not.
        attributes: What is known at its start; never values of headers or bodies.
    """
    if not tracing_active():
        return NULL_SPAN
    return _RecordingSpan(name, attributes, "SERVER", own=True, carrier=carrier)


def inject_trace(carrier: MutableMapping[str, str]) -> None:
    """Write the current span into the headers of a request that is about to go out (W3C Trace Context).

    What the author of the request has set stays. Baggage is never sent: it may hold anything.
    """
    if not tracing_active():
        return
    found: dict[str, str] = {}
    try:
        from opentelemetry import propagate

        propagate.inject(found)
    except Exception:
        _trouble()
        return
    taken = {name.lower() for name in carrier}
    for name, text in found.items():
        if name.lower() not in taken and name.lower() != _BAGGAGE:
            carrier[name] = text


def trace_ids() -> dict[str, str]:
    """The ids of the current span as log lines carry them; empty where there is none."""
    if not tracing_active():
        return {}
    trace = sys.modules["opentelemetry.trace"]
    context = trace.get_current_span().get_span_context()
    if not context.is_valid:
        return {}
    return {"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"}


class _RecordingSpan(AbstractContextManager[Any]):
    """A span of the installed provider, open as the current one."""

    __slots__ = (
        "_attributes",
        "_carrier",
        "_children",
        "_failed",
        "_kind",
        "_name",
        "_over",
        "_own",
        "_parent",
        "_span",
        "_tokens",
    )

    def __init__(
        self,
        name: str,
        attributes: Mapping[str, Any] | None,
        kind: str,
        *,
        own: bool,
        carrier: Mapping[str, str] | None = None,
    ) -> None:
        self._name, self._attributes, self._kind, self._own, self._carrier = name, attributes, kind, own, carrier
        self._span: Any = None
        self._parent: _RecordingSpan | None = None
        self._children: set[_RecordingSpan] = set()
        self._tokens: list[contextvars.Token[Any]] = []
        self._failed = self._over = False

    def __enter__(self) -> _RecordingSpan:
        parent = None if self._own else _CURRENT.get()
        if parent is not None and parent._over:
            self._over = True  # left behind: nobody would ever look for it
            return self
        try:
            self._start()
        except Exception:
            self._over = True
            _trouble()
            return self
        if parent is not None:
            self._parent = parent
            parent._children.add(self)
        self._tokens.append(_CURRENT.set(self))
        return self

    def _start(self) -> None:
        from opentelemetry import context, propagate, trace

        outer = propagate.extract(self._carrier) if self._carrier is not None else None
        self._span = (
            trace.get_tracer_provider()
            .get_tracer(_INSTRUMENTATION)
            .start_span(
                self._name,
                context=outer,
                kind=trace.SpanKind[self._kind],
                attributes=dict(self._attributes or {}),
                record_exception=False,
                set_status_on_exception=False,
            )
        )
        self._tokens.append(context.attach(trace.set_span_in_context(self._span)))

    def __exit__(self, kind: Any, error: Any, trace_back: Any) -> None:
        if kind is not None:
            self.failed(_type_of(kind, error))
        while self._tokens:
            token = self._tokens.pop()
            try:
                token.var.reset(token)
            except ValueError:
                pass  # closed from another context, such as by the garbage collector: that one is not ours to set
        self._end()

    def set_attribute(self, key: str, value: Any) -> None:
        """Say something about the work."""
        if not self._over:
            self._span.set_attribute(key, value)

    def failed(self, error_type: str) -> None:
        """Mark it as failed; the first that is said holds."""
        if self._over or self._failed:
            return
        self._failed = True
        from opentelemetry.trace import Status, StatusCode

        self._span.set_attribute("error.type", error_type)
        self._span.set_status(Status(StatusCode.ERROR, error_type))

    def _end(self) -> None:
        if self._over:
            return
        for child in tuple(self._children):
            child.failed(ABANDONED)
            child._end()
        self._over = True
        if self._parent is not None:
            self._parent._children.discard(self)
        try:
            self._span.end()
        except Exception:
            _trouble()


_CURRENT: Final[contextvars.ContextVar[_RecordingSpan | None]] = contextvars.ContextVar("tuvl_span", default=None)


def _type_of(kind: type[BaseException], error: BaseException | None) -> str:
    """The short name of what was raised: our own errors bring one."""
    named = getattr(error, "type", None) if isinstance(error, TuvlError) else None
    return named if isinstance(named, str) and named else kind.__name__


def _trouble() -> None:
    """Say what is wrong with the tracer, for who looks for it."""
    _log.debug("the tracer failed", exc_info=True)
