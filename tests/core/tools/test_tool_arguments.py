"""What a model sends as arguments: data that fits, or an error that says what to mend."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuvl_core.errors import ProjectError
from tuvl_core.tools import ToolSpec

ORDER = {
    "type": "object",
    "properties": {"order_id": {"type": "string"}, "count": {"type": "integer"}},
    "required": ["order_id"],
}
OPEN = {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": True}


def tool(parameters: Any, ref: str = "lookup_order") -> ToolSpec:
    return ToolSpec(ref=ref, wire_name=ref, description="Look up.", parameters=parameters)


def refused(spec: ToolSpec, arguments: Any) -> str:
    values, error = spec.check(arguments)
    assert values is None
    assert error is not None
    assert spec.wire_name in error
    assert len(error) < 2500
    return error


# --- the example of the requirement ---------------------------------------------------------


def test_an_object_that_was_never_closed() -> None:
    error = refused(tool(ORDER), '{"order_id": "A-1')
    assert "invalid JSON" in error
    assert error.endswith('What was sent: {"order_id": "A-1')


@pytest.mark.parametrize("arguments", [None, "", "  ", "\n\t", "{}", {}])
def test_missing_text_is_an_empty_object(arguments: Any) -> None:
    assert tool({}, "ping").check(arguments) == ({}, None)
    assert tool({"type": "object", "properties": {}}).check(arguments) == ({}, None)
    error = refused(tool(ORDER), arguments)
    assert '"order_id" is a required property' in error
    assert "It takes order_id (string, required), count (integer)." in error


def test_good_arguments_come_back_as_they_are() -> None:
    spec = tool(ORDER)
    assert spec.check('{"order_id": "A-1", "count": 2}') == ({"order_id": "A-1", "count": 2}, None)
    assert spec.check({"order_id": "é"}) == ({"order_id": "é"}, None)


def test_arguments_that_a_provider_parsed_are_copied() -> None:
    sent = {"order": {"items": [1]}}
    values, _ = tool({"properties": {"order": {"type": "object"}}}).check(sent)
    assert values == sent
    assert values is not None
    values["order"]["items"].append(2)
    assert sent == {"order": {"items": [1]}}


# --- neighbours -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("[1]", "not a list"),
        ('"text"', "not text"),
        ('"{\\"order_id\\": 1}"', "not text"),
        ("null", "not null"),
        ("true", "not a boolean"),
        ("12", "not a number"),
        ("1.5", "not a number"),
        ([1], "not a list"),
        ('```json\n{"order_id": "A"}\n```', "invalid JSON"),
        ('{"order_id": "A"} and more', "invalid JSON"),
        ("{'order_id': 'A'}", "invalid JSON"),
        ('{"order_id": "A", }', "invalid JSON"),
        ('{"order_id": NaN}', "NaN is no JSON number"),
        ('{"order_id": "A", "count": -Infinity}', "-Infinity is no JSON number"),
        ('{"order_id": "A", "count": 1e999}', "too large"),
        ("9" * 5000, "invalid JSON"),
        ("[" * 100_000, "invalid JSON"),
        ("\ufeff{}", "invalid JSON"),
        (b"{}", "invalid JSON"),
        ({"order_id": {1}}, "invalid JSON"),
        ({"order_id": float("nan")}, "invalid JSON"),
        ('{"order_id": 7}', 'order_id: 7 is not of type "string"'),
        ('{"order_id": null}', "order_id: null is not of type"),
        ('{"order_id": "A", "count": "2"}', 'count: "2" is not of type "integer"'),
        ('{"order_id": "A", "count": true}', "count: true is not of type"),
        ('{"order_id": "A", "nonsense": 1}', "'nonsense' is no parameter"),
        ('{"ORDER_ID": "A"}', "'ORDER_ID' is no parameter"),
    ],
)
def test_the_models_mistakes_are_errors_it_can_act_on(arguments: Any, says: str) -> None:
    error = refused(tool(ORDER), arguments)
    assert says in error
    assert "It takes order_id (string, required), count (integer)." in error


@pytest.mark.parametrize(
    "arguments",
    [
        '{"order_id": "' + "x" * 5_000_000,
        '{"order_id": ' + "[" * 50 + '"' + "x" * 100_000 + '"' + "]" * 50 + "}",
        '{"' + "k" * 100_000 + '": 1}',
        "{" + ", ".join(f'"{number}": 1' for number in range(10_000)) + "}",
    ],
    ids=["text", "value", "name", "names"],
)
def test_errors_stay_short_whatever_was_sent(arguments: str) -> None:
    assert len(refused(tool(ORDER), arguments)) < 1200


def test_a_tool_with_very_many_parameters_has_short_errors_too() -> None:
    names = {f"parameter_{number}": {"type": "string"} for number in range(500)}
    error = refused(tool({"properties": names}), '{"x": 1}')
    assert "… (500 in all)" in error
    assert len(error) < 1500


# --- who may fill what ------------------------------------------------------------------------

SMUGGLED = {"status": "open", "tenant_id": "other", "_session": None, "_db": 1, "_last_error": "x"}


def test_only_declared_names_reach_the_step() -> None:
    error = refused(tool({"properties": {"status": {"type": "string"}}}), json.dumps(SMUGGLED))
    assert "'tenant_id', '_session', '_db', '_last_error' are no parameters" in error
    assert "It takes status (string)." in error


def test_an_open_schema_takes_any_name_but_the_runs_own() -> None:
    spec = tool(OPEN)
    assert spec.open
    assert spec.check('{"status": "open", "n": 1}') == ({"status": "open", "n": 1}, None)
    error = refused(spec, json.dumps(SMUGGLED))
    assert "'tenant_id', '_session', '_db', '_last_error' cannot be given" in error
    for name in ("user_id", "principal", "_", "__class__"):
        assert repr(name) in refused(spec, json.dumps({name: 1}))
    assert "not of type" in refused(spec, '{"n": "x"}')


def test_an_author_may_declare_an_identity_but_no_private_name() -> None:
    spec = tool({"properties": {"user_id": {"type": "string"}, "_token": {"type": "string"}}})
    assert spec.check('{"user_id": "u"}') == ({"user_id": "u"}, None)
    assert "'_token' is no parameter" in refused(spec, '{"_token": "t"}')


@pytest.mark.parametrize(
    ("schema", "open"),
    [
        ({}, False),
        ({"type": "object"}, False),
        ({"additionalProperties": False}, False),
        ({"additionalProperties": True}, True),
        ({"additionalProperties": {"type": "string"}}, True),
        ({"patternProperties": {"^x": {}}}, True),
        ({"unevaluatedProperties": True}, True),
        ({"allOf": [{"additionalProperties": True}]}, True),
        ({"properties": {"a": {"additionalProperties": True}}}, False),
    ],
)
def test_a_schema_is_open_only_where_it_says_so(schema: Any, open: bool) -> None:
    spec = tool(schema)
    assert spec.open is open
    assert (spec.check('{"xy": "1"}')[1] is None) is open


def test_names_declared_in_branches_and_references_count() -> None:
    schema = {
        "properties": {"a": {}},
        "allOf": [{"properties": {"b": {}}}, {"$ref": "#/$defs/more"}],
        "if": {"properties": {"a": {"const": 1}}},
        "then": {"properties": {"d": {}}},
        "$defs": {"more": {"properties": {"c": {}}, "anyOf": [{"$ref": "#"}]}},
        "dependentSchemas": {"a": {"properties": {"e": {}}}},
    }
    spec = tool(schema)
    assert spec.check('{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}')[1] is None
    assert "'f' is no parameter" in refused(spec, '{"f": 1}')


# --- never an exception -----------------------------------------------------------------------

SPECS = [tool(ORDER), tool(OPEN), tool({})]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
FRAGMENTS = st.lists(
    st.sampled_from(['{"', '":', "}", "{", "[", "]", ",", '"', "order_id", "1", "null", "\\u", "\ud800"])
).map("".join)


@given(st.none() | st.text() | FRAGMENTS | JSON | JSON.map(json.dumps) | st.binary())
def test_checking_never_raises(arguments: Any) -> None:
    for spec in SPECS:
        values, error = spec.check(arguments)
        assert (values is None) is not (error is None)
        assert values is None or type(values) is dict
        assert error is None or len(error) < 2500


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_what_is_accepted_is_what_was_sent(arguments: dict[str, Any]) -> None:
    values, error = SPECS[1].check(json.dumps(arguments))
    if error is None:
        assert values == json.loads(json.dumps(arguments))
        assert not any(name.startswith("_") for name in values)


# --- the specification ------------------------------------------------------------------------


def test_the_function_specification_is_built_once() -> None:
    spec = ToolSpec(
        ref="find by email",
        wire_name="find_by_email_1",
        description="Find.",
        parameters={"required": []},
        writes_context=True,
        reveal=frozenset({"email"}),
    )
    assert spec.openai == {
        "type": "function",
        "function": {
            "name": "find_by_email_1",
            "description": "Find.",
            "parameters": {"type": "object", "properties": {}, "required": []},
        },
    }
    assert spec.openai is spec.openai
    assert spec.parameters["type"] == "object"
    with pytest.raises(AttributeError):
        spec.ref = "x"  # type: ignore[misc]


def test_parameters_that_are_no_schema_of_an_object_are_refused() -> None:
    for bad in ({"type": "objec"}, {"type": "array"}, {"$ref": "http://127.0.0.1:9/x"}):
        with pytest.raises(ProjectError, match="tool 'lookup_order': its parameters"):
            tool(bad)
