"""What nodes reach through `ctx["_db"]`: the run's own databases, within what the run may touch."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agent_stage import answer, tool_call, turn

from tuvl_core import Principal
from tuvl_testing import RecordingHandler

NODES = """
import sqlalchemy as sa

@node("orders")
async def orders(ctx):
    orders = ctx["_db"]["Order"]
    one = await orders.create({"number": "A-1", "total": "10.50"})
    two = await orders.create({"number": "A-2", "total": 3, "status": "paid"})
    kinds = [type(one["total"]).__name__, type(one["made"]).__name__]
    changed = await orders.update(two["id"], {"note": "x"}, filters={"status": "paid"})
    missed = await orders.update(two["id"], {"note": "y"}, filters={"status": "void"})
    many = await orders.update_where({"total": {"gt": 5}}, {"note": "big"})
    found = [row["number"] for row in await orders.list({"note": {"like": "b%"}}, limit=None)]
    gone = [await orders.delete(two["id"]), await orders.delete(two["id"]), await orders.delete_where({"number": "Z"})]
    return {"kinds": kinds, "changed": changed["note"], "missed": missed, "many": many, "found": found, "gone": gone}

@node("core")
async def core(ctx):
    db = ctx["_db"]
    table = db.table("Order")
    await db.execute(sa.insert(table).values(number="A-9", total=7))
    rows = await db.execute(sa.select(table.c.number, sa.func.count().label("n")).group_by(table.c.number))
    return {"rows": rows}

@node("wrong")
async def wrong(ctx):
    db = ctx["_db"]
    what = ctx["what"]
    if what == "other model":
        return {"x": await db["Customer"].list()}
    if what == "other table":
        other = db.tables.metadata("main").tables["customer"]
        return {"x": await db.execute(sa.select(other))}
    if what == "text":
        return {"x": await db.execute(sa.text("SELECT 1"))}
    if what == "text inside":
        return {"x": await db.execute(sa.select(db.table("Order")).where(sa.text("1=1")))}
    if what == "write":
        return {"x": await db["Order"].create({"number": "A-1"})}
    if what == "write by core":
        return {"x": await db.execute(sa.insert(db.table("Order")).values(number="A-1"))}
    if what == "write in a select":
        made = sa.insert(db.table("Order")).values(number="A-1").returning(db.table("Order").c.id).cte("made")
        return {"x": await db.execute(sa.select(made))}
    if what == "literal column":
        return {"x": await db.execute(sa.select(db.table("Order").c.id, sa.literal_column("(SELECT 1)")))}
    if what == "named table":
        return {"x": await db.execute(sa.select(sa.table("customer", sa.column("token"))))}
    if what == "operator":
        column = db.table("Order").c.number
        return {"x": await db.execute(sa.select(column).where(column.op("= '' OR 1=1 OR ''=")("x")))}
    if what == "prefix":
        return {"x": await db.execute(sa.select(db.table("Order")).prefix_with("DISTINCT"))}

@node("blocking")
async def blocking(ctx):
    db = ctx["_db"]
    db.wait(db["Order"].list())

@node("secure")
async def secure(ctx):
    db = ctx["_db"]
    await db["Customer"].create({"id": "c1", "name": "Ada", "token": "pl4nted-token"})
    rows = await db.execute(sa.select(db.table("Customer")))
    return {"seen": rows[0], "text": f"{rows[0]['token']}", "same": rows[0]["token"].reveal() == "pl4nted-token"}
"""


def functional(runner: str) -> dict[str, Any]:
    return {"id": runner, "kind": "Functional", "runner": runner}


async def test_repositories_do_what_steps_do(shop: Any) -> None:
    shop.node(NODES)
    result = await shop.run(functional("orders"))
    assert result.status == "completed", result.error
    assert result.context["kinds"] == ["Decimal", "datetime"]
    assert {key: result.context[key] for key in ("changed", "missed", "many", "found", "gone")} == {
        "changed": "x",
        "missed": None,
        "many": 1,
        "found": ["A-1"],
        "gone": [True, False, 0],
    }
    assert [row["number"] for row in await shop.rows()] == ["A-1"]


async def test_statements_of_ones_own(shop: Any) -> None:
    shop.node(NODES)
    result = await shop.run(functional("core"))
    assert result.context["rows"] == [{"number": "A-9", "n": 1}], result.error


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("other model", "spec.context"),
        ("other table", "spec.context"),
        ("text", "may touch anything"),
        ("text inside", "may touch anything"),
        ("write", "Order:write"),
        ("write by core", "Order:write"),
        ("write in a select", "Order:write"),
        ("literal column", "may touch anything"),
        ("named table", "may touch anything"),
        ("operator", "may touch anything"),
        ("prefix", "may touch anything"),
    ],
)
async def test_a_node_reaches_no_further_than_its_run(shop: Any, what: str, words: str) -> None:
    shop.node(NODES)
    reader = Principal(subject="ada", tenant="t", scopes=frozenset({"Order:read", "Customer:read"}))

    shop.workflow(functional("wrong"), context=["Order"])
    await shop.close()
    app = await shop.open()
    result = await app.run("w", {"what": what}, principal=reader)
    assert result.status == "failed", result.context
    assert result.error is not None
    assert result.error.type == "AccessError"
    assert words in result.error.message


async def test_waiting_on_the_event_loop_is_refused_and_not_a_deadlock(shop: Any) -> None:
    shop.node(NODES)
    result = await shop.run(functional("blocking"))
    assert result.error is not None
    assert "await" in result.error.message


async def test_secure_columns_are_secrets_whoever_reads_them(shop: Any) -> None:
    shop.node(NODES)
    result = await shop.run(functional("secure"))
    assert result.status == "completed", result.error
    assert result.context["same"] is True
    assert result.context["text"] == "***"
    assert "pl4nted-token" not in json.dumps(result.to_dict())


async def test_secure_columns_do_not_come_out_plain_through_functions(shop: Any) -> None:
    shop.node(
        "import sqlalchemy as sa\n@node('peek')\nasync def peek(ctx):\n"
        "    db = ctx['_db']\n    token = db.table('Customer').c.token\n"
        "    what = {'cast': sa.cast(token, sa.String), 'func': sa.func.lower(token)}[ctx['what']]\n"
        "    return {'x': await db.execute(sa.select(what))}\n"
    )
    shop.workflow(functional("peek"))
    for what in ("cast", "func"):
        _, result = await shop.live({"what": what})
        assert result.error is not None
        assert "secure column" in result.error.message


async def test_secure_values_are_in_no_record(shop: Any) -> None:
    await shop.fill([{"id": "c1", "name": "Ada", "token": "pl4nted-token"}], "Customer")
    shop.workflow({"id": "look", "model": "Customer", "operation": "read", "record_id": "c1"})
    recorder = RecordingHandler()
    app = await shop.open()
    result = await app.run("w", handlers=[recorder])
    assert result.status == "completed"
    assert "Ada" in recorder.dumps()
    assert "pl4nted-token" not in recorder.dumps()


async def test_no_record_is_too_large_for_a_model(shop: Any) -> None:
    """Case T-6: what a model reads is bounded, and says that it was cut."""
    await shop.fill([{"number": "A-1", "note": "y" * 200_000}])
    look = {"id": "look", "model": "Order", "operation": "read", "description": "Look."}
    bad = {
        "id": "bad",
        "model": "Order",
        "operation": "create",
        "description": "Make.",
        "payload": {"number": "{{ n }}", "total": "{{ n }}"},
    }
    actor = shop.agent(
        [turn(tool_call("look", '{"id": 1}'), tool_call("bad", json.dumps({"n": "9" * 100_000}))), answer()], look, bad
    )
    await shop.live()
    texts = [message["content"] for message in actor.requests[-1] if message["role"] == "tool"]
    assert all(len(text) <= 8000 for text in texts)
    cut, refused = map(json.loads, texts)
    assert cut["truncated"] is True
    assert cut["length"] > 200_000
    assert refused["type"]
