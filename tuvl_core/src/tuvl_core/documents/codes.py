"""Codes of what can be wrong with a file as YAML."""

from __future__ import annotations

from typing import Final

from tuvl_core.diagnostics import Code, Severity

__all__ = ["CODES"]


def _code(number: int, title: str, severity: Severity = "error") -> Code:
    return Code(code=f"TUVL-Y{number:03}", severity=severity, klass="structure", title=title)


UNREADABLE: Final = _code(1, "a file cannot be read")
NOT_UTF8: Final = _code(2, "a file is not UTF-8 text")
TOO_LARGE: Final = _code(3, "a file is larger, deeper or fuller of aliases than any project needs")
SYNTAX: Final = _code(4, "a file is not YAML")
DUPLICATE_KEY: Final = _code(5, "a key is given twice")
MERGE_KEY: Final = _code(6, "`<<` is no part of YAML 1.2")
COMPLEX_KEY: Final = _code(7, "a key is not plain text")
TAG: Final = _code(8, "a tag asks for an object")
UNQUOTED_TEMPLATE: Final = _code(9, "a template needs quotes")
BAD_SCALAR: Final = _code(10, "a number is out of reach, or a value does not fit its tag")
NOT_A_MAPPING: Final = _code(11, "a document is not a mapping")
RECURSIVE: Final = _code(12, "an alias stands inside what it names")
DOTENV: Final = _code(13, "a line of `.env` is no `NAME=value`", "warning")

CODES: Final = (
    UNREADABLE,
    NOT_UTF8,
    TOO_LARGE,
    SYNTAX,
    DUPLICATE_KEY,
    MERGE_KEY,
    COMPLEX_KEY,
    TAG,
    UNQUOTED_TEMPLATE,
    BAD_SCALAR,
    NOT_A_MAPPING,
    RECURSIVE,
    DOTENV,
)
