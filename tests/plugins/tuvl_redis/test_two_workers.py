"""Two workers of one project that meet at a real Redis: what one runs, the other sees and controls."""

from __future__ import annotations

import asyncio
import json
import logging
import uuid

import pytest

from tuvl_core import BusyError, DeniedError, Directive, Principal, SettingsError, UnknownRunError

pytestmark = pytest.mark.service("redis-server")


def who(subject="ann", *scopes, tenant="acme"):
    return Principal(subject=subject, tenant=tenant, scopes=frozenset(scopes))


ANN, BOB, READER = who("ann"), who("bob"), who("reader", "run:read")
EVE = who("eve", "*", tenant="evil")
OPERATOR = who("op", "run:read", "agent:observe", "agent:control")


async def eventually(ask, accept=lambda found: True, within=15):
    """What `ask` gives once it is accepted; nobody is expected to know it at once."""
    found = None
    async with asyncio.timeout(within):
        while True:
            try:
                found = await ask()
                if accept(found):
                    return found
            except (UnknownRunError, BusyError):
                pass
            await asyncio.sleep(0.02)


async def collect(events):
    return [event.to_json() async for event in events]


def let_go(service):
    service.app.resources.setdefault("gate", asyncio.Event()).set()


async def the_loop(service):
    listing = await eventually(lambda: service.loops(OPERATOR), lambda found: len(found.items) == 1)
    return listing.items[0]


@pytest.fixture
async def pair(worker, settings, redis_server):
    text = settings(redis_server.port)
    async with worker(text) as a, worker(text) as b:
        yield a, b


async def test_a_run_is_seen_followed_and_found_afterwards_from_another_worker(pair):
    a, b = pair
    live = await a.start("wait", principal=ANN)
    seen = await eventually(lambda: b.run(live.run_id, READER))
    assert (seen["status"], seen["context"], seen["detached"]) == ("running", {}, False)
    follower = asyncio.create_task(collect(await b.events(live.run_id, READER)))
    let_go(a)
    await live.wait()
    events = await asyncio.wait_for(follower, 15)
    assert events == await collect(await a.events(live.run_id, READER))
    kept = await eventually(lambda: b.run(live.run_id, READER), lambda found: found["ended"] is not None)
    assert kept == await a.run(live.run_id, READER)
    assert [item["run_id"] for item in (await b.runs(READER)).items] == [live.run_id]
    assert len((await a.runs(READER)).items) == 1  # its own, once


@pytest.mark.parametrize(("count", "keep"), [(5, 1000), (700, 1000), (700, 50)])
async def test_events_are_the_same_in_the_same_order_from_the_start_and_from_any_number(
    worker, settings, redis_server, count, keep
):
    text = settings(redis_server.port, more=f"keep_events = {keep}")
    async with worker(text) as a, worker(text) as b:
        live = await a.start("count", {"n": count, "pause": 0.003}, principal=ANN)
        await eventually(lambda: b.run(live.run_id, READER))
        follower = asyncio.create_task(collect(await b.events(live.run_id, READER)))
        await live.wait()
        followed = [json.loads(text)["seq"] for text in await asyncio.wait_for(follower, 20)]
        assert followed == sorted(set(followed))
        assert followed[-1] == count + 3
        if keep >= count:
            assert followed == list(range(1, count + 4))
        for after in (0, 1, count // 2, count + 2, count + 3, count + 100):
            there = await collect(await b.events(live.run_id, READER, after=after))
            assert there == await collect(await a.events(live.run_id, READER, after=after))
        # Redis keeps no more of it than its worker does.
        async with redis_server.client() as client:
            assert await client.xlen(f"tuvl:shop:events:{live.run_id}") <= min(keep, count + 3)


async def test_a_loop_is_directed_from_another_worker(pair):
    a, b = pair
    live = await a.start("turns", principal=ANN)
    loop = await the_loop(b)
    assert (loop["id"], loop["status"]) == (f"{live.run_id}.1", "running")
    assert await b.direct(loop["id"], OPERATOR, Directive(action="resume")) == "ignored"
    assert await b.direct(loop["id"], OPERATOR, Directive(action="pause", id="p")) == "applied"
    assert await b.direct(loop["id"], OPERATOR, Directive(action="pause", id="p")) == "repeated"
    assert (await eventually(lambda: b.loop(loop["id"], OPERATOR), lambda it: it["status"] == "paused"))["id"]
    await eventually(lambda: b.run(live.run_id, READER), lambda run: run["status"] == "paused")
    assert await b.direct(loop["id"], OPERATOR, Directive(action="steer", text="be brief")) == "applied"
    assert await b.direct(loop["id"], OPERATOR, Directive(action="resume")) == "applied"
    before = (await b.loop(loop["id"], OPERATOR))["iteration"]
    await eventually(lambda: b.loop(loop["id"], OPERATOR), lambda it: it["iteration"] > before)
    trace = await eventually(lambda: b.trace(loop["id"], OPERATOR), lambda events: len(events) == 3)
    assert trace == await a.trace(loop["id"], OPERATOR)
    assert await b.direct(loop["id"], OPERATOR, Directive(action="abort", text="enough")) == "applied"
    result = await live.wait()
    assert result.context["why"] == "enough"
    await eventually(lambda: b.loops(OPERATOR), lambda found: not found.items)
    with pytest.raises(UnknownRunError):
        await b.direct(loop["id"], OPERATOR, Directive(action="pause"))


async def test_a_run_is_aborted_from_another_worker_by_who_may(pair):
    a, b = pair
    live = await a.start("wait", principal=ANN)
    await eventually(lambda: b.run(live.run_id, READER))
    with pytest.raises(UnknownRunError):
        await b.abort(live.run_id, BOB)
    with pytest.raises(DeniedError, match="agent:control"):
        await b.abort(live.run_id, READER)
    assert await b.abort(live.run_id, ANN)  # it is hers, whatever else she may not
    assert (await live.wait()).status == "cancelled"
    await eventually(lambda: b.run(live.run_id, ANN), lambda run: run["status"] == "cancelled")
    assert not await b.abort(live.run_id, OPERATOR)


async def test_foreign_and_unknown_are_the_same_from_another_worker(pair):
    a, b = pair
    live = await a.start("turns", principal=ANN)
    loop = await the_loop(b)
    assert (await b.run(live.run_id, ANN))["run_id"] == live.run_id
    assert [item["run_id"] for item in (await b.runs(ANN)).items] == [live.run_id]

    async def refusals(id, principal):
        pause = Directive(action="pause")
        asks = [b.run(id, principal), b.events(id, principal), b.abort(id, principal)]
        if principal.has_scope("agent:control"):
            asks += [b.loop(id, principal), b.trace(id, principal), b.direct(id, principal, pause)]
        texts = []
        for ask in asks:
            with pytest.raises(UnknownRunError) as caught:
                await ask
            texts.append(str(caught.value).replace(id, "ID"))
        return texts

    for principal in (EVE, who("x", "*", tenant=None), BOB):
        assert await refusals(live.run_id, principal) == await refusals("no-such", principal)
        assert await refusals(loop["id"], principal) == await refusals("no-such.1", principal)
        assert (await b.runs(principal)).items == []
    for odd in ("x" * 5000, "a\nb", "\ud800", "*", "..", "a:b"):
        with pytest.raises(UnknownRunError):
            await b.run(odd, READER)
    assert (await b.loops(EVE)).items == []
    assert a.app.loops.get(loop["id"], "acme").status == "running"
    await live.left()


async def test_projects_and_prefixes_on_one_redis_do_not_see_each_other(worker, settings, redis_server):
    text = settings(redis_server.port)
    other = settings(redis_server.port, redis='prefix = "other"')
    async with worker(text) as a, worker(text) as b, worker(text, folder="school") as c:
        async with worker(other) as d:
            live = await a.start("wait", principal=ANN)
            await eventually(lambda: b.run(live.run_id, READER))
            for stranger in (c, d):
                with pytest.raises(UnknownRunError):
                    await stranger.run(live.run_id, READER)
                assert (await stranger.runs(READER)).items == []
            await live.left()


async def forge(server, service, message, *, raw=None):
    """Put a message on a worker's channel; give how many listened."""
    channel = f"tuvl:shop:inbox:{service.app.peers._worker}"
    async with server.client() as client:
        return await client.publish(channel, raw if raw is not None else json.dumps(message))


async def test_what_others_put_on_the_channel_does_nothing_and_is_logged(pair, redis_server, caplog):
    a, b = pair
    live = await a.start("turns", principal=ANN)
    loop = await the_loop(b)
    caplog.set_level(logging.WARNING, "tuvl.redis")
    sender = uuid.uuid4().hex
    abort = {"action": "abort", "text": "forged"}
    good = {"op": "direct", "id": "1", "from": sender, "loop": loop["id"], "tenant": "acme", "directive": abort}
    foreign = {**good, "tenant": "evil"}
    forged = [
        foreign,
        {**foreign, "tenant": None},
        {**foreign, "op": "abort", "run": live.run_id, "reason": "forged"},
        {key: text for key, text in good.items() if key != "tenant"},
        {**good, "tenant": ["acme"]},
        {**good, "directive": {"action": "explode"}},
        {**good, "directive": "abort"},
        {**good, "loop": 7},
        {**good, "from": "../x"},
        {**good, "id": "y" * 101},
        {**good, "op": "answer", "answer": {"a": 1}},
        {**good, "op": "halt"},
        {**good, "directive": {**abort, "text": "z" * 70_000}},
        [good],
        None,
    ]
    raws = [b"", b"\xff\xfe\x00", b"{", b"[" * 60_000, b"x" * 1_000_000]
    for number, message in enumerate(forged):
        if isinstance(message, dict) and message["id"] == "1":
            message["id"] = str(number)
        assert await forge(redis_server, a, message) == 1
    for raw in raws:
        assert await forge(redis_server, a, None, raw=raw) == 1
    # The next one that is in order is obeyed: nothing before it was, and the worker still listens.
    assert await b.direct(loop["id"], OPERATOR, Directive(action="steer", text="go on")) == "applied"
    handle = a.app.loops.get(loop["id"], "acme")
    assert handle.control.aborted is None
    assert not live.over
    told = [record.message for record in caplog.records]
    assert sum("redis.foreign" in text for text in told) >= 2
    for problem in ("too large", "no JSON", "from no worker", "without a tenant", "asks for nothing", "that is none"):
        assert any(problem in text for text in told), problem
    assert not any("zzzz" in text for text in told)
    await live.left()


async def test_the_same_question_is_answered_the_same_and_done_once(pair, redis_server):
    a, b = pair
    live = await a.start("turns", principal=ANN)
    loop = await the_loop(b)
    heard = []
    sender = uuid.uuid4().hex
    steer = Directive(action="steer", text="once", source="rule")
    message = {"op": "direct", "id": "7", "from": sender, "loop": loop["id"], "tenant": "acme"}
    message["directive"] = steer.to_dict()
    async with redis_server.client() as client, client.pubsub() as channel:
        await channel.subscribe(f"tuvl:shop:inbox:{sender}")
        for _ in range(3):
            assert await forge(redis_server, a, message) == 1
        async with asyncio.timeout(10):
            while len(heard) < 3:
                got = await channel.get_message(ignore_subscribe_messages=True, timeout=1)
                if got is not None:
                    heard.append(json.loads(got["data"])["answer"])
    assert heard == ["applied"] * 3
    await b.direct(loop["id"], OPERATOR, Directive(action="abort", text="enough"))
    assert (await live.wait()).context["heard"] == ["once"]


async def test_without_a_url_there_are_no_peers_and_a_wrong_one_is_told_without_its_password(worker):
    async with worker("") as service:
        assert service.app.peers is None
    for url in ("http://:s3cret@h/0", "redis://:s3cret@h:port/0", "s3cret"):
        with pytest.raises(SettingsError, match="TUVL_REDIS_URL") as caught:
            async with worker(f'[redis]\nurl = "{url}"\n'):
                pass
        assert "s3cret" not in str(caught.value)


async def test_what_is_too_large_is_left_out_and_said_so(worker, settings, redis_server):
    text = settings(redis_server.port, more="keep_bytes = 1000")
    async with worker(text) as a, worker(text) as b:
        live = await a.start("count", {"n": 1, "ballast": "x" * 5000}, principal=ANN)
        await live.wait()
        run = await eventually(lambda: b.run(live.run_id, READER), lambda run: run["ended"] is not None)
        assert (run["status"], run["context"], run["left_out"]) == ("completed", {}, ["result", "context"])
