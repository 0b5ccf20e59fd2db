"""What passes for a plain schema is one to the checker too, and what is none is left to it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuvl_core import check_schema
from tuvl_core.tools.plain_schemas import plainly_valid
from tuvl_core.tools.schemas import build_validator

VALUES: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from(["object", "string", "integer", "a", ""]),
    st.lists(st.sampled_from(["a", "b", "string", 1, None]), max_size=3),
    st.just({}),
)
KEYS = st.sampled_from(
    ["type", "description", "title", "required", "enum", "default", "minimum", "exclusiveMaximum", "maxLength"]
    + ["minItems", "maxProperties", "properties", "items", "additionalProperties", "pattern", "$ref", "x"]
)
FITTING = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["object", "string", "array", "number"]),
        "required": st.lists(st.text(max_size=3), unique=True, max_size=3),
        "enum": st.lists(st.text(max_size=3), unique=True, min_size=1, max_size=3),
        "default": st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.text(max_size=3)),
        "minimum": st.one_of(st.integers(-9, 9), st.floats(-9, 9)),
        "maxLength": st.integers(0, 9),
        "title": st.text(max_size=3),
    },
)
SCHEMAS = st.recursive(
    st.one_of(st.dictionaries(KEYS, VALUES, max_size=3), FITTING, st.booleans()),
    lambda below: st.one_of(
        st.fixed_dictionaries({"properties": st.dictionaries(st.text(max_size=3), below, max_size=3)}),
        st.fixed_dictionaries({"items": below, "additionalProperties": below}),
    ),
    max_leaves=6,
)


def builds(schema: Any) -> bool:
    """Whether the checker takes a schema."""
    try:
        build_validator(schema)
    except Exception:
        return False
    return True


@given(SCHEMAS)
def test_the_checker_agrees(schema: Any) -> None:
    assert not (isinstance(schema, dict) and plainly_valid(schema)) or builds(schema)


@given(st.text("^$[]-+*?.\\{},09azAZdw _@", max_size=10))
def test_the_checker_agrees_about_patterns(pattern: str) -> None:
    assert not plainly_valid({"pattern": pattern}) or builds({"pattern": pattern})


@pytest.mark.parametrize("pattern", ["^[A-Z]-[0-9]+$", "^\\d{4}$", "[a-z0-9_-]+", "^a b?$", ""])
def test_usual_patterns_are_plain(pattern: str) -> None:
    assert plainly_valid({"pattern": pattern})
    build_validator({"pattern": pattern})


@given(FITTING)
def test_what_people_write_is_plain(schema: dict[str, Any]) -> None:
    assert plainly_valid({"type": "object", "properties": {"a": schema}, "additionalProperties": False})


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "objekt"},
        {"type": ["string", "string"]},
        {"required": "x"},
        {"required": ["x", "x"]},
        {"properties": {"a": {"maxLength": -1}}},
        {"properties": {"a": "string"}},
        {"properties": []},
        {"items": 3},
        {"enum": 3},
        {"minimum": "1"},
        {"description": 1},
        {"pattern": "["},
        {"pattern": "[z-a]"},
        {"pattern": "a{3,2}"},
        {"pattern": "(?<"},
        {"$ref": "https://example.com/schema"},
    ],
)
def test_mistakes_are_found_as_before(schema: Any) -> None:
    assert not plainly_valid(schema)
    assert check_schema(schema)


def test_a_schema_inside_itself_comes_to_an_end() -> None:
    schema: dict[str, Any] = {"type": "object"}
    schema["properties"] = {"again": schema}
    assert not plainly_valid(schema)


def test_a_plain_schema_needs_no_checker() -> None:
    script = (
        "import sys, tuvl_core\n"
        "assert tuvl_core.check_schema({'type': 'object', 'properties': {'a': {'type': 'string'}}}) is None\n"
        "print('jsonschema_rs' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
