"""What a template gives: the object itself, text, a structure, a secret."""

from __future__ import annotations

import copy
import datetime as dt
import enum
import uuid
from decimal import Decimal
from typing import Any, Literal

import pytest

from tuvl_core.context import Names, Overlay
from tuvl_core.errors import StepError, TemplateError, UndefinedNameError
from tuvl_core.templates import Template, text_of

CONTEXT: dict[str, Any] = {
    "order": {"id": "A-1", "items": [{"id": 7}, {"id": 8}], "get": "x", "total": 25.5},
    "qty": 3,
    "nothing": None,
    "yes": True,
    "tags": ["a", "b"],
    "attack": "{{ qty }} {% raw %} ().__class__",
}


def render(source: Any, context: dict[str, Any] | None = None, type: Any = Any) -> Any:
    names = Names(CONTEXT if context is None else context)
    return Template.of(source, type).render(names)


class Colour(enum.Enum):
    RED = "red"


# --- one placeholder ------------------------------------------------------------------------


@pytest.mark.parametrize("value", [3, 0, None, [1, [2]], {"a": {}}, "false", "", True, 1.5, b"\xff"])
def test_a_lone_placeholder_yields_the_object_itself(value: Any) -> None:
    assert Template.of("{{ qty }}").render({"qty": value}) is value
    assert Template.of("{{qty}}").render({"qty": value}) is value


@pytest.mark.parametrize("tail", ["\n", "\r\n"])
def test_the_line_break_that_a_yaml_block_ends_with_does_not_make_text(tail: str) -> None:
    template = Template.of("{{ tags }}" + tail)
    assert template.lone
    assert template.render(CONTEXT) == ["a", "b"]


@pytest.mark.parametrize("source", [" {{ qty }}", "{{ qty }} ", "{{ qty }}\n\n", "\n{{ qty }}"])
def test_anything_else_around_it_does(source: str) -> None:
    assert render(source) == source.replace("{{ qty }}", "3")


def test_digits_index_lists_and_mappings_come_before_attributes() -> None:
    assert render("{{ order.items.0.id }}") == 7
    assert render("{{ order.items.1 }}") == {"id": 8}
    assert render("{{ order.get }}") == "x"
    assert render("{{ order.items }}") is CONTEXT["order"]["items"]
    assert render("{{ m.0 }}", {"m": {"0": "text"}}) == "text"
    assert render("{{ m.0 }}", {"m": {0: "number"}}) == "number"


# --- undefined ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ("{{ order_id }}", "'order_id'"),
        ("https://api.example.test/orders/{{ order_id }}", "'order_id'"),
        ("{{ order.customer.name }}", "'order.customer.name'"),
        ("{{ order.items.2.id }}", "'order.items.2.id'"),
        ("{{ order.items.x }}", "'order.items.x'"),
        ("{{ qty.real }}", "'qty.real'"),
        ("{{ tags.append }}", "'tags.append'"),
        ("{{ nothing.at_all }}", "'nothing.at_all'"),
        ("{{ order.customer.name == 'x' }}", "'order.customer.name'"),
        ("{{ order['no such key'] }}", "'order.no such key'"),
    ],
)
def test_what_is_missing_is_an_error_that_names_the_full_path(source: str, path: str) -> None:
    with pytest.raises(UndefinedNameError) as caught:
        render(source)
    assert f"{path} is not in the context" in str(caught.value)
    assert caught.value.type == "undefined_name"


def test_the_error_says_how_far_the_path_leads() -> None:
    with pytest.raises(UndefinedNameError, match=r"'order' has no 'customer'"):
        render("{{ order.customer.name }}")


@pytest.mark.parametrize(
    "source",
    [
        "{{ missing | default('d') }}",
        "{{ missing.very.deep | d('d') }}",
        "{{ order.customer.name | default('d') }}",
        "{{ (missing + 1) | default('d') }}",
        "{{ missing | upper | default('d') }}",
        "{{ tags.7 | default('d') }}",
        "{{ [] | first | default('d') }}",
        "{{ '' | default('d', true) }}",
        "{{ nothing | default('d', boolean=true) }}",
    ],
)
def test_a_declared_default_stands_in(source: str) -> None:
    assert render(source) == "d"


def test_a_default_stands_in_for_nothing_else() -> None:
    assert render("{{ nothing | default('d') }}") is None
    assert render("{{ '' | default('d') }}") == ""
    with pytest.raises(UndefinedNameError, match="'also_missing'"):
        render("{{ missing | default(also_missing) }}")


def test_private_names_are_absent_but_for_the_three_of_the_engine() -> None:
    context = {"_last_error": "boom", "_last_error_type": "x", "_run_id": "r1", "_session": "s"}
    source = "{{ _last_error }} {{ _last_error_type }} {{ _run_id }}"
    assert render(source, context) == "boom x r1"
    for name in ("_session", "_db", "_step", "__class__", "__builtins__"):
        with pytest.raises(TemplateError, match="engine's own"):
            Template.of("{{ " + name + " }}")


def test_names_below_the_root_may_have_a_leading_underscore() -> None:
    assert render("{{ doc._id }} {{ doc.__typename }}", {"doc": {"_id": 1, "__typename": "T"}}) == "1 T"


def test_arguments_of_a_tool_call_come_before_the_context() -> None:
    names = Names(Overlay(CONTEXT, {"qty": 9}), {"qty": 9})
    assert Template.of("{{ qty }} {{ order.id }}").render(names) == "9 A-1"


# --- text -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a b", "a b"),
        (3, "3"),
        (-1.5, "-1.5"),
        (None, "null"),
        (True, "true"),
        (False, "false"),
        ({"a": [1, None]}, '{"a":[1,null]}'),
        ([], "[]"),
        ((1, "é"), '[1,"é"]'),
        ({3, 1}, "[1,3]"),
        (Decimal("10.10"), "10.10"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (dt.datetime(2026, 1, 2, tzinfo=dt.UTC), "2026-01-02T00:00:00+00:00"),
        (dt.date(2026, 1, 2), "2026-01-02"),
        (Colour.RED, "red"),
        (b"\xff\x00", '{"base64":"/wA="}'),
        (float("nan"), "null"),
        (10**400, "1" + "0" * 400),
    ],
)
def test_text_holds_the_wire_form_of_a_value(value: Any, text: str) -> None:
    assert Template.of("<{{ x }}>").render({"x": value}) == f"<{text}>"
    assert text_of(value) == text


def test_what_has_no_wire_form_is_a_step_error() -> None:
    with pytest.raises(StepError, match=r"`\{\{ x \}\}`: .*object"):
        Template.of("<{{ x }}>").render({"x": object()})
    with pytest.raises(StepError, match="digits"):
        Template.of("<{{ x }}>").render({"x": 10**5000})


def test_several_placeholders_and_literal_braces() -> None:
    assert render("{{ qty }}{{ qty }} } {x} }} {{ '{{' }} $${{ qty }}") == "33 } {x} }} {{ $$3"
    assert render("{{ '}}' }}") == "}}"
    assert render('{{ {"a": {"b": qty}}}}') == {"a": {"b": 3}}


@pytest.mark.parametrize("source", ["{% if x %}{# y #}{% endif %}", "{%", "{#", "100 %}", "{ { x } }"])
def test_statements_and_comments_are_plain_text(source: str) -> None:
    template = Template.of(source)
    assert template.constant
    assert template.render({}) == source
    assert render(source + "{{ qty }}") == source + "3"


def test_a_value_is_data_and_never_looked_at_again() -> None:
    assert render("{{ attack }}") == CONTEXT["attack"]
    assert render("say: {{ attack }}") == f"say: {CONTEXT['attack']}"
    assert render({"a": "{{ attack }}"}) == {"a": CONTEXT["attack"]}
    assert render("{{ attack | upper }}") == CONTEXT["attack"].upper()
    assert render("{{ attack == '{{ qty }}' }}") is False


def test_text_has_a_limit() -> None:
    with pytest.raises(StepError, match="limit is 1000000"):
        render("{{ x }}{{ x }}", {"x": "y" * 600_000})
    assert len(render("{{ x }}", {"x": "y" * 5_000_000})) == 5_000_000, "the object itself has none"


def test_render_text_encodes_values_and_leaves_literals() -> None:
    template = Template.of("/orders/{{ id }}?a=b/c")
    text = template.render_text({"id": "x/../y"}, lambda value: text_of(value).replace("/", "%2F"))
    assert text == "/orders/x%2F..%2Fy?a=b/c"
    assert [str(part) for part in template.parts] == ["/orders/", "id", "?a=b/c"]
    assert Template.of("plain").render_text({}) == "plain"


# --- structures -----------------------------------------------------------------------------


def test_a_structure_is_filled_at_every_depth_and_keys_are_literal() -> None:
    source = {
        "id": "{{ order.id }}",
        "{{ qty }}": [{"n": "{{ qty }}"}, "n={{ qty }}", 5, None, True],
    }
    expected = {"id": "A-1", "{{ qty }}": [{"n": 3}, "n=3", 5, None, True]}
    template = Template.of(source)
    assert template.render(CONTEXT) == expected
    assert [read.path for read in template.reads] == [("order", "id"), ("qty",)]
    assert not template.constant
    assert template.parts == ()


def test_a_rendered_structure_shares_nothing_with_the_definition() -> None:
    source = {"a": [{"b": 1}], "c": "{{ qty }}"}
    before = copy.deepcopy(source)
    template = Template.of(source)
    template.render(CONTEXT)["a"][0]["b"] = 2
    constant = Template.of({"a": [1]})
    assert constant.constant
    constant.render({})["a"].append(2)
    assert constant.render({}) == {"a": [1]}
    assert source == before
    assert template.render(CONTEXT)["a"] == [{"b": 1}]


def test_an_error_in_a_structure_says_where() -> None:
    with pytest.raises(TemplateError) as caught:
        Template.of({"body": {"items": ["ok", "x {{ a + }}"]}})
    assert caught.value.path == ("body", "items", 1)
    assert caught.value.offset == 9


# --- types ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "type", "expected"),
    [
        (3, float, 3.0),
        ("1.5", float, 1.5),
        ("1e-3", float, 0.001),
        (Decimal("0.5"), float, 0.5),
        (3.0, int, 3),
        ("007", int, 7),
        (3, str, "3"),
        (True, str, "true"),
        ({"a": 1}, str, '{"a":1}'),
        ("true", bool, True),
        (False, bool, False),
        (None, str | None, None),
        (5, str | int, 5),
        (["1", 2], list[int], [1, 2]),
        ({"a": 1}, dict[str, str], {"a": "1"}),
        ("1.10", Decimal, Decimal("1.10")),
        ("GET", Literal["GET", "POST"], "GET"),
        ([1], list, [1]),
    ],
)
def test_a_typed_template_converts(value: Any, type: Any, expected: Any) -> None:
    got = Template.of("{{ x }}", type).render({"x": value})
    assert got == expected
    assert got.__class__ is expected.__class__


@pytest.mark.parametrize(
    ("value", "type", "needs"),
    [
        ("abc", float, "a number"),
        (None, float, "a number"),
        (True, int, "a whole number"),
        (1.5, int, "a whole number"),
        (float("inf"), int, "a whole number"),
        (float("nan"), int, "a whole number"),
        ("10" * 300, float, "a number"),
        (10**400, float, "a number"),
        (None, str, "text"),
        ("yes", bool, "a boolean"),
        (1, bool, "a boolean"),
        ("PUT", Literal["GET", "POST"], "one of 'GET', 'POST'"),
        ("x", list, "a list"),
        ([None], list[int], "a list of a whole number"),
        ([], dict, "a mapping"),
    ],
)
def test_what_does_not_convert_is_a_step_error_without_the_value(value: Any, type: Any, needs: str) -> None:
    with pytest.raises(StepError) as caught:
        Template.of("{{ x }}", type).render({"x": value})
    assert f"where {needs} is needed" in str(caught.value)
    assert "abc" not in str(caught.value)
    with pytest.raises(TemplateError, match="is needed"):
        Template.of(value, type)


def test_constants_are_converted_at_once() -> None:
    assert Template.of("2.5", float).render({}) == 2.5
    assert Template.of(3, str).render({}) == "3"
    assert Template.of(None).render({}) is None


# --- the object -----------------------------------------------------------------------------


def test_templates_are_values() -> None:
    one, two = Template.of("{{ a }} b", str), Template.of("{{ a }} b", str)
    assert one == two
    assert hash(one) == hash(two)
    assert one != Template.of("{{ a }} b", str, reveals=True)
    assert one != Template.of("{{ a }} b")
    assert one != "{{ a }} b"
    assert copy.deepcopy(one) is one
    assert Template.of(one) is one
    with pytest.raises(AttributeError):
        one.source = "x"  # type: ignore[misc]
    mapping = Template.of({"a": "{{ x }}", "b": 1})
    assert hash(mapping) == hash(Template.of({"b": 1, "a": "{{ x }}"}))
    assert mapping == Template.of({"b": 1, "a": "{{ x }}"})
