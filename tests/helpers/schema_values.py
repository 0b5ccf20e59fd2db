"""Values that fit a small JSON Schema, such as those of tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jsonschema_rs
from hypothesis import strategies as st

ANY = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.lists(st.integers(), max_size=2)


def values_for(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """Values that the schema accepts; drawn by its parts, and checked as a whole."""
    return _drawn(schema, schema).filter(jsonschema_rs.validator_for(dict(schema)).is_valid)


def _drawn(schema: Any, root: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    if not isinstance(schema, Mapping):
        return ANY
    if isinstance(schema.get("$ref"), str):
        return _drawn(root.get("$defs", {}).get(schema["$ref"].rpartition("/")[2], {}), root)
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "const" in schema:
        return st.just(schema["const"])
    kind = schema.get("type")
    if kind == "object":
        return _object(schema, root)
    if kind == "array":
        least = schema.get("minItems", 0)
        return st.lists(_drawn(schema.get("items", {}), root), min_size=least, max_size=least + 2)
    simple: dict[Any, st.SearchStrategy[Any]] = {
        "string": st.text(min_size=schema.get("minLength", 0), max_size=8),
        "integer": st.integers(min_value=schema.get("minimum")),
        "number": st.floats(allow_nan=False, allow_infinity=False),
        "boolean": st.booleans(),
        "null": st.none(),
    }
    return simple[kind] if isinstance(kind, str) and kind in simple else ANY


def _object(schema: Mapping[str, Any], root: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    parts = {name: _drawn(item, root) for name, item in schema.get("properties", {}).items()}
    needed = set(schema.get("required", ()))
    return st.fixed_dictionaries(
        {name: part for name, part in parts.items() if name in needed},
        optional={name: part for name, part in parts.items() if name not in needed},
    )
