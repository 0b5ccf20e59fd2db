"""Lines on a terminal that shows colours. Imported only where there is one: rich takes 50 ms."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import IO

from rich.console import Console
from rich.text import Text

from tuvl_cli.diagnostics.text import Line

__all__ = ["ColoredLines"]


class ColoredLines:
    """Writes lines with their styles.

    Args:
        stream: The terminal.
    """

    def __init__(self, stream: IO[str]) -> None:
        # Rich would ask the standard descriptors, and stdout's is not this terminal any more.
        self._console = Console(file=stream, width=_columns(stream), highlight=False, markup=False, emoji=False)

    @property
    def width(self) -> int | None:
        """How many columns the terminal has."""
        return self._console.width

    def write(self, lines: Iterable[Line]) -> None:
        """Write lines; the terminal breaks what is wider than it is, so that it can be copied in one piece."""
        for line in lines:
            self._console.print(Text.assemble(*line), soft_wrap=True)


def _columns(stream: IO[str]) -> int | None:
    try:
        return os.get_terminal_size(stream.fileno()).columns or None
    except (OSError, ValueError):
        return None
