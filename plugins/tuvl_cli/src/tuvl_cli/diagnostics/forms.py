"""Findings as text, JSON, SARIF 2.1.0 and annotations of GitHub Actions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tuvl_cli.output import echo, echo_json

if TYPE_CHECKING:
    from tuvl_cli.diagnostics.text import Line
    from tuvl_core import Diagnostic, Plugins

__all__ = ["render", "summary"]


def render(
    form: str, found: Sequence[Diagnostic], files: int, root: Path, plugins: Plugins, *, notes: bool = True
) -> None:
    """Print findings in one of the forms. JSON and SARIF have those too that are suppressed, and why.

    Args:
        form: `text`, `json`, `sarif` or `github`.
        found: The findings.
        files: How many files were read.
        root: The project's directory.
        plugins: The loaded plugins.
        notes: Whether people are told what is no fault too; programs always are.
    """
    told = [item for item in found if item.suppression is None and (notes or item.severity != "info")]
    if form == "json":
        echo_json({"diagnostics": [item.to_json() for item in found], "summary": summary(found, files)})
    elif form == "sarif":
        from tuvl_cli.diagnostics.sarif import sarif

        echo_json(sarif(found, root, plugins))
    elif form == "github":
        for item in told:
            echo(_annotation(item, root))
    else:
        from tuvl_cli.diagnostics.writing import lines_out, write_findings

        out = lines_out()
        write_findings(told, root, out)
        out.write([_sentence(found, files)])


def summary(found: Sequence[Diagnostic], files: int) -> dict[str, int]:
    """How many there are, those left out that are suppressed."""
    counts = Counter(item.severity for item in found if item.suppression is None)
    return {"errors": counts["error"], "warnings": counts["warning"], "files": files}


def _sentence(found: Sequence[Diagnostic], files: int) -> Line:
    counts = summary(found, files)
    read = _counted(files, "file")
    silent = sum(item.suppression is not None for item in found)
    rest = f", {silent} suppressed" if silent else ""
    errors, warnings = counts["errors"], counts["warnings"]
    if not errors and not warnings:
        return [(f"{read}, ", ""), ("no errors, no warnings", "bold green"), (rest, "")]
    return [
        (f"{read}, ", ""),
        (_counted(errors, "error"), "bold red" if errors else ""),
        (", ", ""),
        (_counted(warnings, "warning"), "bold yellow" if warnings else ""),
        (rest, ""),
    ]


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _annotation(item: Diagnostic, root: Path) -> str:
    level = "notice" if item.severity == "info" else item.severity
    where = item.location
    place = ""
    if where is not None:
        # Annotations are placed by paths from the checkout's root, where such a job runs.
        path = (root / where.path).as_posix()
        place = f"file={_property(path)},line={where.line},col={where.column},"
    text = f"{item.message} ({item.hint})" if item.hint else item.message
    return f"::{level} {place}title={_property(item.code)}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
