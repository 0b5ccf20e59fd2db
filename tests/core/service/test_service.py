"""What every server relies on: who may see which run, how much goes at a time, and how it all ends."""

from __future__ import annotations

import asyncio
import json

import pytest

from tuvl_core import (
    BusyError,
    DeniedError,
    Directive,
    InputError,
    Principal,
    UnauthenticatedError,
    UnknownRunError,
    UnknownWorkflowError,
)


def who(subject="ann", *scopes, tenant="acme"):
    return Principal(subject=subject, tenant=tenant, scopes=frozenset(scopes))


ANN, BOB, EVE = who("ann"), who("bob"), who("eve", "*", tenant="evil")
READER = who("reader", "run:read")
OPERATOR = who("op", "run:read", "agent:observe", "agent:control")


async def until(condition):
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.002)


def let_go(service):
    service.app.resources.setdefault("gate", asyncio.Event()).set()


async def test_a_run_is_followed_while_it_goes_and_found_afterwards(serve):
    async with serve() as service:
        live = await service.start("wait", {"n": 1}, principal=ANN)
        assert (await service.run(live.run_id, ANN))["status"] == "running"
        follower = asyncio.create_task(collect(await service.events(live.run_id, ANN)))
        let_go(service)
        result = await live.wait()
        events = await follower
        assert [event.type for event in events] == ["step", "step", "run"]
        assert [event.seq for event in events] == [1, 2, 3]
        kept = await service.run(live.run_id, ANN)
        assert kept["status"] == "completed"
        assert kept["result"] is True
        assert {key: kept[key] for key in result.to_dict()} == result.to_dict()
        assert kept["started"] < kept["ended"]
        replay = await collect(await service.events(live.run_id, ANN, after=1))
        assert [event.to_json() for event in replay] == [event.to_json() for event in events[1:]]


async def collect(events):
    return [event async for event in events]


async def test_foreign_and_unknown_runs_are_the_same(serve):
    async with serve() as service:
        live = await service.start("wait", principal=ANN)

        async def refusals(id, principal):
            texts = []
            for ask in (service.run, service.events, service.abort):
                with pytest.raises(UnknownRunError) as caught:
                    await ask(id, principal)
                texts.append(str(caught.value).replace(id, "ID"))
            return texts

        unknown = await refusals("no-such-run", ANN)
        assert await refusals(live.run_id, EVE) == unknown
        assert await refusals(live.run_id, BOB) == unknown  # of the tenant, but neither the owner nor a reader
        assert (await service.run(live.run_id, READER))["run_id"] == live.run_id
        assert (await service.runs(EVE)).items == []
        assert (await service.runs(BOB)).items == []
        assert [item["run_id"] for item in (await service.runs(READER)).items] == [live.run_id]
        assert [item["run_id"] for item in (await service.runs(ANN, workflow="turns")).items] == []


async def test_its_owner_or_who_may_control_aborts_a_run(serve):
    async with serve() as service:
        live = await service.start("wait", principal=ANN)
        with pytest.raises(DeniedError, match="agent:control"):
            await service.abort(live.run_id, READER)
        assert await service.abort(live.run_id, OPERATOR, "too expensive")
        await live.wait()
        kept = await service.run(live.run_id, ANN)
        assert kept["status"] == "cancelled"
        assert kept["error"]["message"] == "too expensive; it had left 0 steps and was at 'w'"
        assert not await service.abort(live.run_id, ANN)


@pytest.mark.parametrize("detach", [False, True])
async def test_a_run_goes_with_its_request_unless_it_is_detached(serve, detach):
    async with serve() as service:
        live = await service.start("wait", principal=ANN, detach=detach)
        await asyncio.sleep(0.01)
        await live.left()
        assert live.over is not detach
        let_go(service)
        assert (await live.wait()).status == ("completed" if detach else "cancelled")


async def test_what_cannot_start_is_refused_before_it_waits_for_a_place(serve):
    async with serve("[run]\nmax_running = 1\nmax_queued = 0\n") as service:
        live = await service.start("wait", principal=ANN)
        with pytest.raises(UnknownWorkflowError):
            await service.start("no_such", principal=ANN)
        with pytest.raises(InputError, match="integer"):
            await service.start("wait", {"n": "one"}, principal=ANN)
        with pytest.raises(DeniedError, match="secret"):
            await service.start("guarded", principal=ANN)
        with pytest.raises(BusyError) as caught:
            await service.start("wait", principal=ANN)
        assert caught.value.retry_after_s > 0
        let_go(service)
        await live.wait()
        await asyncio.sleep(0)
        assert (await (await service.start("wait", principal=ANN)).wait()).status == "completed"


async def test_runs_wait_for_a_place_in_their_order_and_a_waiting_one_may_give_up(serve):
    async with serve("[run]\nmax_running = 1\nmax_queued = 2\n") as service:
        first = await service.start("wait", principal=ANN)
        second = asyncio.create_task(service.start("wait", principal=ANN))
        third = asyncio.create_task(service.start("wait", principal=ANN))
        await asyncio.sleep(0)
        with pytest.raises(BusyError):
            await service.start("wait", principal=ANN)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        let_go(service)
        await first.wait()
        assert (await (await third).wait()).status == "completed"
        await until(lambda: service.running == 0)


async def test_draining_ends_what_waits_lets_finish_what_can_and_cancels_the_rest(serve):
    async with serve("[run]\nmax_running = 2\nmax_queued = 2\n") as service:
        short, long = [await service.start(name, principal=ANN) for name in ("wait", "turns")]
        waiting = asyncio.create_task(service.start("wait", principal=ANN))
        await asyncio.sleep(0.01)
        drain = asyncio.create_task(service.drain(0.3))
        await asyncio.sleep(0.01)
        let_go(service)
        await drain
        with pytest.raises(BusyError) as caught:
            await waiting
        assert caught.value.draining
        with pytest.raises(BusyError):
            await service.start("wait", principal=ANN)
        assert (await short.wait()).status == "completed"
        assert (await long.wait()).status == "cancelled"
        [last] = [event async for event in long.events() if event.terminal]
        assert last.to_dict()["status"] == "cancelled"
        assert service.draining


async def test_runs_that_are_over_are_forgotten_after_their_time(serve):
    async with serve("[run]\nkeep_s = 0.2\n") as service:
        let_go(service)
        live = await service.start("wait", principal=ANN)
        await live.wait()
        assert (await service.run(live.run_id, ANN))["status"] == "completed"
        await asyncio.sleep(0.25)
        with pytest.raises(UnknownRunError):
            await service.run(live.run_id, ANN)


async def test_a_result_without_a_wire_form_is_kept_as_a_failure_to_show_it(serve):
    async with serve() as service:
        live = await service.start("odd", principal=ANN)
        await live.wait()
        await asyncio.sleep(0)
        kept = await service.run(live.run_id, ANN)
        assert kept["error"]["type"] == "CodecError"
        assert kept["error"]["message"].startswith("result: ")
        assert [entry["step"] for entry in kept["path"]] == ["o"]
        json.dumps(kept, allow_nan=False)


async def test_operators_see_and_direct_the_loops_of_their_tenant(serve):
    async with serve() as service:
        live = await service.start("turns", principal=ANN)
        await until(lambda: len(service.app.loops) == 1)
        [loop] = (await service.loops(OPERATOR)).items
        assert loop["id"] == f"{live.run_id}.1"
        assert (loop["run_id"], loop["step_id"], loop["parent"]) == (live.run_id, "l", None)
        assert (await service.loop(loop["id"], OPERATOR))["status"] == "running"
        assert (await service.loops(EVE)).items == []
        for refused in (
            service.loop(loop["id"], EVE),
            service.trace(loop["id"], EVE),
            service.loop("nope.1", OPERATOR),
        ):
            with pytest.raises(UnknownRunError):
                await refused
        abort = Directive(action="abort", text="enough")
        with pytest.raises(UnknownRunError):
            await service.direct(loop["id"], EVE, abort)
        for call in (service.loops(ANN), service.direct(loop["id"], who("w", "agent:observe"), abort)):
            with pytest.raises(DeniedError, match="agent:"):
                await call
        assert await service.direct(loop["id"], OPERATOR, Directive(action="resume")) == "ignored"
        assert await service.direct(loop["id"], OPERATOR, Directive(action="pause", id="p")) == "applied"
        assert await service.direct(loop["id"], OPERATOR, Directive(action="pause", id="p")) == "repeated"
        await until(lambda: live.record.run.status == "paused")
        assert (await service.run(live.run_id, ANN))["status"] == "paused"
        assert await service.direct(loop["id"], OPERATOR, abort) == "applied"
        assert (await live.wait()).context["why"] == "enough"


async def test_the_trace_of_a_loop_is_its_own_progress_with_who_intervened(serve):
    async with serve() as service:
        live = await service.start("turns", principal=ANN)
        other = await service.start("turns", principal=ANN)
        await until(lambda: len(service.app.loops) == 2)
        id = f"{live.run_id}.1"
        await service.direct(id, OPERATOR, Directive(action="steer", text="be brief: the code is 1234"))
        trace = await service.trace(id, OPERATOR)
        told = [event["snapshot"]["agent_progress"] for event in trace]
        assert {"type": "supervisor", "action": "steer", "source": "operator"} in told
        assert {event["run_id"] for event in trace} == {live.run_id}
        assert "1234" not in json.dumps(trace)
        for run in (live, other):
            await run.left()


async def test_a_gate_without_authenticators_lets_nobody_in(serve):
    async with serve(dev=False) as service:
        assert not service.gate.open
        with pytest.raises(UnauthenticatedError, match="tuvl token issue"):
            await service.gate.admit({"authorization": "Bearer x"})
    async with serve(dev=True) as service:
        assert await service.gate.admit({}) == Principal.local()


KEYS = """
from tuvl_core import DeniedError, Principal, hookimpl

TUVL_API = 1


class Keys:
    async def authenticate(self, credentials):
        key = credentials.get("x-key")
        if key is None:
            return None
        if key != "good":
            raise DeniedError("the key is not known")
        return Principal(subject="acme", tenant="acme")


@hookimpl
def tuvl_authenticate(app):
    return Keys()
"""


async def test_an_authenticator_decides_or_passes(serve):
    async with serve(dev=False, plugin=KEYS) as service:
        assert (await service.gate.admit({"x-key": "good"})).subject == "acme"
        with pytest.raises(UnauthenticatedError, match="not known"):
            await service.gate.admit({"x-key": "bad"})
        with pytest.raises(UnauthenticatedError, match="missing"):
            await service.gate.admit({})


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({}, "action"),
        ({"action": "explode"}, "action"),
        ({"action": "steer"}, "text"),
        ({"action": "steer", "text": " "}, "text"),
        ({"action": "abort", "text": 1}, "text"),
        ({"action": "steer", "text": "x" * 8001}, "text"),
        ({"action": "abort", "force": "yes"}, "force"),
        ({"action": "pause", "source": "nobody"}, "source"),
        ({"action": "pause", "id": 7}, "id"),
    ],
)
def test_what_is_no_directive_is_refused_by_field(data, field):
    with pytest.raises(InputError) as caught:
        Directive.from_dict(data)
    assert [path for path, _ in caught.value.problems] == [field]


def test_a_directive_survives_being_sent():
    sent = Directive(action="abort", text="enough", force=True, name="ann")
    assert Directive.from_dict(json.loads(json.dumps(sent.to_dict()))) == sent
