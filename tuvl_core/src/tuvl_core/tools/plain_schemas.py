"""JSON Schemas that are seen to be valid without loading the checker.

Most schemas that people write are objects of typed properties. Loading the checker for these takes longer than
reading a whole project; what is not plainly valid is left to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, Final

__all__ = ["plainly_valid"]

_TYPES: Final = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_DEEPEST: Final = 32
"""How deep schemas are looked into; deeper ones, and such as contain themselves, are for the checker."""
_LARGEST: Final = 2**53
_PATTERN: Final = (
    r"\^?(?:(?:[A-Za-z0-9 _@/:,-]|\\[.dws]|\[(?:[A-Za-z0-9]-[A-Za-z0-9]|[A-Za-z0-9_. @])+-?\])"
    r"(?:[*+?]|\{[0-9]{1,2}(?:,[0-9]{1,2})?\})?)*\$?"
)
"""Regular expressions that mean the same everywhere: characters and sets of them, each so many times."""


def plainly_valid(schema: Any, depth: int = 0) -> bool:
    """Whether a schema uses nothing but the plain keywords of JSON Schema (2020-12), and these as they should be.

    Args:
        schema: The schema.
        depth: How deep it lies in another.
    """
    if depth > _DEEPEST or not (type(schema) is dict or (depth == 0 and isinstance(schema, Mapping))):
        return type(schema) is bool and depth > 0
    for key, value in schema.items():
        if key == "properties":
            if type(value) is not dict or not all(type(name) is str for name in value):
                return False
            if not all(plainly_valid(item, depth + 1) for item in value.values()):
                return False
        elif key in _BELOW:
            if not plainly_valid(value, depth + 1):
                return False
        elif (fits := _PLAIN.get(key)) is None or not fits(value):
            return False
    return True


def _is_type(value: Any) -> bool:
    return type(value) is str and value in _TYPES


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_pattern(value: Any) -> bool:
    if type(value) is not str or re.fullmatch(_PATTERN, value) is None:
        return False
    try:
        re.compile(value)  # a range such as `z-a` is none
    except re.error:
        return False
    return True


def _is_names(value: Any) -> bool:
    return type(value) is list and all(map(_is_text, value)) and len(set(value)) == len(value)


def _is_scalar(value: Any) -> bool:
    return value is None or type(value) in (str, bool) or _is_number(value)


def _is_choice(value: Any) -> bool:
    """Texts only: numbers and truth values that are equal in Python are not all so in JSON."""
    return _is_names(value) and bool(value)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and isfinite(value) and abs(value) < _LARGEST


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < _LARGEST


_BELOW: Final = frozenset({"additionalProperties", "items"})
_PLAIN: Final[Mapping[Any, Callable[[Any], bool]]] = {
    "type": _is_type,
    "description": _is_text,
    "title": _is_text,
    "pattern": _is_pattern,
    "required": _is_names,
    "enum": _is_choice,
    "default": _is_scalar,
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _is_number),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _is_count),
}
"""Keywords whose value can be judged by itself."""
