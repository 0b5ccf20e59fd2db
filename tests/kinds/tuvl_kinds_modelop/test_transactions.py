"""One transaction a run; a savepoint a tool call; nothing half-written, whatever ends the run."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest


def create(id: str, number: str, **step: Any) -> dict[str, Any]:
    return {"id": id, "model": "Order", "operation": "create", "payload": {"number": number}, **step}


async def numbers(shop: Any) -> list[str]:
    return [row["number"] for row in await shop.rows(order_by="number", limit=1000)]


async def test_what_a_run_wrote_is_seen_by_it_and_lasts_when_it_completes(shop: Any) -> None:
    result = await shop.run(
        create("a", "A-1"),
        create("b", "A-2"),
        {"id": "look", "model": "Order", "operation": "list"},
    )
    assert result.status == "completed"
    assert len(result.context["look_result"]) == 2
    assert await numbers(shop) == ["A-1", "A-2"]


@pytest.mark.parametrize(
    "ending",
    [
        {"id": "end", "kind": "Functional", "runner": "boom"},
        {"id": "end", "kind": "Functional", "runner": "odd"},
    ],
    ids=["stopped", "unrouted"],
)
async def test_a_run_that_does_not_complete_leaves_nothing(shop: Any, ending: dict[str, Any]) -> None:
    shop.node(
        "@node('boom')\nasync def boom(ctx):\n    raise ValueError('no')\n@node('odd')\nasync def odd(ctx):\n    return 'odd'\n"
    )
    result = await shop.run(create("a", "A-1"), ending)
    assert result.status in ("stopped", "failed")
    assert await numbers(shop) == []


async def test_a_cancelled_run_leaves_nothing_and_its_connection_is_fit(shop: Any) -> None:
    shop.node("import asyncio\n@node('wait')\nasync def wait(ctx):\n    await asyncio.sleep(60)\n")
    shop.workflow(create("a", "A-1"), {"id": "wait", "kind": "Functional", "runner": "wait"})
    app = await shop.open()
    handle = await app.start("w")
    while handle.run.step_id != "wait":
        await asyncio.sleep(0.01)
    handle.cancel()
    assert (await handle.wait()).status == "cancelled"
    assert await numbers(shop) == []


async def test_a_failed_statement_that_is_routed_does_not_spoil_the_run(shop: Any) -> None:
    result = await shop.run(
        create("a", "A-1"),
        create("twin", "A-1", routes={"error": "c"}),
        create("c", "A-2"),
    )
    assert result.status == "completed", result.error
    assert result.path[1].signal == "error"
    assert await numbers(shop) == ["A-1", "A-2"]


async def test_a_failed_read_that_is_routed_does_not_spoil_the_run(postgresql_shop: Any) -> None:
    shop = postgresql_shop
    await shop.fill([{"number": "A-0"}])
    shop.models["Wrong"] = {"tablename": "orders2", "fields": [{"name": "id", "type": "integer", "primary_key": True}]}
    shop.source["create_tables"] = False
    result = await shop.run(
        create("a", "A-1"),
        {"id": "look", "model": "Wrong", "operation": "list", "routes": {"error": "c"}},
        create("c", "A-2"),
    )
    assert [entry.signal for entry in result.path] == ["default", "error", "default"]
    assert result.status == "completed", result.error
    del shop.models["Wrong"]
    (shop.root / "ModelDefinition-Wrong-.yaml").unlink()
    assert await numbers(shop) == ["A-0", "A-1", "A-2"]


async def test_a_run_may_be_cancelled_at_any_moment(shop: Any) -> None:
    """Nothing is half-written, no connection and no turn to write is lost, and the next run works."""
    shop.workflow(
        {"id": "a", "model": "Order", "operation": "create", "payload": {"number": "{{ n }}-a"}},
        {"id": "look", "model": "Order", "operation": "list"},
        {"id": "b", "model": "Order", "operation": "create", "payload": {"number": "{{ n }}-b"}},
    )
    app = await shop.open()
    assert (await app.run("w", {"n": "warm"})).status == "completed"
    for turn in range(80):
        run = asyncio.ensure_future(app.run("w", {"n": f"{turn:03}"}))
        await asyncio.sleep(turn * 0.00015)
        run.cancel()
        done, _ = await asyncio.wait({run}, timeout=10)
        assert done, f"the run that was cancelled in turn {turn} did not end"
    assert (await app.run("w", {"n": "after"})).status == "completed"
    found = await numbers(shop)
    assert {"warm-a", "warm-b", "after-a", "after-b"} <= set(found)
    assert len(found) % 2 == 0
    assert {name[:-2] for name in found if name.endswith("-a")} == {name[:-2] for name in found if name.endswith("-b")}


async def test_errors_say_what_was_violated_and_never_a_value(shop: Any) -> None:
    shop.workflow(create("a", "S3CR3T-9"), create("twin", "S3CR3T-9"))
    run, result = await shop.live()
    assert result.status == "stopped"
    assert run.context["_last_error_type"] == "unique"
    assert "number" in run.context["_last_error"]
    assert "S3CR3T-9" not in run.context["_last_error"]


NODES = """
import asyncio

@node("make")
async def make(ctx):
    made = await ctx["_db"]["Order"].create({"number": ctx["number"]})
    return {"made": str(made["number"])}

@node("make_and_fail")
async def make_and_fail(ctx):
    await ctx["_db"]["Order"].create({"number": ctx["number"]})
    raise ValueError("after all")

@node("make_and_hang")
async def make_and_hang(ctx):
    await ctx["_db"]["Order"].create({"number": ctx["number"]})
    await asyncio.sleep(60)

@node("hang_inside")
async def hang_inside(ctx):
    db = ctx["_db"]
    async def work(connection):
        await asyncio.sleep(60)
    await db.do("main", "hang", work, writes=True)

@node("twice")
async def twice(ctx):
    orders = ctx["_db"]["Order"]
    try:
        await orders.create({"number": "A-1"})
    except Exception:
        pass
    await orders.create({"number": ctx["number"]})

@node("plain")
def plain(ctx):
    db = ctx["_db"]
    return {"seen": [row["number"] for row in db.wait(db["Order"].list(order_by="number"))]}
"""


async def test_nodes_reach_the_same_transaction(shop: Any) -> None:
    shop.node(NODES)
    result = await shop.run(
        create("a", "A-1"),
        {"id": "b", "kind": "Functional", "runner": "make"},
        {"id": "c", "kind": "Functional", "runner": "plain"},
        context={"number": "A-2"},
    )
    assert result.status == "completed", result.error
    assert result.context["seen"] == ["A-1", "A-2"]
    assert await numbers(shop) == ["A-1", "A-2"]


async def test_a_node_may_go_on_after_a_failure(shop: Any) -> None:
    shop.node(NODES)
    result = await shop.run(
        create("a", "A-1"), {"id": "b", "kind": "Functional", "runner": "twice"}, context={"number": "A-2"}
    )
    assert result.status == "completed", result.error
    assert await numbers(shop) == ["A-1", "A-2"]


CALLER = '''
import asyncio
import attrs
from tuvl_core import Child, StepKind, StepResult, hookimpl

TUVL_API = 1

@attrs.frozen(kw_only=True)
class Config:
    calls: list[list]
    timeout_s: float | None = None
    together: bool = False

class Caller(StepKind):
    """Call tools, one after another or side by side."""
    name = "t.Caller"
    Config = Config
    composite = True

    def children(self, step, plan):
        return [Child(ref) for ref in dict.fromkeys(ref for ref, _ in step.config.calls)]

    async def run(self, call):
        config = call.step.config
        begun = [
            (ref, arguments, f"tool#{number}:{ref}")
            for number, (ref, arguments) in enumerate(config.calls, 1)
        ]
        if config.together:
            got = await asyncio.gather(
                *(call.dispatch(ref, arguments, name=name, timeout_s=config.timeout_s) for ref, arguments, name in begun)
            )
        else:
            got = []
            for ref, arguments, name in begun:
                got.append(await call.dispatch(ref, arguments, name=name, timeout_s=config.timeout_s))
        seen = [{"signal": item.signal, "error": item.error, "type": item.error_type, "output": item.output} for item in got]
        return StepResult(writes={"seen": seen})

@hookimpl
def tuvl_step_kinds():
    return [Caller]
'''


def calls(shop: Any, calls: list[list[Any]], *tools: dict[str, Any], **config: Any) -> None:
    """Write a workflow whose first step calls tools."""
    (shop.root / "plugins").mkdir(exist_ok=True)
    (shop.root / "plugins" / "caller.py").write_text(CALLER)
    shop.node(NODES)
    shop.workflow({"id": "agent", "kind": "t.Caller", "calls": calls, **config}, *tools)


MAKE = {"id": "make", "model": "Order", "operation": "create"}


@pytest.mark.parametrize("together", [False, True])
async def test_a_failed_tool_leaves_nothing_and_the_others_stay(shop: Any, together: bool) -> None:
    calls(
        shop,
        [
            ["make", {"number": "A-1"}],
            ["fail", {"number": "X"}],
            ["make", {"number": "A-1"}],
            ["make", {"number": "A-2"}],
        ],
        MAKE,
        {"id": "fail", "kind": "Functional", "runner": "make_and_fail"},
        together=together,
    )
    _, result = await shop.live()
    assert result.status == "completed", result.error
    assert [item["signal"] for item in result.context["seen"]] == ["default", "error", "error", "default"]
    assert result.context["seen"][2]["type"] == "unique"
    assert await numbers(shop) == ["A-1", "A-2"]


async def test_three_calls_of_one_turn_see_each_other_in_order(shop: Any) -> None:
    calls(
        shop,
        [["make", {"number": "A-1"}], ["make", {"number": "A-2"}], ["look", {}]],
        MAKE,
        {"id": "look", "model": "Order", "operation": "list", "order_by": "number"},
    )
    _, result = await shop.live()
    assert [row["number"] for row in result.context["seen"][2]["output"]] == ["A-1", "A-2"]
    assert await numbers(shop) == ["A-1", "A-2"]


async def test_a_tool_left_behind_between_statements_is_undone(shop: Any) -> None:
    calls(
        shop,
        [["make", {"number": "A-1"}], ["hang", {"number": "X"}], ["make", {"number": "A-2"}]],
        MAKE,
        {"id": "hang", "kind": "Functional", "runner": "make_and_hang"},
        timeout_s=0.5,
    )
    _, result = await shop.live()
    assert result.status == "completed", result.error
    assert result.context["seen"][1]["type"] == "tool_timeout"
    assert await numbers(shop) == ["A-1", "A-2"]


async def test_a_tool_left_behind_inside_a_statement_costs_the_transaction_and_is_told(shop: Any) -> None:
    calls(
        shop,
        [["make", {"number": "A-1"}], ["hang", {}], ["make", {"number": "A-2"}]],
        MAKE,
        {"id": "hang", "kind": "Functional", "runner": "hang_inside"},
        timeout_s=0.5,
    )
    _, result = await shop.live()
    assert result.status == "failed"
    assert result.error is not None
    assert result.error.type == "commit_failed"
    assert "'hang'" in result.error.message
    assert result.context["seen"][2]["type"] == "transaction_lost"
    assert await numbers(shop) == []


async def test_a_tool_left_behind_costs_nothing_where_nothing_was_written(shop: Any) -> None:
    calls(
        shop,
        [["hang", {}], ["make", {"number": "A-1"}]],
        MAKE,
        {"id": "hang", "kind": "Functional", "runner": "hang_inside"},
        timeout_s=0.5,
    )
    _, result = await shop.live()
    assert result.status == "completed", result.error
    assert await numbers(shop) == ["A-1"]


async def test_a_step_may_commit_by_itself(shop: Any) -> None:
    shop.source["transaction"] = "step"
    shop.node(NODES)
    result = await shop.run(
        create("a", "A-1"),
        create("twin", "A-1", routes={"error": "b"}),
        {"id": "b", "kind": "Functional", "runner": "make_and_fail"},
        context={"number": "A-2"},
    )
    assert result.status == "stopped"
    assert await numbers(shop) == ["A-1", "A-2"]


async def test_no_run_sees_what_another_has_not_committed(shop: Any) -> None:
    shop.node("@node('wait')\nasync def wait(ctx):\n    await ctx['_run'].app.resources['go'].wait()\n")
    shop.workflow(create("a", "A-1"), {"id": "wait", "kind": "Functional", "runner": "wait"})
    shop.workflow({"id": "look", "model": "Order", "operation": "list"}, name="look")
    app = await shop.open()
    app.resources["go"] = asyncio.Event()
    handle = await app.start("w")
    while handle.run.step_id != "wait":
        await asyncio.sleep(0.01)
    assert (await app.run("look")).context["look_result"] == []
    app.resources["go"].set()
    assert (await handle.wait()).status == "completed"
    assert [row["number"] for row in (await app.run("look")).context["look_result"]] == ["A-1"]


async def test_runs_side_by_side_all_finish(shop: Any) -> None:
    shop.workflow(
        {"id": "a", "model": "Order", "operation": "create", "payload": {"number": "{{ number }}"}},
        {"id": "look", "model": "Order", "operation": "list"},
    )
    app = await shop.open()
    results = await asyncio.gather(*(app.run("w", {"number": f"A-{n}"}) for n in range(20)))
    assert [result.status for result in results] == ["completed"] * 20
    assert len(await numbers(shop)) == 20
