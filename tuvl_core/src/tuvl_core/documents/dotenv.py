r"""The project's `.env`: one `NAME=value` a line.

A value may stand in single quotes (taken as it is) or double quotes (with the escapes `\n`, `\t`,
`\r`, `\"`, `\\` and `\$`), and a quoted value may have several lines. Without quotes it ends at
` #` or at the end of the line. `export ` before a name is ignored; nothing inside a value is
expanded.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from tuvl_core.diagnostics import Diagnostic, Location
from tuvl_core.documents import codes
from tuvl_core.documents.reader import decode, read_bytes

__all__ = ["load_dotenv", "parse_dotenv", "read_dotenv"]

_ENTRY: Final = r"""
    [ \t]* (?:export[ \t]+)? (?P<name>[A-Za-z_][A-Za-z0-9_]*) [ \t]* = [ \t]*
    (?: '(?P<single>[^']*)' [ \t]* (?:\#[^\n]*)?
      | "(?P<double>(?:[^"\\]|\\[\s\S])*)" [ \t]* (?:\#[^\n]*)?
      | (?P<plain>(?!['"])[^\n]*)
    ) (?:\n|\Z)
    """
_NOTHING: Final = r"[ \t]*(?:#[^\n]*)?(?:\n|\Z)"
_COMMENT: Final = r"(?:^|[ \t])#.*"
_ESCAPE: Final = r"\\([\s\S])"
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "$": "$", "\n": ""}


def read_dotenv(path: Path) -> dict[str, str]:
    """Read a `.env` file; a missing one is empty, and lines that make no sense are left out."""
    return load_dotenv(path, path.name)[0]


def load_dotenv(path: Path, shown: str) -> tuple[dict[str, str], list[Diagnostic]]:
    """Read a `.env` file and say which lines make no sense; a missing file is empty."""
    if not path.exists():
        return {}, []
    data, problem = read_bytes(path, shown)
    text = ""
    if problem is None:
        text, problem = decode(data, shown)
    if problem is not None:
        return {}, [problem]
    return parse_dotenv(text, shown)


def parse_dotenv(text: str, shown: str) -> tuple[dict[str, str], list[Diagnostic]]:
    """Read the text of a `.env` file; the last of several equal names counts."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    values: dict[str, str] = {}
    problems: list[Diagnostic] = []
    # Compiled where there is something to read: most projects have no such file.
    nothing, entry = re.compile(_NOTHING), re.compile(_ENTRY, re.VERBOSE)
    at = 0
    while at < len(text):
        if (match := nothing.match(text, at)) is None:
            match = entry.match(text, at)
            if match is None:
                problems.append(_problem(text, at, shown))
                at = _next_line(text, at)
                continue
            values[match["name"]] = _value(match)
        at = match.end()
    return values, problems


def _value(match: re.Match[str]) -> str:
    if match["single"] is not None:
        return match["single"]
    if match["double"] is not None:
        return re.sub(_ESCAPE, lambda m: _ESCAPED.get(m[1], m[0]), match["double"])
    return re.sub(_COMMENT, "", match["plain"]).strip()


def _next_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _problem(text: str, at: int, shown: str) -> Diagnostic:
    line = text.count("\n", 0, at) + 1
    return Diagnostic.of(
        codes.DOTENV,
        "this line is no `NAME=value` and is left out",
        location=Location(path=shown, line=line, column=1),
        hint="close its quotes, or start the line with `#` if it is a comment",
    )
