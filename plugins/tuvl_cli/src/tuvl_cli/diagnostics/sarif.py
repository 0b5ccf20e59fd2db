"""Findings in SARIF 2.1.0 (OASIS), which code hosts and editors read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

if TYPE_CHECKING:
    from tuvl_core import Diagnostic, Plugins

__all__ = ["sarif"]

_LEVELS: Final = {"error": "error", "warning": "warning", "info": "note"}
_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"


def sarif(found: Sequence[Diagnostic], root: Path, plugins: Plugins) -> dict[str, Any]:
    """Give the log of one run of the checks.

    Args:
        found: What they found.
        root: The project's directory; paths are given from where the command runs.
        plugins: What they were found with; they know the codes.
    """
    import tuvl_core

    codes = sorted({item.code for item in found})
    driver = {
        "name": "tuvl",
        "version": tuvl_core.__version__,
        "rules": [_rule(code, plugins) for code in codes],
    }
    results = [_result(item, codes, root) for item in found]
    # Columns count characters, as in every other form.
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(code: str, plugins: Plugins) -> dict[str, Any]:
    from tuvl_core import all_codes, rule_page

    known = all_codes(plugins).get(code)
    if known is None:  # of a plugin that reports what it has not declared
        return {"id": code}
    rule: dict[str, Any] = {
        "id": code,
        "shortDescription": {"text": known.title},
        "defaultConfiguration": {"level": _LEVELS[known.severity]},
        "properties": {"class": known.klass},
    }
    if page := rule_page(plugins, code):
        rule["help"] = {"text": page, "markdown": page}
    return rule


def _result(item: Diagnostic, codes: list[str], root: Path) -> dict[str, Any]:
    text = f"{item.message} ({item.hint})" if item.hint else item.message
    result: dict[str, Any] = {
        "ruleId": item.code,
        "ruleIndex": codes.index(item.code),
        "level": _LEVELS[item.severity],
        "message": {"text": text},
    }
    where = item.location
    if where is not None:
        region = {"startLine": where.line, "startColumn": where.column}
        path = (root / where.path).as_posix().encode("utf-8", "surrogateescape")
        artifact = {"uri": quote(path)}
        result["locations"] = [{"physicalLocation": {"artifactLocation": artifact, "region": region}}]
    if item.suppression is not None:
        result["suppressions"] = [{"kind": item.suppression.kind, "justification": item.suppression.reason}]
    return result
