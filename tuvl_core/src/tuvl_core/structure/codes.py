"""Codes of what can be wrong with a document's keys, values and references to the environment."""

from __future__ import annotations

from typing import Final

from tuvl_core.diagnostics import Code

__all__ = ["CODES"]


def _code(number: int, title: str) -> Code:
    return Code(code=f"TUVL-S{number:03}", severity="error", klass="structure", title=title)


UNKNOWN_KEY: Final = _code(1, "a key that is not known where it stands")
MISSING_KEY: Final = _code(2, "a key that must be given is missing")
WRONG_TYPE: Final = _code(3, "a value of the wrong type")
BAD_VALUE: Final = _code(4, "a value that is out of range or not among the choices")
MISSING_VARIABLE: Final = _code(5, "an environment variable is not set")
BAD_REFERENCE: Final = _code(6, "`${…}` that names no variable or secret")
BAD_TEMPLATE: Final = _code(7, "a template that cannot be compiled")
UNUSABLE_CLASS: Final = _code(8, "a plugin's class that cannot be filled from YAML")

CODES: Final = (
    UNKNOWN_KEY,
    MISSING_KEY,
    WRONG_TYPE,
    BAD_VALUE,
    MISSING_VARIABLE,
    BAD_REFERENCE,
    BAD_TEMPLATE,
    UNUSABLE_CLASS,
)
