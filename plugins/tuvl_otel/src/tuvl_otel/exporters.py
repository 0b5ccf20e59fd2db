"""Exporters that may fail: once with a warning, then in silence until it works again."""

from __future__ import annotations

import logging
from typing import Any, Final
from urllib.parse import urlsplit

from tuvl_core import log_event

__all__ = ["Patient", "quieten"]

_log: Final = logging.getLogger("tuvl.otel")
_LOUD: Final = ("opentelemetry.exporter", "opentelemetry.sdk")
_warned: Final[set[str]] = set()


class Patient:
    """Stands around an exporter of the SDK.

    Args:
        exporter: The exporter.
        what: What it exports, for people: `spans`.
    """

    def __init__(self, exporter: Any, what: str) -> None:
        self._exporter = exporter
        self._what = what
        host = urlsplit(getattr(exporter, "_endpoint", "")).netloc.rpartition("@")[2]
        self._where = host or "the collector"

    def export(self, *args: Any, **options: Any) -> Any:
        """Send a batch; what cannot be sent is dropped."""
        result = self._exporter.export(*args, **options)
        if getattr(result, "name", "") == "FAILURE" and self._where not in _warned:
            _warned.add(self._where)
            hint = "what it does not take is dropped; nothing more is said about it"
            log_event(
                _log, logging.WARNING, "otel.export_failed", {"what": self._what, "to": self._where, "hint": hint}
            )
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._exporter, name)


class _Drop(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        return False


_DROP: Final = _Drop()


def quieten() -> None:
    """Keep the SDK from writing a line, with a traceback, for each batch that it cannot send."""
    for name in list(logging.root.manager.loggerDict):
        if name.startswith(_LOUD):
            logger = logging.getLogger(name)
            if _DROP not in logger.filters:
                logger.addFilter(_DROP)
