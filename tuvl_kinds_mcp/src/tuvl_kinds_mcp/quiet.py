"""Keeps libraries from logging our requests: addresses, headers, arguments and results."""

from __future__ import annotations

import contextvars
import logging
from typing import Final

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
    """A copy of the current context in which the libraries stay silent."""
    context = contextvars.copy_context()
    context.run(_QUIET.set, True)
    return context
