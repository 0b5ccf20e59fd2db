"""Log lines of the engine and of libraries, on stderr: one short line each, or everything with `--debug`."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Collection
from typing import Final, TextIO

import click

from tuvl_cli.output import shown, styled

__all__ = ["HANDLER", "StderrHandler", "log_everything", "set_up_logging"]

_LONGEST: Final = 400
_INSTALLED: Final = ("site-packages", "dist-packages")
_COLORS: Final = {"warning": "yellow", "error": "red", "critical": "red"}


class StderrHandler(logging.Handler):
    """Writes records to whatever `sys.stderr` is at the time, so that a live view can stand below them.

    Attributes:
        debug: Whether to show records as a whole, with tracebacks.
        secrets: Texts that never show; a run's own set can be put here.
    """

    def __init__(self) -> None:
        super().__init__()
        self.debug = False
        self.secrets: Collection[str] = ()
        self._whole = logging.Formatter("%(asctime)s %(levelname)-7s %(name)s: %(message)s")

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record; nothing that goes wrong here reaches who logged it."""
        try:
            from tuvl_core import scrub

            head, text = ("", self._whole.format(record)) if self.debug else _line(record)
            click.echo(head + shown(scrub(text, list(self.secrets))), err=True)
        except Exception:
            return


def _line(record: logging.LogRecord) -> tuple[str, str]:
    text = record.getMessage()
    error = record.exc_info[1] if record.exc_info else None
    if error is not None:
        text = f"{text} ({type(error).__name__}: {error})"
    text = " ".join(text.split())
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}…"
    level = record.levelname.lower()
    return f"{styled(level, _COLORS.get(level))}: ", text


HANDLER: Final = StderrHandler()


def set_up_logging() -> None:
    """Send warnings to stderr, Python's own among them."""
    logging.getLogger().addHandler(HANDLER)
    warnings.showwarning = _show_warning


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    # What installed packages say about each other's insides is nothing a user of tuvl can act on.
    if HANDLER.debug or not any(part in filename for part in _INSTALLED):
        logging.getLogger("py.warnings").warning("%s:%d: %s: %s", filename, lineno, category.__name__, message)


def log_everything() -> None:
    """Show everything that tuvl itself logs.

    Libraries stay at warnings even then: their debug lines hold headers and bodies.
    """
    HANDLER.debug = True
    logging.getLogger("tuvl").setLevel(logging.DEBUG)
