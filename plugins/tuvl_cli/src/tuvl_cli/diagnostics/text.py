"""A finding for people: where, what, the line itself with a caret, and what to do.

Lines are made of spans, texts with a style, so that both forms, plain and on a terminal, say the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from tuvl_cli.output import shown

if TYPE_CHECKING:
    from tuvl_core import Diagnostic

__all__ = ["WIDEST", "Excerpts", "Line", "render_text"]

Line: TypeAlias = list[tuple[str, str]]
"""Texts, each with the name of its style in rich's words, or with an empty one."""

WIDEST: Final = 160
"""As many characters of a source line are shown at most, where nothing narrower limits them."""

_COLORS: Final = {"error": "red", "warning": "yellow", "info": "cyan"}
_NARROWEST: Final = 40


class Excerpts:
    """Lines of a project's files, each file read once.

    Args:
        root: The project's directory.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._files: dict[str, list[str]] = {}

    def line(self, path: str, number: int) -> str | None:
        """One line, or None where the file or the line cannot be read."""
        if path not in self._files:
            file = self._root / path
            try:
                text = file.read_text(encoding="utf-8-sig") if file.is_file() else ""
            except (OSError, UnicodeDecodeError):
                text = ""
            self._files[path] = text.replace("\r\n", "\n").split("\n")
        lines = self._files[path]
        return lines[number - 1] if 0 < number <= len(lines) else None


def render_text(item: Diagnostic, excerpts: Excerpts, width: int | None = None) -> Iterator[Line]:
    """One finding in up to four lines.

    Args:
        item: The finding.
        excerpts: The lines of the files that it may be about.
        width: How many columns there are, if that is known: a wider source line is shown in part.
    """
    color = _COLORS[item.severity]
    place = f"{item.location}: " if item.location else ""
    at = f" (workflow {item.workflow}, step {item.step})" if item.step else ""
    yield [
        (shown(place), "bold"),
        (item.severity, f"bold {color}"),
        (f" {item.code}", color),
        (f": {shown(item.message)}", ""),
        (shown(at), "dim"),
    ]
    yield from _excerpt(item, excerpts, color, width)
    if item.hint:
        yield [("  hint: ", "bold green"), (shown(item.hint), "")]


def _excerpt(item: Diagnostic, excerpts: Excerpts, color: str, width: int | None) -> Iterator[Line]:
    where = item.location
    source = excerpts.line(where.path, where.line) if where else None
    if where is None or source is None or not source.strip():
        return
    number = str(where.line)
    room = WIDEST if width is None else max(min(width - len(number) - 7, WIDEST), _NARROWEST)
    source, column = _window(source, where.column, room)
    lead = "".join(map(_blank, source[: column - 1]))
    text = "".join(char if char.isprintable() or char == "\t" else "\ufffd" for char in source)
    yield [(f"  {number} | ", "dim"), (text, "")]
    yield [(f"  {' ' * len(number)} | ", "dim"), (lead, ""), ("^", f"bold {color}")]


def _window(source: str, column: int, room: int) -> tuple[str, int]:
    """The part of a wide line around a column, and the column in it."""
    if len(source) <= room:
        return source, column
    start = max(min(column - 1 - room // 2, len(source) - room), 0)
    before = "…" if start else ""
    after = "…" if start + room < len(source) else ""
    return f"{before}{source[start : start + room]}{after}", column - start + len(before)


def _blank(char: str) -> str:
    """As much blank as a character is wide; a tab stays one, so that the caret stands where it should."""
    if char == "\t":
        return char
    if char.isascii():
        return " "
    from unicodedata import combining, east_asian_width

    if combining(char):
        return ""
    return "  " if east_asian_width(char) in "WF" else " "
