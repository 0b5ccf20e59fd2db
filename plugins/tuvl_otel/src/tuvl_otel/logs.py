"""Log lines as JSON or for a console, of the records that everybody writes through the standard library."""

from __future__ import annotations

import logging
import sys
from collections.abc import Collection, MutableMapping
from typing import Any, Final, Literal

from tuvl_core import scrub

__all__ = ["LogSetup", "formatter"]

_COMMAND: Final = "tuvl_cli"


def formatter(form: Literal["json", "console"], *, colors: bool = False) -> logging.Formatter:
    """A formatter for handlers of your own: one JSON object a line, or one line for people.

    An object holds `timestamp` (ISO 8601, UTC), `level`, `logger`, `event`, the event's own fields, `run_id`,
    `step_id`, `trace_id` and `span_id` where they are known, and `exception` where there was one.

    Args:
        form: `json` or `console`.
        colors: Whether the console understands colours.
    """
    import structlog

    renderer: Any
    if form == "json":
        renderer = structlog.processors.JSONRenderer(default=str, ensure_ascii=False)
    else:
        # Not structlog's default traceback: that one shows local variables.
        plain = structlog.dev.plain_traceback
        renderer = structlog.dev.ConsoleRenderer(colors=colors, exception_formatter=plain)
    processors: list[Any] = [structlog.stdlib.ProcessorFormatter.remove_processors_meta]
    if form == "json":
        processors.append(structlog.processors.format_exc_info)
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[
            _fields,
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
        ],
        processors=[*processors, renderer],
        pass_foreign_args=False,
    )


def _fields(logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Take a record apart: its fields are keys of their own, and its text is the event's name alone."""
    record = event["_record"]
    for key in ("run_id", "step_id"):
        if hasattr(record, key):
            event[key] = getattr(record, key)
    fields = getattr(record, "fields", None)
    if isinstance(fields, dict):
        event.update({key: value for key, value in fields.items() if key not in ("event", "_record")})
        event["event"] = getattr(record, "event", event["event"])
    if "trace_id" not in event:
        event.update(_trace_ids())
    return event


def _trace_ids() -> dict[str, str]:
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return {}
    context = trace.get_current_span().get_span_context()
    if not context.is_valid:
        return {}
    return {"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"}


class _Handler(logging.Handler):
    """Writes to stderr in the place of the command's own handler."""

    def __init__(self, replaced: logging.Handler) -> None:
        super().__init__()
        self._replaced = replaced

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record without secrets; nothing that goes wrong here reaches who logged it."""
        try:
            secrets: Collection[str] = getattr(self._replaced, "secrets", ())
            sys.stderr.write(scrub(self.format(record), list(secrets)) + "\n")
            sys.stderr.flush()
        except Exception:
            return


class LogSetup:
    """The log lines of the `tuvl` command, in another form for as long as an app is open."""

    def __init__(self, ours: logging.Handler, replaced: logging.Handler, level: int | None) -> None:
        self._ours, self._replaced, self._level = ours, replaced, level

    @classmethod
    def install(cls, form: str, level: str) -> LogSetup | None:
        """Take the place of the command's handler.

        Returns:
            What undoes it; None where the process is none of the command's, or somebody else listens too: whoever
            configures logging uses `formatter`.
        """
        root = logging.getLogger()
        if len(root.handlers) != 1 or type(root.handlers[0]).__module__.partition(".")[0] != _COMMAND:
            return None
        replaced = root.handlers[0]
        ours = _Handler(replaced)
        ours.setFormatter(formatter("json" if form == "json" else "console", colors=sys.stderr.isatty()))
        root.removeHandler(replaced)
        root.addHandler(ours)
        own = logging.getLogger("tuvl")
        before = own.level if own.level == logging.NOTSET else None
        if before is not None:
            own.setLevel(level.upper())
        return cls(ours, replaced, before)

    def remove(self) -> None:
        """Put back what was there."""
        root = logging.getLogger()
        root.removeHandler(self._ours)
        root.addHandler(self._replaced)
        if self._level is not None:
            logging.getLogger("tuvl").setLevel(self._level)
