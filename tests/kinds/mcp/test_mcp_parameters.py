"""MCP steps as tools: what a model may send, and that whatever it may send can be sent."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from schema_values import values_for

from tuvl_core import Template, check_parameters
from tuvl_kinds_mcp.definitions import ToolDefinition
from tuvl_kinds_mcp.parameters import parameters_for

SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "Where.", "minLength": 1},
        "n": {"type": "integer", "minimum": 0},
        "mode": {"enum": ["a", "b"]},
        "deep": {"$ref": "#/$defs/Deep"},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}},
        "lost": {"$ref": "#/nowhere", "type": "string", "description": "Lost."},
    },
    "required": ["path"],
    "$defs": {"Deep": {"type": "object", "properties": {"on": {"type": "boolean"}}}},
}


def templates(arguments):
    return None if arguments is None else {name: Template.of(value) for name, value in arguments.items()}


def derived(arguments, schema=SCHEMA):
    tool = None if schema is None else ToolDefinition("t", "", schema)
    found = parameters_for(templates(arguments), tool)
    assert check_parameters(found) is None
    return found


def test_variables_that_stand_alone_have_the_types_of_the_server():
    found = derived({"path": "{{ file }}", "n": "{{ count }}", "mode": "{{ m }}", "deep": {"on": "{{ on }}"}})
    assert found == {
        "type": "object",
        "properties": {
            "file": {"type": "string", "description": "Where.", "minLength": 1},
            "count": {"type": "integer", "minimum": 0},
            "m": {"enum": ["a", "b"]},
            "on": {"type": "boolean"},
        },
        "required": ["file", "count", "m", "on"],
        "additionalProperties": False,
    }


def test_variables_in_text_are_strings_and_those_with_a_default_optional():
    found = derived({"path": "/{{ a }}/{{ b | default('x') }}", "n": "{{ n | default(3) }}", "mode": "a"})
    assert found["properties"] == {
        "a": {"type": "string"}, "b": {"type": "string"}, "n": {"type": "integer", "minimum": 0},
    }  # fmt: skip
    assert found["required"] == ["a"]


def test_lists_and_dotted_names():
    found = derived({"tags": ["{{ tag }}", "x"], "path": "{{ order.file }}"})
    assert found["properties"]["tag"] == {"type": "string", "enum": ["x", "y"]}
    assert found["properties"]["order"]["properties"]["file"]["minLength"] == 1


def test_a_property_that_refers_to_definitions_brings_them_along():
    found = derived({"deep": "{{ d }}"})
    assert found["properties"]["d"] == {"$ref": "#/$defs/Deep"}
    assert found["$defs"] == SCHEMA["$defs"]


def test_a_reference_to_nowhere_leaves_type_and_description():
    assert derived({"lost": "{{ x }}"})["properties"]["x"] == {"type": "string", "description": "Lost."}


def test_without_a_known_schema_variables_are_strings():
    assert derived({"n": "{{ n }}"}, None)["properties"] == {"n": {"type": "string"}}
    assert derived({"n": 3}, None) == {"type": "object", "properties": {}, "additionalProperties": False}


def test_names_of_the_run_are_no_parameters():
    assert derived({"path": "{{ tenant_id }}{{ _run_id }}{{ a }}"})["properties"].keys() == {"a"}


def test_without_arguments_the_schema_of_the_server_is_passed_through():
    schema = {**SCHEMA, "properties": {name: SCHEMA["properties"][name] for name in ("path", "n", "deep")}}
    found = derived(None, schema)
    assert found == {key: value for key, value in schema.items() if key != "$schema"}
    assert derived(None, None)["additionalProperties"] is True


def test_names_with_a_leading_underscore_are_nothing_for_a_model():
    schema = {"type": "object", "properties": {"_meta": {"type": "object"}, "user_id": {"type": "string"}}}
    assert derived(None, schema)["properties"] == {"user_id": {"type": "string"}}


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        {"properties": {"a": {"type": "string"}}},
        {"type": "object", "anyOf": [{"required": ["a"]}], "properties": {"a": {"type": "string"}}},
        {"type": "object", "properties": {"a": {"$ref": "https://elsewhere.test/x.json"}}},
        {"type": "object", "properties": {"a": {"type": "no such type"}}, "required": ["a", "b"]},
        {"type": "object", "properties": {"a": True}, "required": "a"},
        {"type": ["object", "null"], "properties": []},
        {"$ref": "#/$defs/A", "$defs": {"A": {"type": "object"}}},
    ],
)
def test_schemas_that_providers_refuse(schema):
    found = derived(None, schema)
    assert found["type"] == "object"
    assert not {"anyOf", "oneOf", "allOf", "not", "enum", "$schema"} & found.keys()
    assert "elsewhere" not in json.dumps(found)


NAMES = st.sampled_from(["a", "b", "c", "order.id", "order.lines.0.sku", "x.y"])
LEAF = st.one_of(
    st.builds(lambda name: f"{{{{ {name} }}}}", NAMES),
    st.builds(lambda name: f"{{{{ {name} | default('z') }}}}", NAMES),
    st.builds(lambda one, two: f"{{{{ {one} }}}}-{{{{ {two} }}}}", NAMES, NAMES),
    st.sampled_from(["plain", 3, True, None]),
)
ARGUMENTS = st.dictionaries(
    st.sampled_from(["path", "n", "mode", "deep", "tags", "lost", "more"]),
    LEAF | st.lists(LEAF, max_size=2) | st.dictionaries(st.sampled_from(["on", "off"]), LEAF, max_size=2),
    max_size=4,
)
PROPERTY = st.one_of(
    *(st.just(item) for item in SCHEMA["properties"].values()),
    st.sampled_from([{}, True, {"type": "banana"}, {"$ref": 3}, {"type": ["string", "null"]}, {"const": 1}, [], "x"]),
)
SCHEMAS = st.builds(
    lambda properties, more: {"type": "object", "properties": properties, "$defs": SCHEMA["$defs"], **more},
    st.dictionaries(st.sampled_from(["path", "n", "mode", "deep", "tags"]), PROPERTY, max_size=5),
    st.sampled_from([{}, {"required": ["n"]}, {"oneOf": []}, {"allOf": [{"$ref": "#/$defs/Deep"}]}, {"$defs": 3}]),
)


@given(ARGUMENTS, SCHEMAS | st.none(), st.data())
def test_any_arguments_that_fit_can_be_rendered(arguments, schema, data):
    found = derived(arguments, schema)
    values = data.draw(values_for(found))
    rendered = {name: template.render(values) for name, template in templates(arguments).items()}
    assert rendered.keys() == arguments.keys()
    assert "{{" not in json.dumps(rendered, default=str)


@given(SCHEMAS)
def test_whatever_a_server_declares_is_offered_as_a_schema(schema):
    assert derived(None, schema)["type"] == "object"
