"""From an offset inside a scalar's value back to the place in the file.

A scalar's value is not its source: quotes, escapes, indentation and folded lines are gone. What
both have in common, in every style, is the order of the characters that are no blanks. So the
offset is turned into "after so many such characters", and these are counted off in the source.
"""

from __future__ import annotations

import re
from typing import Any, Final

__all__ = ["line_and_column", "offset_in_source"]

_BREAK: Final = re.compile(r"\r\n|\r|\n")
_BLOCK_HEADER: Final = re.compile(r"[|>][^\r\n]*(?:\r\n|\r|\n)?")
_PROPERTIES: Final = re.compile(r"(?:[&!]\S*\s+)+")
_ESCAPE: Final = re.compile(r"\\(?:x..|u.{4}|U.{8}|\r\n|.)", re.DOTALL)
_BLANK_ESCAPES: Final = frozenset("\t\r\n tnvfrN_LP")


def line_and_column(text: str, index: int) -> tuple[int, int]:
    """Line and column, both from 1, of the character at `index`."""
    line, start = 1, 0
    for match in _BREAK.finditer(text, 0, index):
        line, start = line + 1, match.end()
    return line, index - start + 1


def offset_in_source(text: str, node: Any, offset: int) -> int:
    """The index in `text` of the character that became `node.value[offset]`."""
    index, end = node.start_mark.index, node.end_mark.index
    if (match := _PROPERTIES.match(text, index, end)) is not None:
        index = match.end()
    style = node.style or ""
    if style in ("|", ">") and (match := _BLOCK_HEADER.match(text, index, end)) is not None:
        index = match.end()
    elif style in ("'", '"'):
        index += 1
    before = sum(1 for char in node.value[:offset] if not char.isspace())
    return _after(text, index, end, style, before)


def _after(text: str, index: int, end: int, style: str, count: int) -> int:
    """Where the character stands that follows `count` non-blank ones."""
    while index < end:
        width, blank = _unit(text, index, style)
        if not blank:
            if count == 0:
                return index
            count -= 1
        index += width
    return max(index - 1, 0)


def _unit(text: str, index: int, style: str) -> tuple[int, bool]:
    """How many source characters make up the next one of the value, and whether it is blank."""
    char = text[index]
    if style == "'" and char == "'":
        return 2, False
    if style == '"' and char == "\\" and (match := _ESCAPE.match(text, index)) is not None:
        return len(match[0]), _is_blank(match[0][1:])
    return 1, char.isspace()


def _is_blank(escape: str) -> bool:
    if escape[0] in "xuU":
        return chr(int(escape[1:], 16)).isspace()
    return escape[0] in _BLANK_ESCAPES
