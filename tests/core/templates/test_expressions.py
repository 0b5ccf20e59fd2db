"""The language: precedence, truth, comparisons, arithmetic and filters."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from tuvl_core.errors import StepError, TemplateError, UndefinedNameError
from tuvl_core.templates import compare, compile_condition, compile_expression, is_empty, truth
from tuvl_core.views import Secret

CONTEXT: dict[str, Any] = {
    "n": 5,
    "zero": 0,
    "text": "Hello World",
    "numeric": "10",
    "falsy": "false",
    "truthy": "true",
    "none": None,
    "items": [3, 1, 2],
    "orders": [{"id": "b", "sum": 2}, {"id": "a", "sum": 10}],
    "prices": {"DE": Decimal("1.10"), "line-item": 4},
    "country": "DE",
    "größe": 7,
}


def value(text: str, context: dict[str, Any] | None = None) -> Any:
    return compile_expression(text).evaluate(CONTEXT if context is None else context)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # literals
        ("1", 1),
        ("1.5e1", 15.0),
        ("'a\\n\\u00e9\\x41\\'\\q'", "a\né" + "A'\\q"),
        ('"it\'s"', "it's"),
        ("[1, 'a', [none],]", [1, "a", [None]]),
        ("(1, 2)", [1, 2]),
        ("()", []),
        ("{'a': n, \"b\": []}", {"a": 5, "b": []}),
        ("true", True),
        ("False", False),
        ("null", None),
        # precedence and association
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 2 - 3", 5),
        ("100 / 10 / 2", 5.0),
        ("7 // 2 % 2", 1),
        ("-n + 1", -4),
        ("--n", 5),
        ("-n | abs", 5),
        ("1 ~ 2 + 3", None),
        ("not n == 5", False),
        ("not zero and n", 5),
        ("zero or none or n", 5),
        ("n and zero", 0),
        ("1 < 2 < 3", True),
        ("1 < 3 < 2", False),
        ("1 if zero else 2 if zero else 3", 3),
        ("'a' if n > 3 else 'b'", "a"),
        ("n in items or n == 5", True),
        ("n not in items", True),
        ("not n in items", True),
        ("'World' in text", True),
        ("'DE' in prices", True),
        ("country in ['DE', 'AT']", True),
        # entries
        ("prices[country]", Decimal("1.10")),
        ("prices['line-item']", 4),
        ("items[-1]", 2),
        ("items[n - 4]", 1),
        ("orders[0].id", "b"),
        ("(orders | last).id", "a"),
        ("(orders|last)['id']", "a"),
        ("größe + 1", 8),
        # tests
        ("missing is defined", False),
        ("missing.deep is not defined", True),
        ("missing is undefined", True),
        ("n is defined and n is number", True),
        ("none is none", True),
        ("n is not none", True),
        ("text is string", True),
        ("prices is mapping", True),
        ("items is sequence", True),
        ("true is boolean", True),
        ("true is number", False),
    ],
)
def test_values(text: str, expected: Any) -> None:
    if expected is None and text.startswith("1 ~"):
        with pytest.raises(StepError, match="no meaning between text and a number"):
            value(text)
        return
    got = value(text)
    assert got == expected
    assert type(got) is type(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("text | upper", "HELLO WORLD"),
        ("text | lower | title | trim", "Hello World"),
        ("text | capitalize", "Hello world"),
        ("text | replace('World', 'you')", "Hello you"),
        ("'aaa' | replace('a', 'b', 2)", "bba"),
        ("'xxaxx' | trim('x')", "a"),
        ("text | length + 1", 12),
        ("text | truncate(5, leeway=0)", "He..."),
        ("text | truncate(9, true, '…', 0)", "Hello Wo…"),
        ("items | sort", [1, 2, 3]),
        ("items | sort(reverse=true)", [3, 2, 1]),
        ("['10', '9'] | sort", ["9", "10"]),
        ("orders | sort(attribute='sum') | map(attribute='id') | join(', ')", "b, a"),
        ("orders | map(attribute='sum') | sum", 12),
        ("orders | sum(attribute='sum')", 12),
        ("orders | sum('sum', 1)", 13),
        ("orders | join('-', 'id')", "b-a"),
        ("items | first", 3),
        ("items | last", 2),
        ("items | reverse", [2, 1, 3]),
        ("items | max - items | min", 2),
        ("[1, true, 1, 'a', 'a', {'x': 1}, {'x': 1}] | unique", [1, True, "a", {"x": 1}]),
        ("items | count", 3),
        ("prices | list", ["DE", "line-item"]),
        ("[1, none] | tojson", "[1,null]"),
        ("n | string", "5"),
        ("' 12 ' | int", 12),
        ("'3.7' | int", 3),
        ("'x' | int(0)", 0),
        ("'x' | float(default=none)", None),
        ("'1e3' | float", 1000.0),
        ("3.14159 | round(2)", 3.14),
        ("-3 | abs", 3),
        ("prices.DE | round(1)", Decimal("1.1")),
    ],
)
def test_filters(text: str, expected: Any) -> None:
    got = value(text)
    assert got == expected
    assert type(got) is type(expected)


@pytest.mark.parametrize(
    "text",
    [
        "'a' + 1",
        "true + 1",
        "none + none",
        "n < 'x'",
        "none < 1",
        "[1] < [2]",
        "'x' in 5",
        "1 in 'abc'",
        "n | upper",
        "n | join",
        "n | length",
        "'abc' | int",
        "[1, 'a'] | sort",
        "[[1], [2]] | sort",
        "n / zero",
        "n // 0.0",
        "n % zero",
        "n | round('x')",
        "n | round(-1)",
        "text | truncate(1)",
        "orders | sum",
        "orders | map(attribute='')",
        "-text",
    ],
)
def test_what_makes_no_sense_is_a_step_error_that_shows_the_expression(text: str) -> None:
    with pytest.raises(StepError) as caught:
        value(text)
    assert not isinstance(caught.value, UndefinedNameError)
    assert caught.value.type == "template_error"
    assert f"`{{{{ {text} }}}}`" in str(caught.value)
    assert "Hello" not in str(caught.value), "values stay out of error texts"


# --- one rule of truth and comparison -----------------------------------------------------------


@pytest.mark.parametrize(
    ("thing", "expected"),
    [
        ("false", False),
        ("true", True),
        ("", False),
        ("no", True),
        ("False", True),
        ("0", True),
        (" ", True),
        (0, False),
        (0.0, False),
        (None, False),
        ([], False),
        ({}, False),
        ([0], True),
        (True, True),
        (Secret("false"), False),
        (Secret("x"), True),
    ],
)
def test_truth_is_the_same_everywhere(thing: Any, expected: bool) -> None:
    context = {"x": thing}
    assert truth(thing) is expected
    assert compile_condition("{{ x }}").evaluate(context) is expected
    assert compile_condition("x").evaluate(context) is expected
    assert value("not x", context) is not expected
    assert value("1 if x else 2", context) == (1 if expected else 2)
    assert value("(x and 'yes') or 'no'", context) == ("yes" if expected else "no")


@pytest.mark.parametrize(
    ("left", "operator", "right", "expected"),
    [
        (10, "eq", "10", True),
        ("10", "gt", 9, True),
        ("10", "gt", "9", True),
        ("10", "lt", "9", False),
        ("1.0", "eq", "1", True),
        ("007", "eq", "7", False),
        ("007", "eq", 7, False),
        ("1e3", "eq", "1000", False),
        (Decimal("0.1"), "eq", 0.1, True),
        (Decimal("0.1"), "eq", "0.10", True),
        (0.1, "eq", "0.1", True),
        (True, "eq", "true", True),
        ("false", "eq", False, True),
        ("true", "eq", 1, False),
        (True, "eq", "yes", False),
        (None, "eq", "null", False),
        (None, "eq", None, True),
        ("b", "gte", "a", True),
        ([1], "eq", [1], True),
        (3, "in", ["3"], True),
        ("x", "in", {"x": 1}, True),
        (["3"], "contains", 3, True),
        ("abc", "contains", "b", True),
        (1, "neq", 2, True),
        (2, "lte", "2", True),
        (dt.date(2026, 1, 1), "lt", dt.date(2026, 1, 2), True),
        (Secret(5), "gt", 4, True),
    ],
)
def test_comparisons(left: Any, operator: str, right: Any, expected: bool) -> None:
    assert compare(operator, left, right) is expected
    signs = {"eq": "==", "neq": "!=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "in": "in"}
    if operator in signs:
        text = f"left {signs[operator]} right"
        assert value(text, {"left": left, "right": right}) is expected


def test_incomparable_values_are_step_errors() -> None:
    aware, naive = dt.datetime(2026, 1, 1, tzinfo=dt.UTC), dt.datetime(2026, 1, 1)
    with pytest.raises(StepError, match="date or time"):
        compare("lt", aware, naive)
    with pytest.raises(StepError, match="null and a number have no order"):
        compare("gt", None, 1)
    with pytest.raises(StepError):
        compare("gt", Decimal("NaN"), Decimal(1))


def test_emptiness() -> None:
    assert all(is_empty(thing) for thing in (None, "", [], {}, (), Secret("")))
    assert not any(is_empty(thing) for thing in (0, False, " ", [None], Secret("x")))


# --- conditions -------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["n > 4", " n > 4\n", "{{ n > 4 }}", "\n {{n > 4}} \n", "true"])
def test_a_condition_is_written_with_or_without_braces(text: str) -> None:
    assert compile_condition(text).evaluate(CONTEXT) is True


@pytest.mark.parametrize("text", ["{{ n }} > 4", "{{ n }}{{ n }}", "n > {{ 4 }}", "", "  ", "{{ }}"])
def test_a_condition_is_one_expression(text: str) -> None:
    with pytest.raises(TemplateError):
        compile_condition(text)


def test_text_from_the_context_is_never_an_expression() -> None:
    context = {"x": "().__class__.__base__.__subclasses__()"}
    text = "x == '().__class__.__base__.__subclasses__()'"
    assert compile_condition(text).evaluate(context) is True
