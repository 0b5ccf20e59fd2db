"""Values that stand in a file: whether the field that they are for takes them, told before anything runs.

The same code reads them that does so in a run, so what is refused here fails there whatever the input is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tuvl_core import Template, contains_secret
from tuvl_kinds_modelop.config import ModelOpConfig
from tuvl_kinds_modelop.fields import Field, ValueRefusedError
from tuvl_kinds_modelop.models import Model, advice
from tuvl_kinds_modelop.operators import NAMES, OPERATORS
from tuvl_kinds_modelop.prepared import FilterTemplate

__all__ = ["filter_problem", "payload_problems", "record_id_problem"]

Place = tuple[str | int, ...]


def payload_problems(config: ModelOpConfig, model: Model) -> Iterator[tuple[str, Place, str | None]]:
    """What is wrong with values of a payload: each with its place and a hint."""
    if config.payload is None or not isinstance(config.payload.source, Mapping):
        return
    for name, given in config.payload.source.items():
        field = model.fields.get(name)
        value = Template.of(given)
        if field is None or name == model.tenant_field or not value.constant:
            continue
        if value.source is None:
            problem = None if field.nullable else f"field {name!r} is required and takes no null"
        else:
            problem = _refused(field, value.source)
        if problem is not None:
            yield problem, ("payload", name), _nearest(field, value.source)


def record_id_problem(config: ModelOpConfig, model: Model) -> str | None:
    """What is wrong with a `record_id` that stands in the file; None if nothing is, or it does not."""
    if config.record_id is None or not config.record_id.constant:
        return None
    value = config.record_id.source
    return "the id is empty" if value == "" else _refused(model.key, value) if value is not None else None


def filter_problem(item: FilterTemplate, field: Field) -> tuple[str, str | None] | None:
    """What is wrong with what a filter compares with, and a hint; None if nothing is, or it is known in a run only."""
    value, operator = item.value.source, item.operator
    if operator == "in" and isinstance(value, (list, tuple)):
        return _member(field, value)
    if not item.value.constant:
        return None
    if operator == "is_null":
        return None if value in (True, False, "true", "false") else ("`is_null` takes true or false", None)
    if value is None:
        return f"the filter on {field.name!r} is null, which nothing equals", "`{ is_null: true }` finds such records"
    if operator == "in":
        return "`in` takes a list", None
    if operator == "like":
        return None if isinstance(value, str) else ("`like` takes a text, with `%` and `_`", None)
    if isinstance(value, list) and operator == "eq":
        return f"the filter on {field.name!r} is a list, which no value equals", "write `{ in: […] }`"
    return _operand(field, value) if operator in OPERATORS and operator in NAMES else None


def _member(field: Field, value: list[Any] | tuple[Any, ...]) -> tuple[str, str | None] | None:
    for given in value:
        member = Template.of(given)
        if not member.constant:
            continue
        if member.source is None:
            return f"a value of the filter on {field.name!r} is null", None
        if (found := _operand(field, member.source)) is not None:
            return found
    return None


def _operand(field: Field, value: Any) -> tuple[str, str | None] | None:
    problem = _refused(field, value)
    return None if problem is None else (problem, _nearest(field, value))


def _refused(field: Field, value: Any) -> str | None:
    if contains_secret(value):
        if field.secure:
            return None
        return f"field {field.name!r} is not secure, and the value for it is a secret"
    try:
        field.take(value)
    except ValueRefusedError as error:
        return str(error)
    return None


def _nearest(field: Field, value: Any) -> str | None:
    """Which value of an enumeration was meant; the message lists them anyway."""
    if field.type != "enum" or not isinstance(value, str):
        return None
    hint = advice(value, field.body.enum_values).removeprefix("; ")
    return hint if hint.startswith("did you mean") else None
