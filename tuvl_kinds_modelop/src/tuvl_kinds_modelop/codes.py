"""The codes of what can be wrong with models, data sources and ModelOp steps."""

from __future__ import annotations

from typing import Final, Literal

from tuvl_core import Code

__all__ = [
    "ALL_ROWS_TOOL",
    "BAD_FIELD",
    "BAD_RELATION",
    "BAD_SOURCE",
    "BAD_VALUE",
    "CODES",
    "IDLE_KEY",
    "NOT_NAMED",
    "NO_KEY",
    "NO_PAYLOAD",
    "NO_SOURCE",
    "OUTSIDE_CONTEXT",
    "SHARED_TABLE",
    "TENANT_FILTER",
    "UNKNOWN_FIELD",
    "UNKNOWN_MODEL",
    "UNKNOWN_REVEAL",
]


def _structure(code: str, title: str) -> Code:
    return Code(code=code, severity="error", klass="structure", title=title)


BAD_FIELD: Final = _structure("TUVL-D001", "a field of a model contradicts itself")
NO_KEY: Final = _structure("TUVL-D002", "a model has no primary key, or several")
SHARED_TABLE: Final = _structure("TUVL-D003", "two models, or versions of one, share a table with different fields")
BAD_RELATION: Final = _structure("TUVL-D004", "a relation leads nowhere")
NO_SOURCE: Final = _structure("TUVL-D005", "a model has no data source, or it is not clear which")
BAD_SOURCE: Final = _structure("TUVL-D006", "a data source contradicts itself")
UNKNOWN_MODEL: Final = _structure("TUVL-D007", "a model that the project does not define")
UNKNOWN_FIELD: Final = _structure("TUVL-D008", "a field, operator or relation that a model does not have")
NOT_NAMED: Final = _structure("TUVL-D009", "an update or delete does not say which records it means")
IDLE_KEY: Final = _structure("TUVL-D010", "a key that the operation has no use for")
NO_PAYLOAD: Final = _structure("TUVL-D011", "a create or update without the values it needs")
OUTSIDE_CONTEXT: Final = Code(
    code="TUVL-D012", severity="error", klass="flow", title="a model outside the workflow's `spec.context`"
)


def _flow(code: str, severity: Literal["error", "warning"], title: str) -> Code:
    return Code(code=code, severity=severity, klass="flow", title=title)


BAD_VALUE: Final = _flow("TUVL-D013", "error", "a value in the file that the field it is for does not take")
TENANT_FILTER: Final = _flow("TUVL-D014", "warning", "a filter on the tenant's field, which the run fills itself")
ALL_ROWS_TOOL: Final = _flow("TUVL-D015", "warning", "a tool that changes or removes every record in one call")
UNKNOWN_REVEAL: Final = _flow("TUVL-D016", "warning", "`reveal` names a field that there is not")

CODES: Final = (
    *(BAD_FIELD, NO_KEY, SHARED_TABLE, BAD_RELATION, NO_SOURCE, BAD_SOURCE),
    *(UNKNOWN_MODEL, UNKNOWN_FIELD, NOT_NAMED, IDLE_KEY, NO_PAYLOAD, OUTSIDE_CONTEXT),
    *(BAD_VALUE, TENANT_FILTER, ALL_ROWS_TOOL, UNKNOWN_REVEAL),
)
