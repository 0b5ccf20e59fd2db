"""Statements over one table. Every value is bound; every name comes from a definition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import attrs
import sqlalchemy as sa

from tuvl_core import Secret, StepError, contains_secret, open_secrets
from tuvl_kinds_modelop.columns import comparable
from tuvl_kinds_modelop.fields import Field, ValueRefusedError
from tuvl_kinds_modelop.models import Model, advice
from tuvl_kinds_modelop.operators import LIKEABLE, OPERATORS, UNCOMPARABLE

__all__ = ["Condition", "Order", "clause", "order_clauses", "taken"]

MAX_MEMBERS: Final = 10_000
"""The most values behind `in`: both databases bind a bounded number of them."""


@attrs.frozen
class Condition:
    """A field, an operator and a value."""

    field: Field
    operator: str
    value: Any


Order = tuple[Field, bool]
"""A field, and whether it is descending."""


def taken(field: Field, value: Any) -> Any:
    """Bring a value into the form of a field's column; secrets go into secure fields only.

    Raises:
        StepError: It does not fit, or is a secret and the field is not secure.
    """
    if value is None:
        if not field.nullable:
            raise StepError(f"field {field.name!r} is required and takes no null", type="bad_value")
        return None
    if isinstance(value, Secret) or contains_secret(value):
        if not field.secure:
            raise StepError(
                f"field {field.name!r} is not secure, and the value for it is a secret: mark the field "
                "`secure: true`, or use another value",
                type="bad_value",
            )
        value = open_secrets(value)
    try:
        return field.take(value)
    except ValueRefusedError as error:
        raise StepError(str(error), type="bad_value") from None


def clause(table: sa.Table, condition: Condition) -> sa.ColumnElement[bool]:
    """The SQL of a condition.

    Raises:
        StepError: The field cannot be compared so, or the value does not fit.
    """
    field, operator, value = condition.field, condition.operator, condition.value
    column = table.c[field.name]
    if operator == "is_null":
        return column.is_(None) if _flag(field, value) else column.is_not(None)
    if field.type in UNCOMPARABLE:
        raise _bad(f"field {field.name!r} holds {field.type}, which only `is_null` looks at")
    if operator == "in":
        return comparable(column, field).in_([_operand(column, field, item) for item in _members(field, value)])
    if operator == "like":
        return column.like(_pattern(field, value), escape="\\")
    if value is None:
        raise _bad(f"the filter on {field.name!r} is null; `{{is_null: true}}` finds records without a value")
    compare = OPERATORS[operator]
    result: sa.ColumnElement[bool] = compare(comparable(column, field), _operand(column, field, value))
    return result


def order_clauses(table: sa.Table, orders: Sequence[Order], key: Field) -> list[sa.ColumnElement[Any]]:
    """`ORDER BY`: nulls last, or first where descending, on both databases; the key at last makes it definite."""
    clauses: list[sa.ColumnElement[Any]] = []
    for field, descending in orders:
        column = comparable(table.c[field.name], field)
        clauses.append(column.desc().nulls_first() if descending else column.asc().nulls_last())
    if all(field is not key for field, _ in orders):
        clauses.append(table.c[key.name].asc())
    return clauses


def conditions_of(model: Model, filters: Mapping[str, Any]) -> list[Condition]:
    """Read filters that an author wrote as plain data: a value for `eq`, or `{operator: value}`.

    Raises:
        StepError: A field or operator is not known.
    """
    found: list[Condition] = []
    for name, given in filters.items():
        field = field_named(model, name, "filter")
        if isinstance(given, Mapping) and given and field.type not in UNCOMPARABLE | {"bytea"}:
            found += [Condition(field, _operator(name, item), value) for item, value in given.items()]
        elif isinstance(given, Mapping) and set(given) == {"is_null"}:
            found.append(Condition(field, "is_null", given["is_null"]))
        else:
            found.append(Condition(field, "eq", given))
    return found


def field_named(model: Model, name: Any, what: str, among: Iterable[str] | None = None) -> Field:
    """Look a field up.

    Raises:
        StepError: The model has none of that name; the message lists those that may be meant.
    """
    field = model.fields.get(name)
    if field is None:
        known = sorted(among if among is not None else model.fields)
        raise StepError(
            f"{what}: {model.name} has no field {str(name)[:80]!r}{advice(str(name), known)}", type="bad_field"
        )
    return field


def _operator(name: str, operator: str) -> str:
    if operator not in OPERATORS and operator not in ("in", "like", "is_null"):
        known = ", ".join((*OPERATORS, "in", "like", "is_null"))
        raise _bad(f"the filter on {name!r} has the unknown operator {operator!r}; there are: {known}")
    return operator


def _operand(column: sa.ColumnElement[Any], field: Field, value: Any) -> sa.ColumnElement[Any]:
    if value is None:
        raise _bad(f"a value of the filter on {field.name!r} is null")
    return comparable(sa.bindparam(None, taken(field, value), type_=column.type), field)


def _members(field: Field, value: Any) -> Sequence[Any]:
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise _bad(f"the filter on {field.name!r}: `in` takes a list")
    members = list(value)
    if len(members) > MAX_MEMBERS:
        raise _bad(f"the filter on {field.name!r}: `in` takes at most {MAX_MEMBERS} values, not {len(members)}")
    return members


def _pattern(field: Field, value: Any) -> str:
    if field.type not in LIKEABLE or field.secure:
        raise _bad(f"field {field.name!r} holds {field.type}; `like` looks at text")
    if not isinstance(value, str):
        raise _bad(f"the filter on {field.name!r}: `like` takes a text, with `%` and `_`")
    stripped = value.rstrip("\\")
    if (len(value) - len(stripped)) % 2:
        raise _bad(f"the filter on {field.name!r}: the pattern ends in a single backslash")
    try:
        Field.take(attrs.evolve(field, body=attrs.evolve(field.body, type="text", length=None)), value)
    except ValueRefusedError as error:
        raise _bad(str(error)) from None
    return value


def _flag(field: Field, value: Any) -> bool:
    if isinstance(value, str) and value in ("true", "false"):
        return value == "true"
    if not isinstance(value, bool):
        raise _bad(f"the filter on {field.name!r}: `is_null` takes true or false")
    return value


def _bad(message: str) -> StepError:
    return StepError(message, type="bad_filter")
