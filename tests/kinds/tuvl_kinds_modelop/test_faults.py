"""Databases that go away, fill up, are busy, or have others in them: clear errors, nothing half-written."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import time
from typing import Any

import pytest

WRITE = {
    "id": "a",
    "model": "Order",
    "operation": "create",
    "payload": {"number": "{{ number }}", "note": "{{ note | default('') }}"},
}
PAUSE = "@node('pause')\nasync def pause(ctx):\n    await ctx['_run'].app.resources['pause']()\n"


def pausing(shop: Any, *steps: dict[str, Any], **spec: Any) -> None:
    """Write a workflow with a step `pause`, which awaits what the test puts there."""
    shop.node(PAUSE)
    shop.workflow(*steps, **spec)


async def test_a_killed_backend_ends_the_run_clearly_and_the_next_one_works(postgresql_shop: Any) -> None:
    shop = postgresql_shop
    pausing(
        shop,
        WRITE,
        {"id": "pause", "kind": "Functional", "runner": "pause"},
        {**WRITE, "id": "b", "payload": {"number": "A-2"}},
    )
    app = await shop.open()

    async def kill() -> None:
        import asyncpg

        database = shop.source["connection"]["database"]
        connection = await asyncpg.connect(host="127.0.0.1", user="postgres", database=database)
        await connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        await connection.close()

    app.resources["pause"] = kill
    handle = await app.start("w", {"number": "A-1"})
    result = await handle.wait()
    assert result.status == "stopped"
    assert handle.run.context["_last_error_type"] == "connection_lost"

    async def nothing() -> None:
        pass

    app.resources["pause"] = nothing
    assert (await app.run("w", {"number": "A-1"})).status == "completed"
    assert [row["number"] for row in await shop.rows(order_by="number")] == ["A-1", "A-2"]


async def test_a_run_that_goes_on_after_losing_its_writes_does_not_complete(postgresql_shop: Any) -> None:
    shop = postgresql_shop
    pausing(
        shop,
        WRITE,
        {"id": "pause", "kind": "Functional", "runner": "pause"},
        {**WRITE, "id": "b", "payload": {"number": "A-2"}, "routes": {"error": "END"}},
    )
    app = await shop.open()

    async def kill() -> None:
        import asyncpg

        connection = await asyncpg.connect(
            host="127.0.0.1", user="postgres", database=shop.source["connection"]["database"]
        )
        await connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        await connection.close()

    app.resources["pause"] = kill
    result = await app.run("w", {"number": "A-1"})
    assert (result.status, result.error and result.error.type) == ("failed", "commit_failed")
    assert await shop.rows() == []


async def test_a_server_that_is_not_there_is_said_so(postgresql_shop: Any) -> None:
    shop = postgresql_shop
    shop.source["connection"] = {**shop.source["connection"], "port": 1, "password": "hunter2-secret"}
    shop.workflow(WRITE)
    run, result = await shop.live({"number": "A-1"})
    assert result.status == "stopped"
    assert run.context["_last_error_type"] == "connection_lost"
    assert "hunter2" not in run.context["_last_error"]


async def test_a_pool_that_is_used_up_is_said_so_and_recovers(postgresql_shop: Any) -> None:
    shop = postgresql_shop
    shop.source["pooling"] = {"max_size": 1}
    shop.environ["TUVL_DB_WAIT_S"] = "0.3"
    pausing(shop, WRITE, {"id": "pause", "kind": "Functional", "runner": "pause"})
    app = await shop.open()
    go = asyncio.Event()
    app.resources["pause"] = go.wait
    first = await app.start("w", {"number": "A-1"})
    while first.run.step_id != "pause":
        await asyncio.sleep(0.01)
    second = await app.start("w", {"number": "A-2"})
    assert (await second.wait()).status == "stopped"
    assert second.run.context["_last_error_type"] == "db_busy"
    go.set()
    assert (await first.wait()).status == "completed"
    assert (await app.run("w", {"number": "A-3"})).status == "completed"
    assert [row["number"] for row in await shop.rows(order_by="number")] == ["A-1", "A-3"]


async def test_a_pool_begins_with_as_many_connections_as_it_says(shop: Any) -> None:
    from tuvl_kinds_modelop.scope import SOURCES

    shop.source["pooling"] = {"min_size": 3, "max_size": 5}
    await shop.run({"id": "look", "model": "Order", "operation": "list"})
    assert shop.app.resources[SOURCES].source("main").engine.pool.checkedin() == 3


async def test_a_writer_waits_its_turn_and_no_longer(sqlite_shop: Any) -> None:
    shop = sqlite_shop
    shop.environ["TUVL_DB_WAIT_S"] = "0.3"
    pausing(shop, WRITE, {"id": "pause", "kind": "Functional", "runner": "pause"})
    shop.workflow({"id": "look", "model": "Order", "operation": "list"}, name="look")
    app = await shop.open()
    go = asyncio.Event()
    app.resources["pause"] = go.wait
    first = await app.start("w", {"number": "A-1"})
    while first.run.step_id != "pause":
        await asyncio.sleep(0.01)
    began = time.monotonic()
    second = await app.start("w", {"number": "A-2"})
    assert (await second.wait()).status == "stopped"
    assert 0.2 < time.monotonic() - began < 5
    assert second.run.context["_last_error_type"] == "db_busy"
    assert "TUVL_DB_WAIT_S" in second.run.context["_last_error"]
    assert (await app.run("look")).context["look_result"] == []  # who only reads does not wait
    go.set()
    assert (await first.wait()).status == "completed"
    assert (await app.run("w", {"number": "A-3"})).status == "completed"


LOCKER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.readline()
"""


async def test_another_process_that_writes_is_waited_for_and_no_longer(sqlite_shop: Any) -> None:
    shop = sqlite_shop
    shop.environ["TUVL_DB_WAIT_S"] = "0.3"
    await shop.fill([{"number": "A-1"}])
    locker = subprocess.Popen(
        [sys.executable, "-c", LOCKER, str(shop.root / "shop.db")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert locker.stdout is not None and locker.stdout.readline() == b"locked\n"
        await shop.close()
        shop.workflow(WRITE)
        run, result = await shop.live({"number": "A-2"})
        assert result.status == "stopped"
        assert run.context["_last_error_type"] == "db_busy"
    finally:
        locker.communicate(b"\n", timeout=10)
    assert (await (await shop.open()).run("w", {"number": "A-2"})).status == "completed"


FULL = """
import asyncio, json, resource, sys
from pathlib import Path
from tuvl_core import App, Plugins, load_project

async def main(root, limit):
    async with App(load_project(root, plugins=Plugins.load(root=root, environ={}), environ={})) as app:
        assert (await app.run("w", {"number": "A-1"})).status == "completed"
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        handle = await app.start("w", {"number": "A-2", "note": "x" * 3_000_000})
        result = await handle.wait()
        full = [result.status, handle.run.context.get("_last_error_type"), result.error and result.error.message]
        small = await app.run("w", {"number": "A-3"})
        print(json.dumps([full, small.status]))

asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
"""


def test_a_disk_that_is_full_ends_the_run_clearly_and_the_next_one_works(sqlite_shop: Any) -> None:
    """The file may not grow beyond a limit: SQLite meets that as it meets a full disk."""
    shop = sqlite_shop
    shop.workflow(WRITE, {**WRITE, "id": "b", "payload": {"number": "{{ number }}-b"}})
    shop.load()
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(shop.root), "1000000"],
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    (status, kind, message), small = json.loads(done.stdout)
    assert status == "stopped"
    assert kind in ("disk_full", "disk")
    assert "create Order" in message
    assert small == "completed"
    with sqlite3.connect(shop.root / "shop.db") as connection:
        found = [row[0] for row in connection.execute("SELECT number FROM orders ORDER BY number")]
    assert found == ["A-1", "A-1-b", "A-3", "A-3-b"]


@pytest.mark.parametrize("count", [500])
async def test_many_short_runs_share_a_small_pool(shop: Any, count: int) -> None:
    shop.source["pooling"] = {"max_size": 10}
    shop.environ["TUVL_DB_WAIT_S"] = "60"
    shop.workflow(WRITE, {"id": "look", "model": "Order", "operation": "read", "record_id": "{{ a_result.id }}"})
    app = await shop.open()
    results = await asyncio.wait_for(
        asyncio.gather(*(app.run("w", {"number": f"A-{n}"}) for n in range(count))), timeout=110
    )
    assert {result.status for result in results} == {"completed"}
    assert len(await shop.rows(limit=1000)) == count


async def test_a_deadlock_is_done_again_and_nothing_is_written_twice(postgresql_shop: Any) -> None:
    """Two runs change two records in opposite order; one is rolled back by the server, and done again."""
    shop = postgresql_shop
    await shop.fill([{"number": "A-1", "total": 0}, {"number": "A-2", "total": 0}])
    change = {"model": "Order", "operation": "update", "payload": {"note": "{{ note }}"}}
    # A transaction of its own takes the locks crosswise: the step between waits, and only looks.
    (shop.root / "plugins").mkdir()
    (shop.root / "plugins" / "meet.py").write_text(MEET)
    shop.workflow(
        {**change, "id": "first", "filters": {"number": "{{ one }}"}},
        {"id": "meet", "kind": "t.Meet"},
        {**change, "id": "second", "filters": {"number": "{{ two }}"}},
    )
    app = await shop.open()
    app.resources["meet"] = asyncio.Barrier(2)
    results = await asyncio.gather(
        app.run("w", {"one": "A-1", "two": "A-2", "note": "x"}), app.run("w", {"one": "A-2", "two": "A-1", "note": "y"})
    )
    assert [result.status for result in results] == ["completed", "completed"], [result.error for result in results]
    notes = {row["note"] for row in await shop.rows()}
    assert notes in ({"x"}, {"y"})


MEET = '''
import asyncio
from tuvl_core import Effects, StepKind, StepResult, hookimpl

TUVL_API = 1

class Meet(StepKind):
    """Wait for the other run, the first time."""
    name = "t.Meet"
    effects = Effects.PURE

    async def run(self, call):
        barrier = call.run.app.resources["meet"]
        if call.run.attempts == 1:
            await barrier.wait()
        return StepResult()

@hookimpl
def tuvl_step_kinds():
    return [Meet]
'''


async def test_transactions_that_cannot_be_serialized_are_done_again(postgresql_shop: Any) -> None:
    shop = postgresql_shop
    shop.source["isolation"] = "serializable"
    await shop.fill([{"number": "A-1", "total": 0}])
    (shop.root / "plugins").mkdir()
    (shop.root / "plugins" / "meet.py").write_text(MEET)
    shop.workflow(
        {"id": "look", "model": "Order", "operation": "list", "filters": {"number": "A-1"}},
        {"id": "meet", "kind": "t.Meet"},
        {
            "id": "put",
            "model": "Order",
            "operation": "update",
            "filters": {"number": "A-1"},
            "payload": {"total": "{{ look_result.0.total | float + 1 }}"},
        },
    )
    app = await shop.open()
    app.resources["meet"] = asyncio.Barrier(2)
    results = await asyncio.gather(app.run("w"), app.run("w"))
    assert [result.status for result in results] == ["completed", "completed"], [result.error for result in results]
    assert (await shop.rows())[0]["total"] == "2.00"


async def test_a_conflict_that_cannot_be_done_again_is_said_as_such(postgresql_shop: Any) -> None:
    """A Functional step may have done anything, so its run is never repeated."""
    shop = postgresql_shop
    shop.source["isolation"] = "serializable"
    await shop.fill([{"number": "A-1", "total": 0}])
    shop.node("@node('meet')\nasync def meet(ctx):\n    await ctx['_run'].app.resources['meet'].wait()\n")
    shop.workflow(
        {"id": "look", "model": "Order", "operation": "list", "filters": {"number": "A-1"}},
        {"id": "meet", "kind": "Functional", "runner": "meet"},
        {"id": "put", "model": "Order", "operation": "update", "filters": {"number": "A-1"}, "payload": {"total": 1}},
    )
    app = await shop.open()
    app.resources["meet"] = asyncio.Barrier(2)
    results = await asyncio.gather(app.run("w"), app.run("w"))
    assert sorted(result.status for result in results) in (["completed", "failed"], ["completed", "stopped"])
    lost = next(result for result in results if result.status != "completed")
    assert lost.error is not None
    assert lost.error.type == "serialization_failure"
