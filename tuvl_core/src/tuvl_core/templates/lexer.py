"""Words of an expression, read one at a time, each with its place."""

from __future__ import annotations

import re
from typing import Final

from tuvl_core.errors import TemplateError
from tuvl_core.templates.names import KEYWORDS, PATH

__all__ = ["Cursor"]

_WORD: Final = re.compile(
    rf"""
      (?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)
    | (?P<name>{PATH})
    | (?P<tail>(?:\.\w+)+)
    | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    | (?P<sign>==|!=|<=|>=|//|\*\*|&&|\|\||[-+*/%~|<>=!(){{}}\[\],:])
    """,
    re.VERBOSE | re.DOTALL,
)
_BLANKS: Final = re.compile(r"\s*")
_END: Final = "end"


class Cursor:
    """The current word of an expression and the way to the next.

    Args:
        source: The whole template.
        start: Where the expression begins.
        stop: Where it must have ended.
    """

    __slots__ = ("end", "kind", "source", "start", "stop", "text")

    def __init__(self, source: str, start: int, stop: int) -> None:
        self.source = source
        self.stop = stop
        self.end = start
        self.advance()

    def advance(self) -> None:
        """Go to the next word.

        Raises:
            TemplateError: What stands there begins no word.
        """
        start = self._skip_blanks()
        self.start = start
        if start >= self.stop:
            self.kind, self.text, self.end = _END, "", start
            return
        found = _WORD.match(self.source, start, self.stop)
        if found is None:
            raise TemplateError(self._unreadable(self.source[start]), start)
        self.kind, self.text, self.end = str(found.lastgroup), found[0], found.end()
        if self.kind == "name" and self.text in KEYWORDS:
            self.kind = "word"

    def at(self, *texts: str) -> bool:
        """Whether the current word is one of these signs or keywords."""
        return self.text in texts and self.kind in ("sign", "word")

    def skip(self, *texts: str) -> bool:
        """Go past the current word if it is one of these."""
        if not self.at(*texts):
            return False
        self.advance()
        return True

    def expect(self, text: str, what: str) -> None:
        """Go past a sign that has to be there."""
        if not self.skip(text):
            raise TemplateError(f"`{text}` is missing after {what}", self.start)

    def describe(self) -> str:
        """Name the current word for an error message."""
        return "the end of the expression" if self.kind == _END else f"`{self.text[:40]}`"

    @property
    def at_end(self) -> bool:
        """Whether there is no further word."""
        return self.kind == _END

    @property
    def at_close(self) -> bool:
        """Whether the placeholder's closing braces stand here."""
        return self.source.startswith("}}", self.start)

    def _skip_blanks(self) -> int:
        found = _BLANKS.match(self.source, self.end, self.stop)
        return found.end() if found else self.end

    def _unreadable(self, character: str) -> str:
        if character in "\"'":
            return f"a text that begins with {character} has no end"
        return f"the character {character!r} has no meaning in an expression"
