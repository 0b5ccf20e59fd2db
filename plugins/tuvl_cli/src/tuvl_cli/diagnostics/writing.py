"""Where findings for people are written: in colours on a terminal, plain everywhere else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tuvl_cli.diagnostics.text import Excerpts, Line, render_text
from tuvl_cli.output import colored_terminal, echo

if TYPE_CHECKING:
    from tuvl_core import Diagnostic

__all__ = ["Lines", "lines_out", "write_findings"]


class Lines(Protocol):
    """Something that lines are written to."""

    @property
    def width(self) -> int | None:
        """How many columns there are, if anybody knows."""

    def write(self, lines: Iterable[Line]) -> None:
        """Write lines."""


class _PlainLines:
    """Writes the texts alone."""

    width: int | None = None

    def write(self, lines: Iterable[Line]) -> None:
        for line in lines:
            echo("".join(text for text, _ in line))


def lines_out() -> Lines:
    """Give what writes to stdout in the form that fits it."""
    terminal = colored_terminal()
    if terminal is None:
        return _PlainLines()
    from tuvl_cli.diagnostics.colored import ColoredLines

    return ColoredLines(terminal)


def write_findings(found: Sequence[Diagnostic], root: Path, out: Lines) -> None:
    """Write findings, each with the line that it is about.

    Args:
        found: The findings.
        root: The project's directory.
        out: Where to.
    """
    excerpts = Excerpts(root)
    for item in found:
        out.write(render_text(item, excerpts, out.width))
