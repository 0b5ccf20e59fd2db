"""Places in a text: characters, lines, and the UTF-16 units that the protocol counts in."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

from lsprotocol.types import Position, Range

__all__ = ["Text"]

_BREAK: Final = re.compile(r"\r\n|\r|\n")


class Text:
    """A text and its lines.

    Args:
        text: The text.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(match.end() for match in _BREAK.finditer(text))]

    def index(self, position: Position) -> int:
        """The character at a position; the end of its line where that is shorter."""
        if position.line >= len(self._starts):
            return len(self.text)
        start = self._starts[position.line]
        units = 0
        for index, char in enumerate(self.line(position.line)):
            if units >= position.character:
                return start + index
            units += _units(char)
        return start + len(self.line(position.line))

    def position(self, index: int) -> Position:
        """The position of a character."""
        line = bisect_right(self._starts, index) - 1
        return Position(line=line, character=sum(map(_units, self.text[self._starts[line] : index])))

    def range(self, start: int, end: int) -> Range:
        """The range between two characters."""
        return Range(start=self.position(start), end=self.position(end))

    def index_of(self, line: int, column: int) -> int:
        """The character at a line and column, both from 1."""
        line = min(max(line, 1), len(self._starts))
        return min(self._starts[line - 1] + max(column, 1) - 1, len(self.text))

    def line(self, number: int) -> str:
        """A line, counted from 0, without its end."""
        end = self._starts[number + 1] if number + 1 < len(self._starts) else len(self.text)
        return self.text[self._starts[number] : end].rstrip("\r\n")

    def line_end(self, index: int) -> int:
        """Where the line of a character ends."""
        number = bisect_right(self._starts, index) - 1
        return self._starts[number] + len(self.line(number))

    def line_start(self, index: int) -> int:
        """Where the line of a character starts."""
        return self._starts[bisect_right(self._starts, index) - 1]


def _units(char: str) -> int:
    return 2 if ord(char) > 0xFFFF else 1
