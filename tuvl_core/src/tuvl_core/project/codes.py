"""Codes of what can be wrong with documents as a whole, and with workflows and their steps."""

from __future__ import annotations

from typing import Final

from tuvl_core.diagnostics import Code

__all__ = ["CODES"]


def _code(code: str, title: str) -> Code:
    return Code(code=code, severity="error", klass="structure", title=title)


NO_KIND: Final = _code("TUVL-S020", "a document that does not say what it is")
UNKNOWN_DOCUMENT_KIND: Final = _code("TUVL-S021", "a kind of document that nothing installed knows")
BODY_OUTSIDE_SPEC: Final = _code("TUVL-S022", "a document's body stands outside `spec`")
DUPLICATE_DOCUMENT: Final = _code("TUVL-S023", "two documents of one kind, name and version")
BAD_NAME: Final = _code("TUVL-S024", "a name that cannot be one")
TWO_RESOLVERS: Final = _code("TUVL-S025", "two plugins resolve secrets of one scheme")

NO_STEPS: Final = _code("TUVL-W010", "a workflow without steps")
UNKNOWN_KIND: Final = _code("TUVL-W011", "a kind of step that nothing installed knows")
BAD_ID: Final = _code("TUVL-W012", "a step id that cannot be one")
DUPLICATE_ID: Final = _code("TUVL-W013", "two steps with the same id")
UNKNOWN_TARGET: Final = _code("TUVL-W014", "a route to a step that does not exist")

CODES: Final = (
    NO_KIND,
    UNKNOWN_DOCUMENT_KIND,
    BODY_OUTSIDE_SPEC,
    DUPLICATE_DOCUMENT,
    BAD_NAME,
    TWO_RESOLVERS,
    NO_STEPS,
    UNKNOWN_KIND,
    BAD_ID,
    DUPLICATE_ID,
    UNKNOWN_TARGET,
)
