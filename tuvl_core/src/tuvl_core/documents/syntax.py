"""What the parser complains about, said so that an author knows what to change."""

from __future__ import annotations

import re
from typing import Any, Final

from tuvl_core.diagnostics import Code, Diagnostic, Location
from tuvl_core.documents import codes
from tuvl_core.documents.nodes import excerpt

__all__ = ["syntax_diagnostic"]

_LINES: Final = re.compile(r"\r\n|\r|\n")
_UNQUOTED: Final = re.compile(r"(?:^|[:,\[-])\s*(\{\{.*)$")

# Parts of the parsers' messages (the C parser's, the pure one's), and what mostly is behind them.
_HINTS: Final = (
    ("mapping values are not allowed", "quote a value that holds `: `, or check the indentation"),
    ("undefined alias", "`*name` is an alias in YAML; quote text that starts with `*`"),
    ("second occurrence", "give each anchor (`&name`) a name of its own"),
    ("unknown escape", r"in double quotes write `\\` for a backslash, or use single quotes"),
    ("expected ',' or", "close the bracket, or quote the value"),
    ("did not find expected key", "check the indentation and the quotes of the lines above"),
    ("expected <block end>", "check the indentation and the quotes of the lines above"),
    ("expected '-'", "a list and keys cannot stand side by side: check the indentation"),
    (
        "could not find expected ':'",
        "a key needs `: ` behind it; quote text of several lines",
    ),
    ("incompatible YAML", "remove the `%YAML` line"),
)


def syntax_diagnostic(error: Exception, text: str, shown: str) -> Diagnostic:
    """Turn an error of the parser into a diagnostic at the most telling place."""
    problem = getattr(error, "problem", None) or str(error) or type(error).__name__
    context = getattr(error, "context", None)
    mark, start = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    unclosed = "end of stream" in problem and "quoted scalar" in (context or "")
    if unclosed and start is not None:
        # The end of the file says nothing; where the quote was opened does.
        message = "the quote that opens here is never closed"
        return _diagnostic(message, "close it", start, shown)
    place = mark or start
    if "nesting depth" in problem:
        return _diagnostic("brackets are nested too deep", None, place, shown, codes.TOO_LARGE)
    line = _line(text, place)
    templates = _UNQUOTED.search(line)
    if templates is not None and not _is_quoted(line, templates.start(1)):
        message = "a value that starts with `{{` must be quoted: to YAML it is a mapping"
        hint = f'write "{excerpt(templates[1])}"'
        return _diagnostic(message, hint, place, shown, codes.UNQUOTED_TEMPLATE)
    opened = ""
    if context and start is not None and mark is not None and start.line != mark.line:
        opened = f" ({context}, which starts on line {start.line + 1})"
    return _diagnostic(f"{problem}{opened}", _hint(problem, line, place), place, shown)


def _diagnostic(message: str, hint: str | None, mark: Any, shown: str, code: Code = codes.SYNTAX) -> Diagnostic:
    line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
    location = Location(path=shown, line=line, column=column)
    return Diagnostic.of(code, message, location=location, hint=hint)


def _line(text: str, mark: Any) -> str:
    if mark is None:
        return ""
    lines = _LINES.split(text)
    return lines[mark.line] if mark.line < len(lines) else ""


def _is_quoted(line: str, index: int) -> bool:
    before = line[:index]
    return before.count('"') % 2 == 1 or before.count("'") % 2 == 1


def _hint(problem: str, line: str, mark: Any) -> str | None:
    if "cannot start any token" in problem:
        at = line[mark.column : mark.column + 1] if mark is not None else ""
        if at == "\t":
            return "indent with spaces; YAML does not take tabs for it"
        return f"quote a value that starts with `{at}`" if at.strip() else "quote the value"
    if "expected ',' or" in problem and ("${" in line or "{{" in line):
        return "inside `{ }` and `[ ]`, quote text that holds braces"
    for part, hint in _HINTS:
        if part in problem:
            return hint
    return None
