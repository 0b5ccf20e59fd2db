"""Codes of what can be wrong with plugins."""

from __future__ import annotations

from typing import Final, Literal

from tuvl_core.diagnostics import Code

__all__ = ["CODES"]


def _code(
    number: int,
    title: str,
    severity: Literal["error", "warning", "info"] = "warning",
    klass: Literal["structure", "flow"] = "flow",
) -> Code:
    return Code(code=f"TUVL-P{number:03}", severity=severity, klass=klass, title=title)


FAILED: Final = _code(1, "a plugin does not load, or does not fit the hooks")
INCOMPATIBLE: Final = _code(2, "a plugin is written for another version of tuvl-core")
REPLACES: Final = _code(3, "a plugin brings a name that another plugin owns")
TWINS: Final = _code(4, "two plugins bring one name, and nothing says whose it is", "error")
MISSING: Final = _code(5, "a plugin that `require` names is not there", "error", "structure")
BAD_CHOICE: Final = _code(6, "`choose` names a plugin that does not bring the name")
UNPREFIXED: Final = _code(7, "a third-party name without a prefix of its own", "info")

CODES: Final = (FAILED, INCOMPATIBLE, REPLACES, TWINS, MISSING, BAD_CHOICE, UNPREFIXED)
