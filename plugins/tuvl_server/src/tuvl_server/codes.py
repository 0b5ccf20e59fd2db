"""Codes of what can be wrong with triggers."""

from __future__ import annotations

from typing import Final

from tuvl_core import Code

__all__ = ["BAD_PATH", "CODES", "NO_INPUT", "OWN_PATH", "PUBLIC_AND_GUARDED", "TWIN", "TWO_SCHEMAS"]


def _code(number: int, severity: str, title: str) -> Code:
    return Code(code=f"TUVL-E{number:03}", severity=severity, klass="flow", title=title)  # type: ignore[arg-type]


BAD_PATH: Final = _code(1, "error", "a trigger's path that no request can have")
TWIN: Final = _code(2, "error", "two workflows are triggered by the same method and path")
OWN_PATH: Final = _code(3, "error", "a trigger's path is one of the server's own")
PUBLIC_AND_GUARDED: Final = _code(4, "error", "a public trigger of a workflow that requires a scope or group")
TWO_SCHEMAS: Final = _code(5, "error", "`trigger.input_schema` beside `spec.input`")
NO_INPUT: Final = _code(6, "error", "a name in a trigger's path that the input's schema forbids")

CODES: Final = (BAD_PATH, TWIN, OWN_PATH, PUBLIC_AND_GUARDED, TWO_SCHEMAS, NO_INPUT)
