"""Kind Response: what a run answers."""

from __future__ import annotations

from typing import Any

import pytest


def response(**keys: Any) -> dict[str, Any]:
    return {"id": "answer", "kind": "Response", **keys}


ORDER = {"order": {"id": "A-1", "items": [{"name": "kettle"}, {"name": "cup"}]}}


@pytest.mark.parametrize(
    ("source", "expected"),
    [("order", ORDER["order"]), ("order.id", "A-1"), ("order.items.1.name", "cup")],
)
async def test_source_is_the_result(bench, source, expected):
    outcome = await bench.run(response(source=source), context=ORDER)
    assert outcome.result.status == "completed"
    assert outcome.result.result == expected
    assert outcome.result.result_status == 200
    assert outcome.signals == ["default"]


async def test_mapping_builds_an_object_in_its_order(bench):
    step = response(mapping={"name": "order.items.0.name", "id": "order.id"}, status=201)
    outcome = await bench.run(step, context=ORDER)
    assert list(outcome.result.result.items()) == [("name", "kettle"), ("id", "A-1")]
    assert outcome.result.result_status == 201


@pytest.mark.parametrize("value", [None, False, 0, "", [], {}])
async def test_values_that_are_there_but_empty_are_results(bench, value):
    outcome = await bench.run(response(source="x"), context={"x": value})
    assert outcome.result.status == "completed"
    assert outcome.result.result == value
    assert type(outcome.result.result) is type(value)


async def test_the_last_response_counts(bench):
    steps = [
        {"id": "one", "kind": "Response", "source": "a", "status": 202},
        {"id": "two", "kind": "Response", "source": "b"},
    ]
    outcome = await bench.run(*steps, context={"a": 1, "b": 2})
    assert (outcome.result.result, outcome.result.result_status) == (2, 200)


@pytest.mark.parametrize("keys", [{"source": "order.total"}, {"mapping": {"t": "order.total"}}])
async def test_a_path_that_leads_nowhere_is_an_error_that_names_it(bench, keys):
    outcome = await bench.run(response(**keys), context=ORDER)
    assert outcome.result.status == "stopped"
    assert outcome.error_type == "undefined_name"
    assert "order.total" in outcome.error
    assert "answer" in outcome.error
    assert outcome.result.result is None


@pytest.mark.parametrize("source", ["_session", "_run", "_last_error_stack"])
async def test_the_engines_names_are_no_results(bench, source):
    outcome = await bench.run(response(source=source), context=ORDER)
    assert outcome.error_type == "undefined_name"


async def test_the_context_is_left_as_it_was(bench):
    outcome = await bench.run(response(source="order"), context=ORDER)
    assert outcome.result.context == ORDER


def test_one_of_source_and_mapping(bench):
    assert bench.codes(response()) == ["TUVL-R101"]
    assert bench.codes(response(source="a", mapping={"b": "c"})) == ["TUVL-R101"]
    assert bench.codes(response(source="a")) == []
    assert bench.codes(response(mapping={})) == []


def test_a_path_is_no_template(bench):
    assert bench.codes(response(source="{{ a }}")) == ["TUVL-R102"]
    (found,) = bench.check(response(mapping={"x": "{{ a.b }}"}))
    assert found.code == "TUVL-R102"
    assert "`a.b`" in found.message


@pytest.mark.parametrize("status", [199, 600, "200", 20.5])
def test_a_status_is_a_status(bench, status):
    assert bench.codes(response(source="a", status=status))
