"""`order_by`: which records come first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tuvl_core import StepError

if TYPE_CHECKING:
    from tuvl_kinds_modelop.fields import Field
    from tuvl_kinds_modelop.models import Model

__all__ = ["read_order"]


def read_order(model: Model, value: Any) -> list[tuple[Field, bool]]:
    """Read `order_by`.

    Args:
        model: Whose fields count.
        value: A field, `-field` or `field desc` for descending, `{field: asc|desc}`, or a list of these; null: none.

    Returns:
        Fields, and whether each is descending.

    Raises:
        StepError: A field is not known, or cannot be sorted by.
    """
    if value is None:
        return []
    entries = value if isinstance(value, (list, tuple)) else [value]
    found: list[tuple[Field, bool]] = []
    for entry in entries:
        if isinstance(entry, Mapping):
            found += [_one(model, name, direction) for name, direction in entry.items()]
        else:
            found.append(_text(model, entry))
    return found


def _text(model: Model, entry: Any) -> tuple[Field, bool]:
    if not isinstance(entry, str) or not entry.strip():
        raise StepError("order_by takes the name of a field, or a list of names", type="bad_order")
    name, _, direction = entry.strip().partition(" ")
    if name[0] in "+-" and not direction:
        return _one(model, name[1:], "desc" if name[0] == "-" else "asc")
    return _one(model, name, direction.strip() or "asc")


def _one(model: Model, name: str, direction: Any) -> tuple[Field, bool]:
    from tuvl_kinds_modelop.models import advice

    field = model.fields.get(name)
    if field is None:
        raise StepError(
            f"order_by: {model.name} has no field {str(name)[:80]!r}{advice(str(name), model.fields)}", type="bad_order"
        )
    if field.secure or field.type in ("jsonb", "bytea"):
        raise StepError(f"order_by: records cannot be sorted by {name!r}", type="bad_order")
    if str(direction).lower() not in ("asc", "desc"):
        raise StepError(f"order_by: {name!r} is sorted `asc` or `desc`, not {str(direction)[:40]!r}", type="bad_order")
    return field, str(direction).lower() == "desc"
