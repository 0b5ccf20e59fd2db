"""Whether something is a JSON Schema, found out without the network."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from tuvl_core.tools import check_parameters, check_schema


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object", "properties": {"a": {"type": ["string", "null"]}}},
        {"$defs": {"x": {"type": "integer"}}, "properties": {"a": {"$ref": "#/$defs/x"}}},
        {"properties": {"child": {"$ref": "#"}}},
        {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"},
        {"unknown_keyword": 1},
    ],
)
def test_schemas(schema: Any) -> None:
    assert check_schema(schema) is None
    assert check_parameters(schema) is None


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ({"type": "objec"}, 'type: "objec"'),
        ({"properties": {"a": {"type": "strin"}}}, "properties.a.type: "),
        ({"properties": [1]}, "properties: "),
        ({"required": "a"}, "required: "),
        ({"pattern": "("}, "pattern: "),
        ({"$ref": "#/nope"}, "'/nope' does not exist"),
        ({"a": {1: 2}}, "key must be str"),
        ([1], "has to be a mapping"),
        ("object", "has to be a mapping"),
        (None, "has to be a mapping"),
        (True, "has to be a mapping"),
        ({"const": "x" * 5000, "type": "y" * 5000}, "type: "),
    ],
)
def test_what_is_no_schema_is_named_with_its_place(schema: Any, says: str) -> None:
    for check in (check_schema, check_parameters):
        problem = check(schema)
        assert problem is not None
        assert says in problem
        assert len(problem) < 400


@pytest.mark.parametrize("uri", ["http://127.0.0.1:9/x.json", "https://x.test/y", "file:///etc/passwd"])
def test_other_documents_are_never_fetched(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_network(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("the network was touched")

    monkeypatch.setattr(socket, "socket", no_network)
    for schema in ({"$ref": uri}, {"properties": {"a": {"$ref": uri}}}):
        problem = check_schema(schema)
        assert problem is not None
        assert "nothing is fetched" in problem
        assert uri in problem
    assert check_schema({"$schema": uri}) is not None


def test_parameters_are_those_of_an_object() -> None:
    assert check_schema({"type": "array"}) is None
    assert "`object`" in (check_parameters({"type": "array"}) or "")
    assert "`object`" in (check_parameters({"type": ["object", "null"]}) or "")
