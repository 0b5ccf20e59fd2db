"""Structured log lines."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from tuvl_core.telemetry.spans import trace_ids

__all__ = ["log_event"]


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
        logger: Where to. What an adapter adds stands on the record as it is.
        level: A level of the `logging` module.
        event: A stable dotted name, such as `autonomous_agent.turn`.
        fields: Metadata; never context values or secrets.
        exc_info: Whether to add the current exception.
    """
    if not logger.isEnabledFor(level):
        return
    fields = {**fields, **trace_ids()}
    extra: dict[str, Any] = {"event": event, "fields": fields}
    if isinstance(logger, logging.LoggerAdapter):
        # Adapters put their own `extra` in the place of one that is given, until Python 3.13.
        extra = {**(logger.extra or {}), **extra}
        logger = logger.logger
    logger.log(level, "%s %s", event, _Fields(fields), extra=extra, exc_info=exc_info)
