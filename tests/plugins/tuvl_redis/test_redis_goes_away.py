"""What happens to runs, operators and readers while Redis is away, slow, cut off or another one."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import redis_project
from redis_server import Proxy, RedisServer, free_port

from tuvl_core import BusyError, Directive, Principal, UnknownRunError

pytestmark = pytest.mark.service("redis-server")

ANN = Principal(subject="ann", tenant="acme")
SCOPES = frozenset({"run:read", "agent:observe", "agent:control"})
OPERATOR = Principal(subject="op", tenant="acme", scopes=SCOPES)


async def eventually(ask, accept=lambda found: True, within=20):
    async with asyncio.timeout(within):
        while True:
            try:
                found = await ask()
                if accept(found):
                    return found
            except (UnknownRunError, BusyError):
                pass
            await asyncio.sleep(0.02)


async def until(condition, within=20):
    async with asyncio.timeout(within):
        while not condition():
            await asyncio.sleep(0.02)


async def collect(events):
    return [event.to_json() async for event in events]


def let_go(service):
    service.app.resources.setdefault("gate", asyncio.Event()).set()


async def the_loop(service):
    listing = await eventually(lambda: service.loops(OPERATOR), lambda found: len(found.items) == 1)
    return listing.items[0]


async def test_pause_steer_and_abort_go_on_after_redis_was_killed_and_restarted(worker, settings, redis_server):
    text = settings(redis_server.port)
    async with worker(text) as a, worker(text) as b:
        live = await a.start("turns", principal=ANN)
        id = (await the_loop(b))["id"]
        assert await b.direct(id, OPERATOR, Directive(action="pause")) == "applied"
        redis_server.kill()
        await until(lambda: b.app.peers.missing is not None)
        assert (await b.loops(OPERATOR)).items == []
        assert "loops and runs of other workers are not shown" in (await b.loops(OPERATOR)).missing
        # Asked while it is away: it is done once Redis is back.
        steer = asyncio.create_task(b.direct(id, OPERATOR, Directive(action="steer", text="be brief")))
        await asyncio.sleep(0.3)
        redis_server.start()
        assert await steer == "applied"
        redis_server.kill()
        redis_server.start()
        assert await b.direct(id, OPERATOR, Directive(action="resume")) == "applied"
        assert await b.direct(id, OPERATOR, Directive(action="abort", text="enough")) == "applied"
        result = await live.wait()
        assert (result.context["heard"], result.context["why"]) == (["be brief"], "enough")


async def test_what_redis_forgot_is_told_again_also_of_runs_that_are_over(worker, settings, redis_server):
    text = settings(redis_server.port)
    async with worker(text) as a, worker(text) as b:
        over = await a.start("count", {"n": 300}, principal=ANN)
        await over.wait()
        live = await a.start("wait", principal=ANN)
        await eventually(lambda: b.run(live.run_id, OPERATOR))
        follower = asyncio.create_task(collect(await b.events(live.run_id, OPERATOR)))
        redis_server.kill()
        redis_server.start()
        there = await eventually(lambda: b.run(over.run_id, OPERATOR), lambda run: run["ended"] is not None)
        assert there == await a.run(over.run_id, OPERATOR)
        events = await collect(await b.events(over.run_id, OPERATOR))
        assert events == await collect(await a.events(over.run_id, OPERATOR))
        let_go(a)
        await live.wait()
        assert await asyncio.wait_for(follower, 20) == await collect(await a.events(live.run_id, OPERATOR))


async def test_a_follower_reads_on_where_it_was_when_redis_is_back(worker, settings, redis_server):
    text = settings(redis_server.port)
    async with worker(text) as a, worker(text) as b:
        live = await a.start("count", {"n": 600, "pause": 0.02}, principal=ANN)
        await eventually(lambda: b.run(live.run_id, OPERATOR))
        follower = asyncio.create_task(collect(await b.events(live.run_id, OPERATOR)))
        await asyncio.sleep(0.3)
        redis_server.kill()
        await asyncio.sleep(0.3)
        redis_server.start()
        await live.wait()
        assert await asyncio.wait_for(follower, 20) == await collect(await a.events(live.run_id, OPERATOR))


async def test_without_redis_the_app_opens_and_runs_and_it_is_found_when_it_comes(worker, settings, caplog):
    server = RedisServer()
    text = settings(server.port, password="hunter2-s3cret")
    try:
        async with worker(text) as a, worker(text) as b:
            done = await a.start("count", {"n": 50}, principal=ANN)
            assert (await done.wait()).status == "completed"
            await until(lambda: b.app.peers.missing is not None)
            listing = await b.runs(OPERATOR)
            assert listing.items == []
            assert listing.missing.startswith(f"Redis at 127.0.0.1:{server.port} does not answer since ")
            with pytest.raises(BusyError, match="does not answer"):
                await b.run(done.run_id, OPERATOR)
            assert await a.run(done.run_id, OPERATOR)
            server._options = ("--requirepass", "another")
            server.start()
            await until(lambda: "refuses" in (b.app.peers.missing or ""))
            server.kill()
            server._options = ("--requirepass", "hunter2-s3cret")
            server.start()
            await eventually(lambda: b.run(done.run_id, OPERATOR), lambda run: run["ended"] is not None)
            assert await collect(await b.events(done.run_id, OPERATOR)) == await collect(
                await a.events(done.run_id, OPERATOR)
            )
            await until(lambda: b.app.peers.missing is None)
    finally:
        server.kill()
    told = " ".join([record.getMessage() for record in caplog.records] + [str(vars(r)) for r in caplog.records])
    assert "redis.away" in told
    assert "hunter2-s3cret" not in told


async def test_closing_is_quick_and_leaves_nothing_whatever_redis_does(worker, settings, redis_server):
    before = asyncio.all_tasks()
    async with Proxy(redis_server.port) as proxy:
        for port in (redis_server.port, free_port(), proxy.port):
            async with asyncio.timeout(20):
                async with worker(settings(port)) as a:
                    await (await a.start("count", {"n": 5}, principal=ANN)).wait()
                    await a.start("turns", principal=ANN)
                    await asyncio.sleep(0.2)
                    if port == proxy.port:
                        proxy.stall()
            assert a.app.peers is None
            gc.collect()  # whatever was left open would warn, and warnings are failures
        proxy.flow()
    await until(lambda: asyncio.all_tasks() <= before)
    async with redis_server.client() as client:
        assert [key async for key in client.scan_iter("*:loop:*")] == []


async def test_a_worker_that_ends_leaves_its_runs_told_to_the_end(worker, settings, redis_server):
    text = settings(redis_server.port)
    async with worker(text) as b:
        async with worker(text) as a:
            live = await a.start("turns", principal=ANN, detach=True)
            await the_loop(b)
        run = await b.run(live.run_id, OPERATOR)
        assert (run["status"], run["ended"] is not None) == ("cancelled", True)
        assert (await b.loops(OPERATOR)).items == []
        last = [event async for event in await b.events(live.run_id, OPERATOR)][-1]
        assert last.to_dict()["status"] == "cancelled"


async def timed(service, runs, n):
    began = time.perf_counter()
    lives = [await service.start("count", {"n": n}, principal=ANN) for _ in range(runs)]
    for live in lives:
        assert (await live.wait()).status == "completed"
    return time.perf_counter() - began


@pytest.mark.parametrize("how", ["sleeps", "stalls"])
async def test_a_slow_redis_holds_up_no_run_and_its_memory_is_bounded(worker, settings, redis_server, how):
    asleep_s = 5.0
    async with Proxy(redis_server.port) as proxy, redis_server.client() as client:
        async with worker(settings(proxy.port, more="keep_events = 100")) as a:
            await until(lambda: a.app.peers.outbox._known)
            if how == "stalls":
                proxy.stall()
                sleeper = None
            else:
                sleeper = asyncio.create_task(client.execute_command("DEBUG", "SLEEP", asleep_s))
                await asyncio.sleep(0.1)
            # All of it is over long before Redis would have answered once: no run waits for it.
            assert await timed(a, 20, 500) < asleep_s * 0.9
            if sleeper is not None:
                assert not sleeper.done()
            outbox = a.app.peers.outbox
            assert len(outbox._live) <= 20
            assert all(len(own.log.kept()) <= 100 for own in outbox._live.values())
            proxy.flow()
            if sleeper is not None:
                sleeper.cancel()
                await asyncio.gather(sleeper, return_exceptions=True)


async def test_a_connection_cut_off_without_a_word_is_noticed(worker, settings, redis_server):
    async with Proxy(redis_server.port) as proxy:
        async with worker(settings(proxy.port)) as a, worker(settings(redis_server.port)) as b:
            live = await a.start("turns", principal=ANN)
            id = (await the_loop(b))["id"]
            proxy.stall()
            with pytest.raises(BusyError, match="did not acknowledge"):
                await b.direct(id, OPERATOR, Directive(action="pause"))
            await until(lambda: a.app.peers.missing is not None)
            await proxy.cut()
            proxy.flow()
            pause = Directive(action="pause")
            assert await eventually(lambda: b.direct(id, OPERATOR, pause)) in ("applied", "repeated")
            await live.left()


# --- processes that are killed ------------------------------------------------------------------


def spawn(folder: Path, workflow: str) -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, redis_project.__file__, str(folder), workflow]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return process, process.stdout.readline().strip()


async def test_a_worker_that_is_killed_leaves_no_ghost(worker, settings, redis_server, tmp_path):
    text = settings(redis_server.port)
    folder = redis_project.write(tmp_path / "shop", text)
    process, run_id = await asyncio.to_thread(spawn, folder, "turns")
    try:
        async with worker(text) as b:
            id = (await the_loop(b))["id"]
            assert await b.direct(id, OPERATOR, Directive(action="steer", text="hello")) == "applied"
            follower = asyncio.create_task(collect(await b.events(run_id, OPERATOR)))
            os.kill(process.pid, signal.SIGKILL)
            killed = time.monotonic()
            lost = await eventually(lambda: b.run(run_id, OPERATOR), lambda run: run["status"] == "failed")
            await eventually(lambda: b.loops(OPERATOR), lambda found: not found.items)
            assert time.monotonic() - killed < 1.5 + 5  # the TTL, and a machine that is busy
            assert lost["error"]["type"] == "worker_lost"
            assert lost["ended"] > lost["started"]
            [item] = (await b.runs(OPERATOR)).items
            assert (item["status"], item["run_id"]) == ("failed", run_id)
            events = await asyncio.wait_for(follower, 10)
            assert '"type":"run"' in events[-1]
            assert '"worker_lost"' in events[-1]
            with pytest.raises(UnknownRunError):
                await b.direct(id, OPERATOR, Directive(action="pause"))
            assert not await b.abort(run_id, OPERATOR)
    finally:
        process.kill()
        process.communicate()


async def test_a_worker_in_another_process_is_directed_with_redis_restarted_in_between(
    worker, settings, redis_server, tmp_path
):
    text = settings(redis_server.port)
    folder = redis_project.write(tmp_path / "shop", text)
    process, run_id = await asyncio.to_thread(spawn, folder, "turns")
    try:
        async with worker(text) as b:
            id = (await the_loop(b))["id"]
            assert await b.direct(id, OPERATOR, Directive(action="pause")) == "applied"
            redis_server.kill()
            redis_server.start()
            assert await b.direct(id, OPERATOR, Directive(action="steer", text="be brief")) == "applied"
            assert await b.direct(id, OPERATOR, Directive(action="resume")) == "applied"
            assert await b.direct(id, OPERATOR, Directive(action="abort", text="enough")) == "applied"
            run = await eventually(lambda: b.run(run_id, OPERATOR), lambda run: run["ended"] is not None)
            assert run["context"]["heard"] == ["be brief"]
            assert run["context"]["why"] == "enough"
            events = await collect(await b.events(run_id, OPERATOR))
            assert [f'"seq":{number},' in text for number, text in enumerate(events, 1)] == [True] * len(events)
    finally:
        process.kill()
        process.communicate()
