"""Who may touch what: `spec.context`, scopes and groups, tenants, secure fields, filters that name something."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from agent_stage import answer, tool_call, turn

from tuvl_core import Principal

READ = {"id": "look", "model": "Order", "operation": "list"}


def of(*scopes: str, groups: tuple[str, ...] = (), tenant: str | None = "t1") -> Principal:
    return Principal(subject="ada", tenant=tenant, scopes=frozenset(scopes), groups=frozenset(groups))


MAKE = {"id": "make", "model": "Order", "operation": "create", "payload": {"number": "A-1"}}
DROP = {"id": "drop", "model": "Order", "operation": "delete", "record_id": 1}


@pytest.mark.parametrize(
    ("step", "scope"), [(READ, "Order:read"), (MAKE, "Order:write"), (DROP, "Order:delete"), (READ, "order:read")]
)
async def test_a_step_needs_the_scope_of_its_model(shop: Any, step: dict[str, Any], scope: str) -> None:
    shop.workflow(step)
    app = await shop.open()
    refused = await app.run("w", principal=of("Order:else"))
    assert refused.status == "failed"
    assert refused.error is not None
    assert refused.error.type == "AccessError"
    assert refused.error.step == step["id"]
    assert scope.lower() in refused.error.message.lower()
    assert (await app.run("w", principal=of(scope))).status == "completed"


@pytest.mark.parametrize(
    ("access", "principal", "good"),
    [
        ({"read_scope": "desk:look"}, of("desk:look"), True),
        ({"read_scope": "desk:look"}, of("Order:read"), False),
        ({"read_group": "desk"}, of(groups=("desk",)), True),
        ({"read_group": "desk"}, of("Order:read", groups=("else",)), False),
        ({"read_scope": "desk:look", "read_group": "desk"}, of("desk:look"), False),
        ({"read_scope": "desk:look", "read_group": "desk"}, of("desk:look", groups=("desk",)), True),
        ({"write_scope": "desk:write"}, of("Order:read"), True),
    ],
)
async def test_a_definition_may_ask_for_scopes_and_groups_of_its_own(
    shop: Any, access: dict[str, str], principal: Principal, good: bool
) -> None:
    shop.models["Order"] = {**shop.models["Order"], "access": access}
    result = await shop.run(READ, principal=principal)
    assert (result.status == "completed") is good, result.error


async def test_a_model_outside_the_context_fails_the_run(shop: Any) -> None:
    shop.workflow(READ, context=["Customer"])
    _, result = await shop.live()
    assert result.status == "failed"
    assert result.error is not None
    assert (result.error.type, result.error.step) == ("AccessError", "look")
    assert "spec.context" in result.error.message


async def test_a_relation_outside_the_context_fails_the_run(shop: Any) -> None:
    shop.workflow({**READ, "include": ["customer"]}, context="Order")
    _, result = await shop.live()
    assert result.error is not None
    assert result.error.type == "AccessError"


async def test_a_refused_tool_is_an_error_result_and_leaves_nothing(shop: Any) -> None:
    make = {"id": "make", "model": "Order", "operation": "create", "description": "Make an order."}
    actor = shop.agent([turn(tool_call("make", '{"number": "A-1"}')), answer()], make)
    app = await shop.open()
    result = await app.run("w", principal=of("Order:read"))
    assert result.status == "completed"
    [said] = actor.answers()
    assert said["type"] == "AccessError"
    assert "Order:write" in said["error"]
    assert await shop.rows() == []


TENANTS = {
    "fields": [
        {"name": "id", "type": "integer", "primary_key": True},
        {"name": "tenant_id", "type": "string", "required": True},
        {"name": "status", "type": "string", "required": True},
        {"name": "number", "type": "string", "unique": True},
    ],
    "tenant_field": "tenant_id",
}


async def both_tenants(shop: Any) -> Any:
    """A model bound to tenants, with a record of each of two."""
    shop.models = {"Order": TENANTS}
    shop.workflow(
        {"id": "make", "model": "Order", "operation": "create", "payload": {"status": "open", "number": "A-1"}}
    )
    app = await shop.open()
    for tenant in ("t1", "t2"):
        result = await app.run("w", principal=of("*", tenant=tenant))
        assert result.status == "completed", result.error
        assert result.context["make_result"]["tenant_id"] == tenant
    await shop.close()


@pytest.mark.parametrize(
    "step",
    [
        {"operation": "list"},
        {"operation": "update", "all_rows": True, "payload": {"status": "void"}},
        {"operation": "update", "record_id": 2, "payload": {"status": "void"}},
        {"operation": "delete", "filters": {"status": "open"}},
        {"operation": "delete", "record_id": 2},
        {"operation": "read", "record_id": 2},
        {"operation": "list", "filters": {"tenant_id": "t2"}},
    ],
)
async def test_a_run_sees_the_records_of_its_own_tenant_only(shop: Any, step: dict[str, Any]) -> None:
    await both_tenants(shop)
    shop.workflow({"id": "it", "model": "Order", **step})
    app = await shop.open()
    result = await app.run("w", principal=of("*", tenant="t1"))
    assert result.status == "completed", result.error
    got = result.context["it_result"]
    assert "t2" not in json.dumps(got)
    shop.workflow({"id": "it", "model": "Order", "operation": "list"})
    await shop.close()
    app = await shop.open()
    other = await app.run("w", principal=of("*", tenant="t2"))
    assert [row["status"] for row in other.context["it_result"]] == ["open"]


NAMED = {
    "fields": [
        {"name": "id", "type": "string", "primary_key": True},
        {"name": "tenant_id", "type": "string", "required": True},
        {"name": "parent_id", "type": "string"},
    ],
    "relations": [{"name": "parent", "model": "Order", "foreign_key": "parent_id", "type": "many_to_one"}],
    "tenant_field": "tenant_id",
}


async def test_tenants_do_not_feel_each_other(shop: Any) -> None:
    """Two use one key, and neither can refer to, or hold on to, a record of the other."""
    shop.models = {"Order": NAMED}
    make = {"id": "make", "model": "Order", "operation": "create"}
    shop.workflow({**make, "payload": {"id": "{{ id }}", "parent_id": "{{ parent | default(none) }}"}})
    shop.workflow({"id": "drop", "model": "Order", "operation": "delete", "record_id": "A"}, name="drop")
    app = await shop.open()
    for tenant in ("t1", "t2"):
        assert (await app.run("w", {"id": "A"}, principal=of("*", tenant=tenant))).status == "completed"
    assert (await app.run("w", {"id": "only-t1"}, principal=of("*", tenant="t1"))).status == "completed"
    refused = await app.run("w", {"id": "B", "parent": "only-t1"}, principal=of("*", tenant="t2"))
    assert refused.error is not None
    assert refused.error.type == "foreign_key"
    assert (await app.run("w", {"id": "B", "parent": "A"}, principal=of("*", tenant="t2"))).status == "completed"
    assert (await app.run("drop", principal=of("*", tenant="t1"))).context["drop_result"] == {"deleted": True}
    held = await app.run("drop", principal=of("*", tenant="t2"))
    assert held.error is not None
    assert held.error.type == "foreign_key"


async def test_no_tenant_is_refused(shop: Any) -> None:
    await both_tenants(shop)
    shop.workflow({"id": "it", "model": "Order", "operation": "list"})
    app = await shop.open()
    result = await app.run("w", principal=of("*", tenant=None))
    assert result.error is not None
    assert result.error.type == "AccessError"


async def test_a_model_cannot_choose_the_tenant_or_the_run(shop: Any) -> None:
    """Case T-8: only declared names reach the step, rows of the run's own tenant only."""
    await both_tenants(shop)
    listing = {"id": "list_orders", "model": "Order", "operation": "list", "description": "List orders."}
    sent = {"status": "open", "tenant_id": "t2", "_session": None, "_db": 1, "_last_error": "x"}
    entries = [
        {"ref": "list_orders", "parameters": {"type": "object", "properties": {"status": {"type": "string"}}}},
    ]
    actor = shop.agent(
        [
            turn(tool_call("list_orders", json.dumps(sent))),
            turn(tool_call("list_orders", '{"status": "open"}')),
            answer(),
        ],
        listing,
        entries=entries,
    )
    app = await shop.open()
    result = await app.run("w", principal=of("*", tenant="t1"))
    assert result.status == "completed"
    first, second = actor.answers()
    assert "tenant_id" in first["error"]
    assert [row["tenant_id"] for row in second["list_orders_result"]] == ["t1"]


async def test_without_parameters_the_tenant_is_no_argument_either(shop: Any) -> None:
    await both_tenants(shop)
    listing = {"id": "list_orders", "model": "Order", "operation": "list", "description": "List orders."}
    actor = shop.agent([turn(tool_call("list_orders", '{"status": "open"}')), answer()], listing)
    app = await shop.open()
    await app.run("w", principal=of("*", tenant="t1"))
    offered = actor.tools[0][0]["function"]["parameters"]["properties"]
    assert set(offered) == {"status", "number"}
    assert [row["tenant_id"] for row in actor.answers()[0]["list_orders_result"]] == ["t1"]


# --- filters that name something (case D-2) -------------------------------------------------------


@pytest.mark.parametrize("operation", ["update", "delete"])
@pytest.mark.parametrize(
    ("filters", "context"),
    [
        ({"number": "{{ n }}"}, {}),
        ({"number": "{{ n }}"}, {"n": None}),
        ({"number": "{{ n }}"}, {"n": ""}),
        ({"number": "{{ n }}"}, {"n": "  "}),
        ({"number": {"in": "{{ n }}"}}, {"n": []}),
        ({"number": {"like": "{{ n }}"}}, {"n": "%"}),
        ({"number": {"like": "{{ n }}"}}, {"n": "%%"}),
        ({"number": {"like": "{{ n }}"}}, {"n": "%_%"}),
        ({"number": {"like": "{{ n }}"}}, {"n": "_%"}),
        ({"number": {"gte": "{{ n }}"}}, {"n": ""}),
        ({"number": "{{ n }}"}, {"n": {"like": "%"}}),
        ({"number": {"is_null": False}}, {}),
    ],
)
async def test_a_filter_that_names_nothing_changes_nothing(
    shop: Any, operation: str, filters: dict[str, Any], context: dict[str, Any]
) -> None:
    await shop.fill([{"number": f"A-{n}"} for n in range(10)])
    payload = {"payload": {"note": "changed"}} if operation == "update" else {}
    shop.workflow({"id": "it", "model": "Order", "operation": operation, "filters": filters, **payload})
    run, result = await shop.live(context)
    assert result.status == "stopped", result
    assert "number" in run.context["_last_error"] or "'n'" in run.context["_last_error"]
    rows = await shop.rows()
    assert len(rows) == 10
    assert all(row["note"] is None for row in rows)


@pytest.mark.parametrize("id", [None, "", "x"])
async def test_an_id_that_names_nothing_changes_nothing(shop: Any, id: Any) -> None:
    await shop.fill([{"number": "A-1"}])
    shop.workflow({"id": "it", "model": "Order", "operation": "delete", "record_id": "{{ id }}"})
    _, result = await shop.live({"id": id})
    assert result.status == "stopped"
    assert len(await shop.rows()) == 1


@pytest.mark.parametrize(
    ("step", "code"),
    [
        ({"operation": "delete"}, "TUVL-D009"),
        ({"operation": "update", "payload": {"note": "x"}}, "TUVL-D009"),
        ({"operation": "delete", "filters": {}}, "TUVL-D009"),
        ({"operation": "delete", "filters": "{{ filters }}"}, "TUVL-D009"),
        ({"operation": "delete", "filters": {"number": None}}, "TUVL-D009"),
        ({"operation": "delete", "filters": {"numbr": "x"}}, "TUVL-D008"),
        ({"operation": "delete", "filters": {"number": {"lk": "x"}}}, "TUVL-D008"),
        ({"operation": "delete", "all_rows": True, "record_id": 1}, "TUVL-D009"),
        ({"operation": "list", "payload": {"note": "x"}}, "TUVL-D010"),
        ({"operation": "create"}, "TUVL-D011"),
        ({"operation": "create", "payload": {"note": "x"}}, "TUVL-D011"),
        ({"operation": "create", "payload": {"number": "x", "nonsense": 1}}, "TUVL-D008"),
        ({"operation": "list", "order_by": "nmber"}, "TUVL-D008"),
        ({"operation": "list", "include": ["custmer"]}, "TUVL-D008"),
        ({"operation": "read"}, "TUVL-D009"),
        ({"operation": "list", "model": "Ordr"}, "TUVL-D007"),
    ],
)
async def test_what_can_be_seen_in_the_file_is_said_there(shop: Any, step: dict[str, Any], code: str) -> None:
    shop.workflow({"id": "it", "model": "Order", **step})
    found = [item for item in shop.check() if item.code.startswith("TUVL-D")]
    assert [item.code for item in found] == [code], found
    assert found[0].step == "it"
    assert found[0].location is not None


# --- only declared fields are written (case D-3) ---------------------------------------------------

MODEL_SENDS = {"number": "n", "note": "x", "id": 1, "made": "2020-01-01T00:00:00Z", "is_admin": True, "nonsense": 1}


@pytest.mark.parametrize("payload", [None, "{{ payload }}"])
async def test_a_model_writes_declared_fields_only(shop: Any, payload: Any) -> None:
    make = {"id": "make", "model": "Order", "operation": "create", "description": "Make an order."}
    if payload is not None:
        make["payload"] = payload
    sent = MODEL_SENDS if payload is None else {"payload": MODEL_SENDS}
    good = {"number": "n", "note": "x"}
    entries = (
        [{"ref": "make"}]
        if payload is None
        else [{"ref": "make", "parameters": {"type": "object", "properties": {"payload": {"type": "object"}}}}]
    )
    actor = shop.agent(
        [
            turn(tool_call("make", json.dumps(sent))),
            turn(tool_call("make", json.dumps(good if payload is None else {"payload": good}))),
            answer(),
        ],
        make,
        entries=entries,
    )
    await shop.live()
    refused, made = actor.answers()
    for name in ("id", "is_admin", "nonsense"):
        assert name in refused["error"]
    assert "note" in refused["error"]  # what is allowed is listed
    assert made["make_result"]["number"] == "n"
    assert len(await shop.rows()) == 1


async def test_the_author_may_fill_what_data_may_not(shop: Any) -> None:
    result = await shop.run(
        {
            "id": "it",
            "model": "Order",
            "operation": "create",
            "payload": {"number": "A", "made": "2020-01-01T00:00:00Z"},
        }
    )
    assert result.context["it_result"]["made"].startswith("2020-01-01T00:00:00")


# --- secure fields --------------------------------------------------------------------------------

PLANTED = "pl4nted-s3cret-value"


async def test_a_secure_value_leaves_by_no_way(shop: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    shop.node(
        "@node('fail')\nasync def fail(ctx):\n"
        "    raise ValueError(str(ctx['look_result']) + repr(ctx['look_result']))\n"
    )
    shop.workflow(
        {"id": "look", "model": "Customer", "operation": "read", "record_id": "c1"},
        {"id": "text", "kind": "Functional", "runner": "fail", "routes": {"error": "say"}},
        {"id": "say", "kind": "Response", "mapping": {"customer": "look_result", "error": "_last_error"}},
        {
            "id": "twin",
            "model": "Customer",
            "operation": "create",
            "payload": {"id": "c2", "name": "{{ look_result.token }}"},
            "routes": {"error": "list"},
        },
        {"id": "list", "model": "Order", "operation": "list"},
    )
    await plant(shop)
    app = await shop.open()
    events = [event async for event in app.stream("w")]
    texts = [json.dumps(event.to_dict()) for event in events]
    texts += [caplog.text, *(str(record.__dict__) for record in caplog.records)]
    assert texts[0]
    assert not [text for text in texts if PLANTED in text]
    assert '"***"' in "".join(texts)


async def plant(shop: Any) -> None:
    """A customer whose token must not show."""
    kept = (shop.root / "Workflow-w-.yaml").read_text()
    await shop.fill([{"id": "c1", "name": "Ada", "token": PLANTED}], "Customer")
    (shop.root / "Workflow-w-.yaml").write_text(kept)


async def test_a_secret_goes_into_secure_fields_only(shop: Any) -> None:
    shop.workflow(
        {"id": "look", "model": "Customer", "operation": "read", "record_id": "c1"},
        {
            "id": "copy",
            "model": "Customer",
            "operation": "create",
            "payload": {"id": "c2", "name": "B", "token": "{{ look_result.token }}"},
        },
        {
            "id": "leak",
            "model": "Customer",
            "operation": "create",
            "payload": {"id": "c3", "name": "{{ look_result.token }}"},
        },
    )
    await plant(shop)
    run, result = await shop.live()
    assert [entry.signal for entry in result.path] == ["default", "default", "error"]
    assert "not secure" in run.context["_last_error"]


@pytest.mark.parametrize(("reveal", "shown"), [([], "***"), (["token"], PLANTED)])
async def test_a_tool_shows_a_secure_field_only_where_its_entry_reveals_it(
    shop: Any, reveal: list[str], shown: str
) -> None:
    look = {"id": "look", "model": "Customer", "operation": "read", "description": "Look."}
    actor = shop.agent(
        [turn(tool_call("look", '{"id": "c1"}')), answer()], look, entries=[{"ref": "look", "reveal": reveal}]
    )
    await plant(shop)
    result = (await shop.live())[1]
    assert actor.answers()[0]["look_result"]["token"] == shown
    assert PLANTED not in json.dumps(result.to_dict())


async def test_a_secure_field_can_be_asked_for_by_the_author_but_not_by_a_model(shop: Any) -> None:
    shop.workflow({"id": "it", "model": "Customer", "operation": "list", "filters": {"token": "{{ token }}"}})
    await plant(shop)
    _, result = await shop.live({"token": PLANTED})
    assert [row["name"] for row in result.context["it_result"]] == ["Ada"]
    listing = {"id": "find", "model": "Customer", "operation": "list", "description": "Find."}
    actor = shop.agent([turn(tool_call("find", json.dumps({"token": PLANTED}))), answer()], listing)
    await shop.close()
    await shop.live()
    assert "token" not in actor.tools[0][0]["function"]["parameters"]["properties"]
    assert "token" in actor.answers()[0]["error"]


async def test_definitions_are_not_changed_by_runs(shop: Any) -> None:
    before = copy.deepcopy(shop.models)
    await shop.fill([{"number": "A-1"}])
    assert shop.models == before
