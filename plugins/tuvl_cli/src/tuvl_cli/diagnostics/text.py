"""A finding for people: where, what, the line itself with a caret, and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from tuvl_cli.output import shown

if TYPE_CHECKING:
    from tuvl_core import Diagnostic

__all__ = ["Excerpts", "render_text"]

_COLORS: Final = {"error": "red", "warning": "yellow", "info": "cyan"}
_WIDEST: Final = 160


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


def render_text(item: Diagnostic, excerpts: Excerpts) -> str:
    """One finding in up to four lines."""
    severity = click.style(item.severity, fg=_COLORS[item.severity], bold=True)
    place = f"{item.location}: " if item.location else ""
    at = f" (workflow {item.workflow}, step {item.step})" if item.step else ""
    lines = [f"{shown(place)}{severity} {item.code}: {shown(item.message + at)}"]
    lines += _excerpt(item, excerpts)
    if item.hint:
        lines.append(shown(f"  hint: {item.hint}"))
    return "\n".join(lines)


def _excerpt(item: Diagnostic, excerpts: Excerpts) -> list[str]:
    where = item.location
    source = excerpts.line(where.path, where.line) if where else None
    if where is None or source is None or not source.strip():
        return []
    number = str(where.line)
    source, column = _window(source, where.column)
    lead = "".join(map(_blank, source[: column - 1]))
    shown = "".join(char if char.isprintable() or char == "\t" else "\ufffd" for char in source)
    return [f"  {number} | {shown}", f"  {' ' * len(number)} | {lead}{click.style('^', bold=True)}"]


def _window(source: str, column: int) -> tuple[str, int]:
    """The part of a wide line around a column, and the column in it."""
    if len(source) <= _WIDEST:
        return source, column
    start = max(min(column - 1 - _WIDEST // 2, len(source) - _WIDEST), 0)
    before = "…" if start else ""
    after = "…" if start + _WIDEST < len(source) else ""
    return f"{before}{source[start : start + _WIDEST]}{after}", column - start + len(before)


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
