"""From typed values back to the plain data that an author would write."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import attrs

from tuvl_core.structure.fields import Key, keys_of
from tuvl_core.templates import Condition, Expression, Path, Template
from tuvl_core.views import MASK, Secret

__all__ = ["plain_data"]


def plain_data(value: Any, *, prose: bool = False) -> Any:
    """Turn a typed value into plain data; what has its default is left out.

    Reading the data again gives an equal value, secrets aside: they are written as `***`.

    Args:
        value: An attrs instance that `structure` filled, or any value inside one.
        prose: Whether `${` in text stands for itself; else it is written as `$${`.
    """
    if isinstance(value, Secret):
        return MASK
    if isinstance(value, (Template, Path, Expression, Condition)):
        return plain_data(value.source if not isinstance(value, Path) else str(value), prose=prose)
    if isinstance(value, enum.Enum):
        return plain_data(value.value, prose=prose)
    if isinstance(value, str):
        return value if prose else value.replace("${", "$${")
    if isinstance(value, Mapping):
        return {key: plain_data(item, prose=prose) for key, item in value.items()}
    if isinstance(value, AbstractSet):
        return [plain_data(item, prose=prose) for item in sorted(value, key=repr)]
    if isinstance(value, (list, tuple)):
        return [plain_data(item, prose=prose) for item in value]
    if attrs.has(type(value)):
        return _class_data(value, prose)
    return value


def _class_data(value: Any, prose: bool) -> dict[str, Any]:
    return {
        key.name: plain_data(item, prose=prose or key.meaning.prose)
        for key in keys_of(type(value))
        if not _is_default(item := getattr(value, key.attribute), key, value)
    }


def _is_default(item: Any, key: Key, owner: Any) -> bool:
    default = key.default
    if key.required:
        return False
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        default = default.factory(owner) if default.takes_self else default.factory()
    return type(item) is type(default) and bool(item == default)
