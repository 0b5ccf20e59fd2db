"""The five operations, on both databases."""

from __future__ import annotations

from typing import Any

import pytest


async def test_a_record_is_made_read_changed_and_removed(shop: Any) -> None:
    result = await shop.run(
        {"id": "make", "model": "Order", "operation": "create", "payload": {"number": "A-1", "total": "{{ total }}"}},
        {"id": "look", "model": "Order", "operation": "read", "record_id": "{{ make_result.id }}"},
        {
            "id": "pay",
            "model": "Order",
            "operation": "update",
            "record_id": "{{ make_result.id }}",
            "payload": {"status": "paid"},
        },
        {"id": "drop", "model": "Order", "operation": "delete", "record_id": "{{ make_result.id }}"},
        {"id": "again", "model": "Order", "operation": "read", "record_id": "{{ make_result.id }}"},
        {"id": "twice", "model": "Order", "operation": "delete", "record_id": "{{ make_result.id }}"},
        {
            "id": "late",
            "model": "Order",
            "operation": "update",
            "record_id": "{{ make_result.id }}",
            "payload": {"note": "x"},
        },
        context={"total": "39.9"},
    )
    assert result.status == "completed", result.error
    context = result.context
    made = context["make_result"]
    assert {key: made[key] for key in ("number", "status", "total", "note", "customer_id")} == {
        "number": "A-1",
        "status": "open",
        "total": "39.90",
        "note": None,
        "customer_id": None,
    }
    assert made["made"].endswith(("Z", "+00:00"))
    assert context["look_result"] == made
    assert context["pay_result"] == {**made, "status": "paid"}
    assert context["drop_result"] == {"deleted": True}
    assert context["again_result"] is None
    assert context["twice_result"] == {"deleted": False}
    assert context["late_result"] is None


ROWS = [
    {"number": "A-1", "status": "open", "total": "9.50", "note": "first"},
    {"number": "A-2", "status": "paid", "total": "10.00", "note": "second"},
    {"number": "A-3", "status": "paid", "total": "100.00"},
    {"number": "B-1", "status": "void", "total": "-5.25", "note": "100% off_er"},
]


@pytest.mark.parametrize(
    ("filters", "numbers"),
    [
        ({"status": "paid"}, ["A-2", "A-3"]),
        ({"status": {"eq": "paid"}, "total": {"gt": 10}}, ["A-3"]),
        ({"total": {"gte": "10", "lt": 100.0}}, ["A-2"]),
        ({"total": {"lte": "9.5"}}, ["A-1", "B-1"]),
        ({"total": "10"}, ["A-2"]),
        ({"total": {"in": [10, "100.00"]}}, ["A-2", "A-3"]),
        ({"number": {"in": ["A-1", "B-1", "Z-9"]}}, ["A-1", "B-1"]),
        ({"number": {"in": []}}, []),
        ({"number": {"like": "A-%"}}, ["A-1", "A-2", "A-3"]),
        ({"number": {"like": "a-%"}}, []),
        ({"note": {"like": r"%\% off\_%"}}, ["B-1"]),
        ({"note": {"is_null": True}}, ["A-3"]),
        ({"note": {"is_null": False}}, ["A-1", "A-2", "B-1"]),
        ({}, ["A-1", "A-2", "A-3", "B-1"]),
    ],
)
async def test_filters_find_what_they_name(shop: Any, filters: dict[str, Any], numbers: list[str]) -> None:
    await shop.fill(ROWS)
    rows = await shop.rows(filters=filters, order_by="number")
    assert [row["number"] for row in rows] == numbers


@pytest.mark.parametrize(
    ("order_by", "numbers"),
    [
        ("total", ["B-1", "A-1", "A-2", "A-3"]),
        ("-total", ["A-3", "A-2", "A-1", "B-1"]),
        (["status", "-number"], ["A-1", "A-3", "A-2", "B-1"]),
        ("note", ["B-1", "A-1", "A-2", "A-3"]),
        ("note desc", ["A-3", "A-2", "A-1", "B-1"]),
        ({"number": "desc"}, ["B-1", "A-3", "A-2", "A-1"]),
        (None, ["A-1", "A-2", "A-3", "B-1"]),
    ],
)
async def test_records_come_in_order(shop: Any, order_by: Any, numbers: list[str]) -> None:
    await shop.fill(ROWS)
    rows = await shop.rows(order_by=order_by)
    assert [row["number"] for row in rows] == numbers


async def test_limit_and_offset_page_through_records(shop: Any) -> None:
    await shop.fill(ROWS)
    assert [row["number"] for row in await shop.rows(order_by="number", limit=2)] == ["A-1", "A-2"]
    assert [row["number"] for row in await shop.rows(order_by="number", limit=2, offset=3)] == ["B-1"]


async def test_relations_come_along(shop: Any) -> None:
    await shop.fill([{"id": "c1", "name": "Ada"}, {"id": "c2", "name": "Bob"}, {"id": "c3", "name": "Cy"}], "Customer")
    await shop.fill(
        [
            {"number": "A-1", "customer_id": "c1"},
            {"number": "A-2", "customer_id": "c1"},
            {"number": "A-3", "customer_id": "c2"},
            {"number": "A-4"},
        ]
    )
    orders = await shop.rows(include=["customer"], order_by="number")
    assert [row["customer"] and row["customer"]["name"] for row in orders] == ["Ada", "Ada", "Bob", None]
    customers = await shop.rows("Customer", include=["orders"], order_by="id")
    assert [[order["number"] for order in row["orders"]] for row in customers] == [["A-1", "A-2"], ["A-3"], []]


async def test_a_read_by_id_holds_to_its_filters_too(shop: Any) -> None:
    await shop.fill(ROWS)
    for status, found in (("open", True), ("paid", False)):
        shop.workflow(
            {"id": "it", "model": "Order", "operation": "read", "record_id": 1, "filters": {"status": status}}
        )
        await shop.close()
        _, result = await shop.live()
        assert (result.context["it_result"] is not None) is found


@pytest.mark.parametrize("filters", [None, {}])
async def test_a_read_by_filters_that_name_nothing_is_no_record_by_chance(shop: Any, filters: Any) -> None:
    await shop.fill(ROWS)
    shop.workflow({"id": "it", "model": "Order", "operation": "read", "filters": "{{ f }}"})
    run, result = await shop.live({"f": filters})
    assert result.status == "stopped"
    assert run.context["_last_error_type"] == "bad_filter"
    run, result = await shop.live({"f": {"number": "A-2"}})
    assert run.context["it_result"]["number"] == "A-2"


async def test_many_records_are_changed_and_removed_by_filters(shop: Any) -> None:
    await shop.fill(ROWS)
    result = await shop.run(
        {
            "id": "mark",
            "model": "Order",
            "operation": "update",
            "filters": {"status": "{{ status }}", "total": {"gt": 5}},
            "payload": {"note": "marked"},
        },
        {"id": "drop", "model": "Order", "operation": "delete", "filters": {"status": "void"}},
        {"id": "none", "model": "Order", "operation": "delete", "filters": {"number": "Z-9"}},
        {"id": "all", "model": "Order", "operation": "update", "all_rows": True, "payload": {"status": "open"}},
        context={"status": "paid"},
    )
    assert result.status == "completed", result.error
    assert result.context["mark_result"] == {"updated": 2}
    assert result.context["drop_result"] == {"deleted": 1}
    assert result.context["none_result"] == {"deleted": 0}
    assert result.context["all_result"] == {"updated": 3}
    assert {row["note"] for row in await shop.rows(filters={"total": {"gt": 9.5}})} == {"marked"}


EVERYTHING = {
    "fields": {
        "id": {"type": "uuid", "primary_key": True},
        "string": {"type": "string"},
        "text": {"type": "text"},
        "varchar": {"type": "varchar", "length": 10},
        "integer": {"type": "integer"},
        "bigint": {"type": "bigint"},
        "smallint": {"type": "smallint"},
        "numeric": {"type": "numeric"},
        "money": {"type": "numeric", "precision": 20, "scale": 4},
        "float": {"type": "float"},
        "boolean": {"type": "boolean"},
        "uuid": {"type": "uuid"},
        "date": {"type": "date"},
        "timestamp": {"type": "timestamp"},
        "timestamptz": {"type": "timestamptz"},
        "jsonb": {"type": "jsonb"},
        "bytea": {"type": "bytea"},
        "enum": {"type": "enum", "enum_values": ["yes", "no"]},
    }
}
GIVEN = {
    "string": "naïve ☃ 'quoted' \"double\" \\",
    "text": "a\r\nb\u2028",
    "varchar": "0123456789",
    "integer": "-2147483648",
    "bigint": 9223372036854775807,
    "smallint": 32767,
    "numeric": "123456789012345678901234567890.123456789012345678900",
    "money": "0.1",
    "float": 0.1,
    "boolean": "true",
    "uuid": "12345678-1234-5678-1234-567812345678",
    "date": "2024-02-29",
    "timestamp": "2026-12-03T05:47:25.123456",
    "timestamptz": "2026-12-03T05:47:25.000001+05:30",
    "jsonb": {"a": [1, 2.5, None, True, "x"], "big": 12345678901234567890, "é": {}},
    "bytea": {"base64": "/wA="},
    "enum": "no",
}
LEAVES = {
    **GIVEN,
    "integer": -2147483648,
    "money": "0.1000",
    "boolean": True,
    "timestamptz": "2026-12-03T00:17:25.000001Z",
}


async def test_every_type_comes_back_as_it_went_in(shop: Any) -> None:
    shop.models = {"Everything": EVERYTHING}
    first = await shop.run(
        {"id": "make", "model": "Everything", "operation": "create", "payload": "{{ given }}"},
        {"id": "look", "model": "Everything", "operation": "read", "record_id": "{{ make_result.id }}"},
        context={"given": GIVEN},
    )
    assert first.status == "completed", first.error
    made = dict(first.context["make_result"])
    assert first.context["look_result"] == made
    id = made.pop("id")
    assert len(id) == 36
    assert {**made, "timestamptz": made["timestamptz"].replace("+00:00", "Z")} == LEAVES
    second = await shop.run(
        {"id": "again", "model": "Everything", "operation": "create", "payload": "{{ given }}"}, context={"given": made}
    )
    copy = dict(second.context["again_result"])
    assert copy.pop("id") != id
    assert copy == made


@pytest.mark.parametrize(
    "value", [12345678901234567890123, 10**300, 100.0, 0.1, "text", True, [], {}, [1, [2.5]], "", -0.0]
)
async def test_json_of_any_kind_comes_back_as_it_went_in(shop: Any, value: Any) -> None:
    shop.models = {"Everything": EVERYTHING}
    make = {"id": "make", "model": "Everything", "operation": "create", "payload": {"jsonb": "{{ value }}"}}
    look = {"id": "look", "model": "Everything", "operation": "read", "record_id": "{{ make_result.id }}"}
    result = await shop.run(make, look, context={"value": value})
    assert result.status == "completed", result.error
    assert result.context["look_result"]["jsonb"] == value == result.context["make_result"]["jsonb"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("timestamptz", "2026-01-31T12:00:00.1234567Z"),
        ("timestamp", "2026-01-31T12:00:00.0000001"),
        ("money", "0.00001"),
        ("varchar", "01234567890"),
        ("smallint", 32768),
        ("integer", 1.5),
        ("date", "2026-02-30"),
        ("text", "a\x00b"),
        ("enum", "maybe"),
        ("uuid", "nobody"),
        ("bytea", "/wA="),
        ("boolean", 1),
    ],
)
async def test_a_value_that_would_be_bent_is_refused(shop: Any, field: str, value: Any) -> None:
    shop.models = {"Everything": EVERYTHING}
    shop.workflow({"id": "make", "model": "Everything", "operation": "create", "payload": {field: "{{ value }}"}})
    run, result = await shop.live({"value": value})
    assert result.status == "stopped"
    assert run.context["_last_error_type"] == "bad_value"
    assert field in run.context["_last_error"]


@pytest.mark.parametrize(
    ("field", "given", "leaves"),
    [
        ("numeric", "-0", "0"),
        ("numeric", "1E+22", "10000000000000000000000"),
        ("money", -0.0, "0.0000"),
        ("float", 10, 10.0),
        ("timestamptz", "2026-01-31T12:00:00.1234560Z", "2026-01-31T12:00:00.123456"),
        ("text", 3.5, "3.5"),
    ],
)
async def test_one_value_has_one_form(shop: Any, field: str, given: Any, leaves: Any) -> None:
    shop.models = {"Everything": EVERYTHING}
    make = {"id": "make", "model": "Everything", "operation": "create", "payload": {field: "{{ given }}"}}
    look = {"id": "look", "model": "Everything", "operation": "read", "record_id": "{{ make_result.id }}"}
    result = await shop.run(make, look, context={"given": given})
    for record in (result.context["make_result"], result.context["look_result"]):
        shown = record[field]
        assert repr(shown) == repr(leaves) or (field == "timestamptz" and shown.startswith(leaves))


async def test_text_sorts_and_compares_by_its_characters(shop: Any) -> None:
    await shop.fill([{"number": text} for text in ("b", "B", "a", "A", "é", "_x")])
    assert [row["number"] for row in await shop.rows(order_by="number")] == ["A", "B", "_x", "a", "b", "é"]
    assert {row["number"] for row in await shop.rows(filters={"number": {"lt": "a"}})} == {"A", "B", "_x"}


async def test_nothing_is_null(shop: Any) -> None:
    shop.models = {"Everything": EVERYTHING}
    nothing = dict.fromkeys(GIVEN)
    result = await shop.run(
        {"id": "make", "model": "Everything", "operation": "create", "payload": "{{ given }}"},
        context={"given": nothing},
    )
    assert {key: value for key, value in result.context["make_result"].items() if key != "id"} == nothing
