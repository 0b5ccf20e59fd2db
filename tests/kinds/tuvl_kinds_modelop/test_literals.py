"""Values that stand in a file are held to their fields before anything runs, exactly as a run would."""

from __future__ import annotations

from typing import Any

import pytest

VALUES: list[tuple[str, Any, bool]] = [
    ("status", "payed", False),
    ("status", "paid", True),
    ("status", 3, False),
    ("total", "12.345", False),
    ("total", "12.34", True),
    ("total", 12.3, True),
    ("total", "a lot", False),
    ("total", 10**12, False),
    ("made", "yesterday", False),
    ("made", "2026-01-31", True),
    ("note", {"a": 1}, False),
    ("note", 5, True),
    ("note", True, False),
    ("note", None, True),
    ("number", None, False),
    ("note", "a\0b", False),
]


@pytest.mark.parametrize(("name", "value", "fits"), VALUES)
@pytest.mark.parametrize("where", ["create", "filter"])
async def test_a_value_is_refused_in_the_file_if_a_run_refuses_it(
    sqlite_shop: Any, where: str, name: str, value: Any, fits: bool
) -> None:
    if where == "create":
        step: dict[str, Any] = {"operation": "create", "payload": {"number": "A-1", name: value}}
    else:
        step = {"operation": "list", "filters": {name: value}}
        fits = fits and value is not None  # nothing equals null
        if isinstance(value, dict):
            return  # operators
    sqlite_shop.workflow({"id": "it", "model": "Order", **step})
    found = [item for item in sqlite_shop.check() if item.severity != "info"]
    assert [item.code for item in found] == ([] if fits else ["TUVL-D013"]), found
    _, result = await sqlite_shop.live({})
    assert result.status == ("completed" if fits else "stopped"), result


FILTERS: list[tuple[Any, str | None]] = [
    ({"status": {"in": ["open", "payed"]}}, "TUVL-D013"),
    ({"status": {"in": ["open", "paid"]}}, None),
    ({"status": {"in": "open"}}, "TUVL-D013"),
    ({"status": ["open", "paid"]}, "TUVL-D013"),
    ({"status": {"in": ["open", "{{ status }}"]}}, None),
    ({"status": {"in": ["{{ status }}", "payed"]}}, "TUVL-D013"),
    ({"total": {"gte": "much"}}, "TUVL-D013"),
    ({"total": {"gte": "{{ much }}"}}, None),
    ({"note": {"is_null": "maybe"}}, "TUVL-D013"),
    ({"note": {"is_null": True}}, None),
    ({"note": {"like": 5}}, "TUVL-D013"),
    ({"note": {"like": "5%"}}, None),
]


@pytest.mark.parametrize(("filters", "code"), FILTERS)
async def test_what_filters_compare_with(sqlite_shop: Any, filters: dict[str, Any], code: str | None) -> None:
    sqlite_shop.workflow({"id": "it", "model": "Order", "operation": "list", "filters": filters})
    found = [item for item in sqlite_shop.check() if item.severity != "info"]
    assert [item.code for item in found] == ([] if code is None else [code]), found
    _, result = await sqlite_shop.live({"status": "open", "much": 3})
    assert result.status == ("completed" if code is None else "stopped"), result


def test_where_it_stands_and_what_was_meant(sqlite_shop: Any) -> None:
    sqlite_shop.workflow({"id": "it", "model": "Order", "operation": "list", "filters": {"status": "payed"}})
    [found] = sqlite_shop.check()
    assert found.message == "field 'status' takes one of open, paid, void, not \"payed\""
    assert found.hint == "did you mean `paid`?" and found.step == "it" and found.klass == "flow"


@pytest.mark.parametrize(("id", "code"), [("x", "TUVL-D013"), (3, None), ("3", None), ("{{ id }}", None)])
def test_an_id_in_the_file(sqlite_shop: Any, id: Any, code: str | None) -> None:
    sqlite_shop.workflow({"id": "it", "model": "Order", "operation": "read", "record_id": id})
    found = [item.code for item in sqlite_shop.check() if item.severity != "info"]
    assert found == ([] if code is None else [code])


VAULT = """
from tuvl_core import hookimpl

TUVL_API = 1


@hookimpl
def tuvl_secret_resolvers():
    return {"t-vault": lambda ref: "opened " + ref}
"""


def test_what_the_environment_brings_in_is_not_shown(sqlite_shop: Any) -> None:
    (sqlite_shop.root / "plugins").mkdir()
    (sqlite_shop.root / "plugins" / "vault.py").write_text(VAULT)
    sqlite_shop.environ["STATUS"] = "hush"
    for name, value, found in (
        ("status", "${STATUS}", ["TUVL-D013"]),
        ("note", "${STATUS}", []),
        ("note", "${t-vault://x}", ["TUVL-D013"]),  # a secret is for a secure field
    ):
        payload = {"number": "A-1", name: value}
        sqlite_shop.workflow({"id": "it", "model": "Order", "operation": "create", "payload": payload})
        told = [item for item in sqlite_shop.check() if item.severity != "info"]
        assert [item.code for item in told] == found, told
        assert not any("hush" in str(item) or "opened" in str(item) for item in told)
    payload = {"id": "c", "name": "n", "token": "${t-vault://x}"}
    sqlite_shop.workflow({"id": "it", "model": "Customer", "operation": "create", "payload": payload})
    assert not [item for item in sqlite_shop.check() if item.severity != "info"]


# --- tenants ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("field", "codes"), [("tenant", ["TUVL-D014"]), ("number", [])])
def test_a_filter_on_the_tenant(sqlite_shop: Any, field: str, codes: list[str]) -> None:
    order = sqlite_shop.models["Order"]
    fields = [*order["fields"], {"name": "tenant", "type": "string", "required": True}]
    sqlite_shop.models["Order"] = {**order, "fields": fields, "tenant_field": "tenant"}
    sqlite_shop.workflow({"id": "it", "model": "Order", "operation": "list", "filters": {field: "acme"}})
    assert [item.code for item in sqlite_shop.check() if item.severity != "info"] == codes


# --- as a tool --------------------------------------------------------------------------------------


def agent(**tool: Any) -> dict[str, Any]:
    leads = dict.fromkeys(["done", "max_iterations", "budget_exceeded", "error", "aborted"], "END")
    keys = {"model": "openai/gpt-4o-mini", "steering": "Work.", "outcome": {"enum": ["done"]}}
    return {
        "id": "agent",
        "kind": "AutonomousAgent",
        "agent": {**keys, "tools": [{"ref": "it", "description": "Does it.", **tool}]},
        "routes": leads,
    }


def codes(shop: Any) -> list[str]:
    return [item.code for item in shop.check() if item.code.startswith("TUVL-D") and item.severity != "info"]


def test_every_record_in_one_call(sqlite_shop: Any) -> None:
    wipe = {"id": "it", "model": "Order", "operation": "delete", "all_rows": True}
    sqlite_shop.workflow(wipe)
    assert codes(sqlite_shop) == []
    sqlite_shop.workflow(agent(), wipe)
    assert codes(sqlite_shop) == ["TUVL-D015"]
    del wipe["all_rows"]
    sqlite_shop.workflow(agent(), wipe)
    assert codes(sqlite_shop) == []


@pytest.mark.parametrize(
    ("reveal", "step", "found"),
    [
        (["tokn"], {}, ["TUVL-D016"]),
        (["token"], {}, []),
        (["orders"], {"include": ["orders"]}, []),
        (["number"], {"include": ["orders"]}, []),
        (["number"], {}, ["TUVL-D016"]),
        (["tokn"], {"operation": "delete"}, []),
    ],
)
def test_what_an_agent_may_see(sqlite_shop: Any, reveal: list[str], step: dict[str, Any], found: list[str]) -> None:
    sqlite_shop.workflow(agent(reveal=reveal), {"id": "it", "model": "Customer", "operation": "read", **step})
    assert codes(sqlite_shop) == found
    if found:
        [item] = [item for item in sqlite_shop.check() if item.code == "TUVL-D016"]
        assert item.step == "agent" and repr(reveal[0]) in item.message


# --- spec.context -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("context", "hint"),
    [
        ([], "write `context: [Order]` under `spec`"),
        (["Customer"], "write `context: [Customer, Order]` under `spec`"),
        ([{"name": "Customer", "version": "v1"}], "add `Order` to the list at `spec.context`"),
        ({"models": ["Customer"]}, "add `Order` to `spec.context.models`"),
    ],
)
def test_what_to_write_into_the_context(sqlite_shop: Any, context: Any, hint: str) -> None:
    sqlite_shop.workflow({"id": "it", "model": "Order", "operation": "list"}, context=context)
    [found] = [item for item in sqlite_shop.check() if item.severity != "info"]
    assert (found.code, found.hint) == ("TUVL-D012", hint)


def test_a_context_that_cannot_be_read_is_told_once(sqlite_shop: Any) -> None:
    sqlite_shop.workflow({"id": "it", "model": "Order", "operation": "list"}, context=5)
    assert [item.code for item in sqlite_shop.check() if item.severity != "info"] == ["TUVL-S003"]


async def test_a_list_may_pin_versions(sqlite_shop: Any) -> None:
    sqlite_shop.workflow({"id": "it", "model": "Order", "operation": "list"}, context=[{"name": "Order"}, "Customer"])
    _, result = await sqlite_shop.live({})
    assert result.status == "completed"
