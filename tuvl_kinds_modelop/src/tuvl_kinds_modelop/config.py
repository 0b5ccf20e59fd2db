"""The keys of a ModelOp step."""

from __future__ import annotations

from typing import Any, Final, Literal

import attrs

from tuvl_core import Template
from tuvl_core import field as key

__all__ = ["MAX_LIMIT", "WRITES", "ModelOpConfig", "Operation"]

Operation = Literal["create", "read", "list", "update", "delete"]
WRITES: Final = frozenset({"create", "update", "delete"})
MAX_LIMIT: Final = 10_000
"""The most records of one `list`."""


@attrs.frozen(kw_only=True)
class ModelOpConfig:
    """The keys of a ModelOp step."""

    model: str = key(
        source_text=True, min=1, refers="ModelDefinition", doc="The ModelDefinition, one that `spec.context` names."
    )
    operation: Operation = key(doc="What is done.")
    payload: Template[Any] | None = key(
        default=None, doc="For create and update: values by field. As a tool: left out, the model gives them."
    )
    record_id: Template[Any] | None = key(
        default=None, doc="For read, update and delete: the primary key. As a tool: left out, the model gives it."
    )
    filters: Template[Any] | None = key(
        default=None,
        doc="Which records: `{field: value}` or `{field: {eq|gt|gte|lt|lte|in|like|is_null: value}}`.",
    )
    order_by: Template[Any] | None = key(
        default=None, doc="For list: a field, `-field` for descending, or a list of them."
    )
    include: tuple[str, ...] = key(default=(), source_text=True, doc="For read and list: relations to bring along.")
    limit: Template[int] = key(default=100, doc="For list: the most records, at most 10000.")
    offset: Template[int] = key(default=0, doc="For list: how many records to pass over.")
    all_rows: bool = key(default=False, doc="For update and delete without filters: that every record is meant.")
    output: str | None = key(
        default=None, source_text=True, doc="The context key that gets the result; `<id>_result` by itself."
    )
