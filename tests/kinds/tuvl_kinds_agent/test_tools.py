"""Tool calls: what runs, what is refused, what the model sees, what reaches the context."""

from __future__ import annotations

import asyncio
import datetime as dt
import enum
import json
import time
from decimal import Decimal
from uuid import UUID

import pytest
from agent_stage import Actor, Sink, agent, answer, node, tool_call, turn

from tuvl_core import Secret

LOOKUP = (
    "{ ref: lookup, parameters: { type: object, properties: { order_id: { type: string } }, required: [order_id] } }"
)
PING = "{ ref: ping, parameters: { type: object, properties: {} } }"


async def play(stage, tools, steps, *turns, context=None, **options):
    """Run an agent over some turns and then an answer."""
    actor = Actor(*turns, answer())
    scene = await stage(agent(*tools) + steps, actor=actor, **options)
    result = await scene.run(context)
    return result, actor


async def test_t1_broken_arguments_cost_only_their_own_call(stage):
    calls = [
        tool_call("lookup", '{"order_id": "A-1"', "1"),
        tool_call("ping", None, "2"),
        tool_call("ping", "", "3"),
        tool_call("ping", "  ", "4"),
        tool_call("lookup", "", "5"),
    ]
    steps = node("lookup") + node("ping")
    result, actor = await play(stage, [LOOKUP, PING], steps, turn(*calls))
    first, *pings, last = actor.answers()
    assert result.signal == "resolved"
    assert result.usage["tool_calls"] == 5
    assert pings == [{"pong": True}] * 3
    assert "invalid JSON" in first["error"]
    assert "A-1" in first["error"]
    assert "order_id" in last["error"]
    assert first["type"] == last["type"] == "invalid_arguments"


@pytest.mark.parametrize(
    "arguments",
    ["[1]", '"x"', "null", "{", '{"order_id": 5}', '{"order_id": "A", "more": 1}', "x" * 100_000,
     '{"order_id": NaN}', '{"order_id": "\\ud800"}', '{"a":' * 5000],
)  # fmt: skip
async def test_t1_arguments_that_do_not_fit_are_refused(stage, arguments):
    result, actor = await play(stage, [LOOKUP], node("lookup"), turn(tool_call("lookup", arguments)))
    [refused] = actor.answers()
    assert result.usage["tool_calls"] == 1
    assert set(refused) == {"error", "type"}
    assert len(refused["error"]) < 1500


async def test_arguments_that_a_provider_parsed_are_taken_too(stage):
    result, actor = await play(stage, [LOOKUP], node("lookup"), turn(tool_call("lookup", {"order_id": "A-9"})))
    assert actor.answers() == [{"order": {"id": "A-9", "total": 40}}]
    sent = actor.requests[-1][2]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(sent) == {"order_id": "A-9"}


async def test_t2_an_invented_tool_runs_nothing(stage):
    result, actor = await play(
        stage,
        [LOOKUP],
        node("lookup"),
        turn(tool_call("lookups", '{"order_id": "A"}', "1"), tool_call("lookup", '{"order_id": "A"}', "2")),
    )
    refused, good = actor.answers()
    assert result.signal == "resolved"
    assert "lookup" in refused["error"]
    assert refused["type"] == "unknown_tool"
    assert "order" in good
    assert result.usage["tool_calls"] == 2


@pytest.mark.parametrize("name", [None, "", "crm.contacts find", "ü" * 100, "x" * 100, "work"])
async def test_t2_whatever_the_invented_name_the_history_stays_well_formed(stage, name):
    result, actor = await play(stage, [LOOKUP], node("lookup"), turn(tool_call(name, "{}")))
    assert result.signal == "resolved"
    assert actor.answers()[0]["type"] == "unknown_tool"


async def test_without_tools_every_call_is_unknown(stage):
    result, actor = await play(stage, [], "", turn(tool_call("ping")))
    assert "none" in actor.answers()[0]["error"]


async def test_t3_the_wire_name_is_the_ref_and_people_see_the_ref(stage):
    long = "x" * 64
    actor = Actor(turn(tool_call(long)), answer())
    sink = Sink()
    scene = await stage(agent(long) + node("ping", id=long), actor=actor)
    await scene.run(sinks=[sink])
    assert actor.tools[0][0]["function"]["name"] == long
    assert sink.of("tool_call")[0]["tool"] == long


@pytest.mark.parametrize("ids", [("call_0", "call_0"), (None, None), ("", ""), ("call_1_2", "call_1_2")])
async def test_t4_ids_are_unique_whatever_the_provider_sends(stage, ids):
    first = turn(*(tool_call("note", f'{{"text": "{n}"}}', id) for n, id in enumerate(ids)))
    second = turn(*(tool_call("ping", "{}", id) for id in ids))
    steps = node("note") + node("ping")
    result, actor = await play(stage, ["{ ref: note, writes_context: true }", "ping"], steps, first, second)
    assert result.signal == "resolved"
    assert result.context["notes"] == ["0", "1"]
    ids = [m["tool_call_id"] for m in actor.requests[-1] if m["role"] == "tool"]
    assert len(set(ids)) == 4


class Colour(enum.Enum):
    RED = "red"


AWKWARD = {
    "id": UUID(int=1),
    "price": Decimal("10.10"),
    "at": dt.datetime(2026, 1, 2, 3, 4, tzinfo=dt.UTC),
    "day": dt.date(2026, 1, 2),
    "colour": Colour.RED,
    "tags": {"b", "a"},
    "raw": b"\xff\x00",
    "nan": float("nan"),
    "half": "\ud800",
}
PLAIN = {
    "id": "00000000-0000-0000-0000-000000000001",
    "price": "10.10",
    "at": "2026-01-02T03:04:00+00:00",
    "day": "2026-01-02",
    "colour": "red",
    "tags": ["a", "b"],
    "raw": {"base64": "/wA="},
    "nan": None,
    "half": "\ud800",
}


async def test_t5_values_have_one_form_in_context_and_results(stage):
    result, actor = await play(stage, ["peek"], node("peek"), turn(tool_call("peek")), context={"row": AWKWARD})
    assert json.loads(actor.requests[0][1]["content"]) == {"row": PLAIN}
    assert actor.answers() == [{"saw": {"row": PLAIN}}]
    assert result.signal == "resolved"


async def test_t5_what_has_no_form_is_an_error_that_names_the_key(stage):
    result, actor = await play(stage, ["ping"], node("ping"), context={"odd": {"x": object()}})
    assert result.signal == "error"
    assert actor.requests == []


async def test_t6_long_results_and_errors_are_cut_and_say_so(stage):
    calls = [tool_call("big", f'{{"size": {n}}}', str(n)) for n in (7989, 7990, 5_000_000)]
    calls.append(tool_call("boom", '{"size": 5000000}', "b"))
    result, actor = await play(stage, ["big", "boom"], node("big") + node("boom"), turn(*calls))
    contents = [m["content"] for m in actor.requests[-1] if m["role"] == "tool"]
    assert [len(content) <= 8000 for content in contents] == [True] * 4
    exact, over, huge, error = actor.answers()
    assert exact == {"text": "y" * 7989}
    assert (over["truncated"], over["length"]) == (True, 8001)
    assert (huge["truncated"], huge["length"]) == (True, 5_000_011)
    assert huge["head"].startswith('{"text":"yyy')
    assert len(contents[2]) > 7900
    assert (error["truncated"], error["type"]) == (True, "ValueError")
    assert error["error"].startswith("no such thing")
    assert error["length"] > 5_000_000


@pytest.mark.parametrize("limit", ["0.2"])
@pytest.mark.parametrize("tool", ["sleep", "stubborn", "block"])
async def test_t7_the_tool_limit_holds_and_is_fatal(stage, tool, limit):
    actor = Actor(turn(tool_call(tool, id="1"), tool_call("ping", id="2")), answer())
    told = "- { id: tell, kind: Response, mapping: { type: _last_error_type } }\n"
    scene = await stage(
        agent(tool, "ping", routes="{ error: tell }") + told + node(tool) + node("ping"),
        actor=actor,
        environ={"TUVL_AGENT_TOOL_TIMEOUT_S": limit},
    )
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.02)
            ticks += 1

    ticking = asyncio.ensure_future(tick())
    sink = Sink()
    began = time.monotonic()
    result = await scene.run(sinks=[sink])
    assert time.monotonic() - began < 5
    ticking.cancel()
    assert ticks >= 4
    assert result.result == {"type": "tool_timeout"}
    assert (len(actor.requests), result.usage["tool_calls"]) == (1, 1)
    assert sink.of("outcome") == [{"type": "outcome", "iteration": 1, "signal": "error"}]


async def test_a_tools_own_timeout_is_a_failed_call_and_not_fatal(stage):
    sleepy = "- { id: sleep, kind: Functional, runner: sleep, description: Sleeps., timeout: 0.05 }\n"
    result, actor = await play(stage, ["sleep"], sleepy, turn(tool_call("sleep")))
    assert result.signal == "resolved"
    assert actor.answers()[0]["type"] == "timeout"


async def test_a_tool_that_raises_is_told_to_the_model(stage):
    result, actor = await play(stage, ["boom"], node("boom"), turn(tool_call("boom")))
    assert result.signal == "resolved"
    assert actor.answers() == [{"error": "no such thing: ", "type": "ValueError"}]


async def test_t8_private_and_identity_names_never_come_from_the_model(stage):
    surplus = '{"status": "open", "tenant_id": "other", "_session": null, "_last_error": "x"}'
    declared = "{ ref: peek, parameters: { properties: { status: { type: string } } } }"
    for tool in (declared, "peek"):
        result, actor = await play(stage, [tool], node("peek"), turn(tool_call("peek", surplus)))
        [refused] = actor.answers()
        assert set(refused) == {"error", "type"}
        for name in ("tenant_id", "_session", "_last_error"):
            assert name in refused["error"]


# --- the context ------------------------------------------------------------------------------


async def test_t8_a_tool_leaves_no_trace_at_any_depth(stage):
    context = {"ticket": {"lines": ["one"]}, "secret_plan": 1}
    result, actor = await play(
        stage,
        ["meddle", "forget", "note"],
        node("meddle") + node("forget") + node("note"),
        turn(
            tool_call("meddle", id="1"),
            tool_call("forget", id="2"),
            tool_call("note", '{"text": "x"}', "3"),
        ),
        turn(tool_call("meddle", id="4")),
        context=context,
    )
    assert actor.answers()[:3] == [{"mine": 1}, {}, {"notes": ["x"]}]
    assert result.context == {"ticket": {"lines": ["one"]}, "secret_plan": 1, "work_result": "done"}


async def test_only_tools_that_may_write_the_context_do(stage):
    result, actor = await play(
        stage,
        ["{ ref: note, writes_context: true }", "{ ref: forget, writes_context: true }", "peek"],
        node("note") + node("forget") + node("peek"),
        turn(tool_call("note", '{"text": "a"}', "1"), tool_call("forget", id="2")),
        turn(tool_call("note", '{"text": "b"}', "3"), tool_call("peek", id="4")),
        context={"secret_plan": 1},
    )
    assert result.context == {"notes": ["a", "b"], "work_result": "done"}
    assert actor.answers()[-1] == {"saw": {"notes": ["a", "b"]}}


@pytest.mark.parametrize(
    ("last", "signal"),
    [
        (turn(content="no answer"), "error"),
        (turn(reason="content_filter"), "error"),
        (RuntimeError("down"), "error"),
        (turn(tool_call("ping")), "max_iterations"),
    ],
)
async def test_what_tools_wrote_is_kept_on_every_exit(stage, last, signal):
    actor = Actor(turn(tool_call("note", '{"text": "kept"}')), last)
    tools = ("{ ref: note, writes_context: true }", "ping")
    steps = agent(*tools, more="max_iterations: 2") + node("note") + node("ping")
    scene = await stage(steps, actor=actor)
    result = await scene.run()
    assert (result.signal, result.context) == (signal, {"notes": ["kept"]})


async def test_arguments_never_show_as_changes(stage):
    result, actor = await play(
        stage,
        ["{ ref: lookup, writes_context: true }", "nothing"],
        node("lookup") + node("nothing"),
        turn(tool_call("lookup", '{"order_id": "A-1"}', "1"), tool_call("nothing", '{"x": 1}', "2")),
    )
    assert actor.answers() == [{"order": {"id": "A-1", "total": 40}}, {}]
    assert set(result.context) == {"order", "work_result"}


async def test_a_signal_shows_and_never_routes(stage):
    result, actor = await play(
        stage,
        ["ship", "clash"],
        node("ship", more=", routes: { sent: END }") + node("clash"),
        turn(tool_call("ship", id="1"), tool_call("clash", id="2")),
    )
    assert actor.answers() == [
        {"shipped": True, "signal": "sent"},
        {"signal": "green", "_signal": "sent"},
    ]
    assert result.signal == "resolved"


async def test_an_unchanged_output_is_shown_all_the_same(stage):
    inner = agent(id="inner", model="helper", enum="[]", routes="{}").replace(
        "kind: AutonomousAgent", "kind: AutonomousAgent\n  description: Helps."
    )
    actor = Actor(turn(tool_call("inner", "{}")), answer())
    scene = await stage(agent("inner") + inner, actor=actor, helper=Actor(turn(content="same")))
    await scene.run({"inner_result": "same"})
    assert actor.answers() == [{"inner_result": "same"}]


async def test_secrets_are_masked_unless_the_tool_reveals_them(stage):
    context = {"card": {"number": Secret("4111"), "code": Secret("999")}}
    _, actor = await play(
        stage,
        ["peek", "{ ref: again, reveal: [number] }"],
        node("peek") + node("peek", id="again"),
        turn(tool_call("peek", id="1"), tool_call("again", id="2")),
        context=context,
    )
    masked, opened = actor.answers()
    assert json.loads(actor.requests[0][1]["content"]) == {"card": {"number": "***", "code": "***"}}
    assert masked["saw"]["card"] == {"number": "***", "code": "***"}
    assert opened["saw"]["card"] == {"number": "4111", "code": "***"}


async def test_calls_run_one_after_another_in_order(stage):
    order: list[str] = []

    async def gate(id: str) -> None:
        order.append(f"{id} in")
        await asyncio.sleep(0.01)
        order.append(f"{id} out")

    actor = Actor(turn(tool_call("b", id="1"), tool_call("a", id="2")), answer())
    scene = await stage(agent("a", "b") + node("wait", id="a") + node("wait", id="b"), actor=actor)
    scene.app.resources["gate"] = gate
    await scene.run()
    assert order == ["b in", "b out", "a in", "a out"]


async def test_a_router_and_a_response_can_be_tools(stage):
    steps = (
        "- { id: rich, kind: Router, description: Is it a lot?,"
        " condition: { field: total, operator: gt, value: 100 } }\n"
    )
    _, actor = await play(stage, ["rich"], steps, turn(tool_call("rich", '{"total": 150}')))
    assert actor.answers() == [{"signal": "true"}]


@pytest.mark.native_only
@pytest.mark.parametrize("id", [None, "", 5, "\ud800", "ä", "a\nb", "x" * 300])
async def test_t4_an_id_that_cannot_be_sent_back_is_replaced(stage, id):
    actor = Actor(turn(tool_call("ping", id="same"), tool_call("ping", id=id)), answer())
    scene = await stage(agent("ping") + node("ping"), actor=actor)
    assert (await scene.run()).signal == "resolved"
    ids = [message["tool_call_id"] for message in actor.requests[-1] if message["role"] == "tool"]
    assert ids[0] == "same"
    assert ids[1].isascii()
    assert ids[1] not in ("same", id)
