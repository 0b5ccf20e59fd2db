"""Kind Router: which signal it leaves by."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

BOTH = {"true": "END", "false": "END"}


def by(field: str, operator: str, *value: Any) -> dict[str, Any]:
    condition = {"field": field, "operator": operator}
    if value:
        condition["value"] = value[0]
    return {"id": "r", "kind": "Router", "condition": condition, "routes": BOTH}


@pytest.mark.parametrize(
    ("operator", "found", "value", "expected"),
    [
        ("eq", 10, 10, "true"),
        ("eq", "10", 10, "true"),
        ("eq", "10.0", 10, "true"),
        ("eq", 10.5, "10.5", "true"),
        ("eq", "ten", 10, "false"),
        ("eq", "a", "a", "true"),
        ("eq", "A", "a", "false"),
        ("eq", True, "true", "true"),
        ("eq", "false", False, "true"),
        ("eq", None, None, "true"),
        ("eq", 0, None, "false"),
        ("eq", [1, 2], [1, 2], "true"),
        ("neq", "10", 10, "false"),
        ("neq", "b", "a", "true"),
        ("gt", "9", "10", "false"),
        ("gt", "10", "9", "true"),
        ("gt", 10, 10, "false"),
        ("gte", 10, 10, "true"),
        ("lt", "2.5", 3, "true"),
        ("lte", -1, "-1", "true"),
        ("gt", "2026-02-01", "2026-01-31", "true"),
        ("in", "b", ["a", "b"], "true"),
        ("in", "3", [1, 2, 3], "true"),
        ("in", "ell", "hello", "true"),
        ("in", "c", ["a", "b"], "false"),
        ("contains", ["a", "b"], "b", "true"),
        ("contains", "hello", "ell", "true"),
        ("contains", {"k": 1}, "k", "true"),
        ("contains", [], "a", "false"),
    ],
)
async def test_operators(bench, operator, found, value, expected):
    outcome = await bench.run(by("x.y", operator, value), context={"x": {"y": found}})
    assert outcome.signals == [expected]


@pytest.mark.parametrize("value", ["", None, [], {}])
async def test_empty(bench, value):
    assert (await bench.run(by("x", "is_empty"), context={"x": value})).signals == ["true"]
    assert (await bench.run(by("x", "is_not_empty"), context={"x": value})).signals == ["false"]


@pytest.mark.parametrize("value", [0, False, " ", "false", [None], {"a": None}])
async def test_not_empty(bench, value):
    assert (await bench.run(by("x", "is_empty"), context={"x": value})).signals == ["false"]
    assert (await bench.run(by("x", "is_not_empty"), context={"x": value})).signals == ["true"]


@pytest.mark.parametrize(
    "operator", ["eq", "neq", "gt", "gte", "lt", "lte", "in", "contains", "is_empty", "is_not_empty"]
)
async def test_a_missing_field_makes_neq_and_is_empty_true_all_else_false(bench, operator):
    value = () if operator.startswith("is_") else ("a",)
    expected = "true" if operator in ("neq", "is_empty") else "false"
    for context in ({}, {"x": {}}, {"x": [1]}, {"x": "text"}):
        outcome = await bench.run(by("x.y", operator, *value), context=context)
        assert outcome.signals == [expected], context


async def test_values_of_python_and_databases_compare(bench):
    context = {"total": Decimal("10.10"), "day": dt.date(2026, 1, 2), "limit": Decimal("10.1")}
    assert (await bench.run(by("total", "eq", 10.1), context=context)).signals == ["true"]
    assert (await bench.run(by("total", "eq", "{{ limit }}"), context=context)).signals == ["true"]
    assert (await bench.run(by("day", "lt", "{{ day }}"), context=context)).signals == ["false"]


async def test_digits_index_lists(bench):
    outcome = await bench.run(by("items.1.id", "eq", 7), context={"items": [{"id": 1}, {"id": 7}]})
    assert outcome.signals == ["true"]


async def test_what_has_no_order_is_an_error_that_names_the_field(bench):
    outcome = await bench.run(by("x.y", "gt", 3), context={"x": {"y": ["a"]}})
    assert outcome.signals == ["error"]
    assert outcome.error_type == "cannot_compare"
    assert "x.y gt" in outcome.error


async def test_a_template_as_value_keeps_its_type_and_is_not_looked_at_again(bench):
    steps = by("x", "eq", "{{ y }}")
    assert (await bench.run(steps, context={"x": 3, "y": 3})).signals == ["true"]
    assert (await bench.run(steps, context={"x": "{{ z }}", "y": "{{ z }}"})).signals == ["true"]
    assert (await bench.run(steps, context={"x": 3})).error_type == "undefined_name"


@pytest.mark.parametrize(
    ("value", "expected"),
    [(True, "true"), (False, "false"), (0, "false"), ([], "false"), ("false", "false"), ("no", "true")],
)
async def test_the_native_value_decides_an_expression(bench, value, expected):
    for condition in ("{{ approved }}", "approved"):
        step = {"id": "r", "kind": "Router", "condition": condition, "routes": BOTH}
        assert (await bench.run(step, context={"approved": value})).signals == [expected]


async def test_expressions_compare_and_combine(bench):
    condition = "order.total > 100 and not order.paid or order.vip == 'yes'"
    step = {"id": "r", "kind": "Router", "condition": condition, "routes": BOTH}
    order = {"total": 120, "paid": False, "vip": "no"}
    assert (await bench.run(step, context={"order": order})).signals == ["true"]
    assert (await bench.run(step, context={"order": {**order, "paid": True}})).signals == ["false"]


async def test_an_undefined_name_in_an_expression_names_variable_and_step(bench):
    step = {"id": "decide", "kind": "Router", "condition": "order.total > 1", "routes": BOTH}
    outcome = await bench.run(step, context={"order": {}})
    assert outcome.signals == ["error"]
    assert "order.total" in outcome.error
    assert "decide" in outcome.error


@pytest.mark.parametrize(
    "condition",
    [
        "().__class__.__base__.__subclasses__()",
        "__import__('os')",
        "(9**9)**9**9",
        "'x' * 10**10",
        "_session",
        "order.__class__",
        "[x for x in y]",
        "{{ a }} and {{ b }}",
        "",
    ],
)
def test_conditions_outside_the_grammar_are_refused_before_they_run(bench, condition):
    step = {"id": "r", "kind": "Router", "condition": condition, "routes": BOTH}
    found = [item for item in bench.check(step) if item.severity == "error"]
    assert found
    assert found[0].klass == "structure"
    assert found[0].location is not None


async def test_text_of_the_context_is_data(bench):
    step = {"id": "r", "kind": "Router", "condition": "x == y", "routes": BOTH}
    evil = "().__class__.__base__.__subclasses__()"
    assert (await bench.run(step, context={"x": evil, "y": evil})).signals == ["true"]


def match(**routes: str) -> dict[str, Any]:
    return {"id": "r", "kind": "Router", "match": {"field": "x.state"}, "routes": routes}


@pytest.mark.parametrize(
    ("value", "signal"),
    [("paid", "paid"), (3, "3"), (True, "true"), (False, "false"), (Decimal("1.50"), "1.50")],
)
async def test_match_leaves_by_the_values_text(bench, value, signal):
    step = match(**{"paid": "END", "3": "END", "true": "END", "false": "END", "1.50": "END"})
    assert (await bench.run(step, context={"x": {"state": value}})).signals == [signal]


@pytest.mark.parametrize("state", ["other", None, [], {}, "", "Paid", " paid"])
async def test_match_takes_the_default_route_for_anything_else(bench, state):
    outcome = await bench.run(match(paid="END", default="END"), context={"x": {"state": state}})
    assert outcome.signals == ["default"]


async def test_match_takes_the_default_route_for_a_missing_field(bench):
    assert (await bench.run(match(paid="END", default="END"))).signals == ["default"]


async def test_an_unknown_label_without_default_is_one_clear_error(bench):
    outcome = await bench.run(match(yes="END", no="END"), context={"x": {"state": "maybe"}})
    assert outcome.result.status == "failed"
    assert outcome.result.error.type == "UnroutedSignalError"
    for part in ("'w'", "'r'", "'maybe'", "yes", "no"):
        assert part in outcome.result.error.message


async def test_a_missing_field_without_default_is_an_error(bench):
    outcome = await bench.run(match(yes="END", no="END"))
    assert outcome.result.status == "stopped"
    assert outcome.error_type == "undefined_name"
    assert "x.state" in outcome.error


@pytest.mark.parametrize("state", [None, "", [1]])
async def test_what_is_no_label_never_falls_through(bench, state):
    steps = [match(yes="END"), {"id": "after", "kind": "Response", "source": "x"}]
    outcome = await bench.run(*steps, context={"x": {"state": state}})
    assert outcome.result.status in ("stopped", "failed")


async def test_yaml_words_are_labels_as_they_are_written(bench):
    bench.write(
        "w.yaml",
        "kind: Workflow\nmetadata: {name: w}\nspec:\n  steps:\n"
        "    - id: off\n      kind: Router\n      match: {field: switch}\n"
        "      routes: {on: END, off: END, no: END}\n",
    )
    assert bench.codes() == []
    assert (await bench.run(context={"switch": "on"})).signals == ["on"]


# --- what validate sees ---------------------------------------------------------------------


def router(**keys: Any) -> dict[str, Any]:
    return {"id": "r", "kind": "Router", "routes": BOTH, **keys}


def test_one_of_condition_and_match(bench):
    assert bench.codes(router()) == ["TUVL-R001"]
    assert bench.codes(router(condition="x", match={"field": "x"})) == ["TUVL-R001"]
    assert bench.codes(router(condition="x")) == []
    assert bench.codes(router(match={"field": "x"})) == []


def test_a_field_is_a_path_not_a_template(bench):
    assert bench.codes(by("{{ x.y }}", "is_empty")) == ["TUVL-R002"]
    assert bench.codes(router(match={"field": "{{ x }}"})) == ["TUVL-R002"]
    (found,) = bench.check(by("{{ x.y }}", "is_empty"))
    assert "`x.y`" in found.message


def test_operators_and_values_go_together(bench):
    assert bench.codes(by("x", "gt")) == ["TUVL-R003"]
    assert bench.codes(by("x", "is_empty", 1)) == ["TUVL-R003"]
    assert bench.codes(by("x", "eq", None)) == []


def test_an_unknown_operator_is_refused(bench):
    assert bench.codes(by("x", "equals", 1))


def test_signals_without_a_route_are_reported(bench):
    (found,) = bench.check({**router(condition="x"), "routes": {"true": "END"}})
    assert (found.code, found.severity, found.klass) == ("TUVL-R004", "error", "flow")
    assert "`false`" in found.message
    assert bench.codes({**router(condition="x"), "routes": {}}) == ["TUVL-R004"]
    assert bench.codes({**router(match={"field": "x"}), "routes": {}}) == ["TUVL-R004"]


async def test_a_router_with_a_missing_route_still_runs_until_it_gets_there(bench):
    step = {**router(condition="x"), "routes": {"true": "END"}}
    assert (await bench.run(step, context={"x": 1})).result.status == "completed"
    outcome = await bench.run(step, context={"x": 0})
    assert outcome.result.error.type == "UnroutedSignalError"
