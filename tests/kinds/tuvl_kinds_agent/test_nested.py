"""Agents as tools of agents."""

from __future__ import annotations

import asyncio
import json

from agent_stage import Actor, Sink, agent, answer, node, tool_call, turn


def inner(*tools: str, id: str = "inner", more: str = "", enum: str = "[]") -> str:
    """An agent that serves as a tool."""
    text = agent(*tools, id=id, model=id, more=more, enum=enum, routes="{}")
    return text.replace("kind: AutonomousAgent", "kind: AutonomousAgent\n  description: Helps.")


async def test_an_inner_agent_reads_its_arguments_and_leaves_no_trace(stage):
    outer = Actor(turn(tool_call("inner", '{"question": "why?"}')), answer())
    helper = Actor(turn(tool_call("note", '{"text": "x"}')), turn(content="because"))
    steps = agent("inner") + inner("{ ref: note, writes_context: true }") + node("note")
    scene = await stage(steps, actor=outer, inner=helper)
    result = await scene.run({"ticket": {"n": 1}})
    assert json.loads(helper.requests[0][1]["content"]) == {"ticket": {"n": 1}, "question": "why?"}
    assert outer.answers() == [{"notes": ["x"], "inner_result": "because"}]
    assert result.context == {"ticket": {"n": 1}, "work_result": "done"}


async def test_writes_pass_only_where_every_level_allows(stage):
    outer = Actor(turn(tool_call("inner")), answer())
    helper = Actor(turn(tool_call("note", '{"text": "x"}')), turn(content="because"))
    steps = agent("{ ref: inner, writes_context: true }") + inner("{ ref: note, writes_context: true }") + node("note")
    scene = await stage(steps, actor=outer, inner=helper)
    assert (await scene.run()).context == {
        "notes": ["x"],
        "inner_result": "because",
        "work_result": "done",
    }


async def test_isolation_holds_at_three_levels(stage):
    deep = Actor(turn(tool_call("meddle", id="1")), turn(content="deep"))
    middle = Actor(turn(tool_call("deep")), turn(tool_call("peek", id="p")), turn(content="middle"))
    outer = Actor(turn(tool_call("middle")), turn(tool_call("peek", id="q")), answer())
    steps = (
        agent("middle", "peek")
        + inner("deep", "peek", id="middle")
        + inner("meddle", id="deep")
        + node("meddle")
        + node("peek")
    )
    scene = await stage(steps, actor=outer, middle=middle, deep=deep)
    ticket = {"ticket": {"lines": ["one"]}}
    result = await scene.run(ticket)
    assert middle.answers()[-1]["saw"] == ticket
    assert outer.answers()[-1]["saw"] == ticket
    assert result.context == {**ticket, "work_result": "done"}


async def test_inner_tokens_and_calls_count_outward(stage):
    outer = Actor(turn(tool_call("inner")), turn(tool_call("inner", id="2")), answer())
    helper = Actor(turn(content="because", tokens=100))
    steps = agent("inner", more="token_budget: 110") + inner()
    scene = await stage(steps, actor=outer, inner=helper)
    result = await scene.run()
    assert result.signal == "budget_exceeded"
    assert result.usage == {"tokens": 110, "llm_calls": 2, "llm_attempts": 2, "tool_calls": 1}


async def test_an_inner_agents_abnormal_exit_is_a_failed_call(stage):
    outer = Actor(turn(tool_call("inner")), answer())
    helper = Actor(turn(tool_call("ping")))
    steps = agent("inner") + inner("ping", more="max_iterations: 2") + node("ping")
    scene = await stage(steps, actor=outer, inner=helper)
    assert (await scene.run()).signal == "resolved"
    [told] = outer.answers()
    assert told["type"] == "max_iterations"
    assert "2 turns" in told["error"]


async def test_an_inner_outcome_shows_as_the_signal(stage):
    outer = Actor(turn(tool_call("inner")), answer())
    steps = agent("inner") + inner(enum="[found, lost]")
    scene = await stage(steps, actor=outer, inner=Actor(answer("lost", 3)))
    await scene.run()
    assert outer.answers() == [{"inner_result": 3, "signal": "lost"}]


async def test_progress_of_inner_agents_names_its_place(stage):
    outer = Actor(turn(tool_call("inner")), answer())
    scene = await stage(agent("inner") + inner(), actor=outer, inner=Actor(turn(content="x")))
    events = await scene.events()
    told = [
        (e["step_id"], e["snapshot"]["agent_progress"]["type"], e.get("parent"))
        for e in events
        if e["type"] == "progress"
    ]
    assert told == [
        ("work", "iteration", None),
        ("inner", "iteration", "work#1"),
        ("inner", "outcome", "work#1"),
        ("work", "tool_call", None),
        ("work", "iteration", None),
        ("work", "outcome", None),
    ]


async def test_a_paused_inner_agent_stops_the_outer_clocks(stage):
    outer = Actor(turn(tool_call("inner")), answer())
    helper = Actor(turn(tool_call("wait")), turn(content="x"))
    environ = {"TUVL_AGENT_TOOL_TIMEOUT_S": "0.3"}
    steps = agent("inner") + inner("wait") + node("wait")
    scene = await stage(steps, actor=outer, inner=helper, environ=environ)
    go = asyncio.Event()

    async def gate(id: str) -> None:
        await go.wait()

    scene.app.resources["gate"] = gate
    handle = await scene.app.start("w")
    await asyncio.sleep(0.05)
    loop = next(loop for loop in scene.app.loops if loop.step_id == "inner")
    loop.control.pause()
    go.set()
    await asyncio.sleep(0.6)
    loop.control.resume()
    assert (await handle.wait()).signal == "resolved"


async def test_many_agents_at_once_see_only_their_own(stage):
    def reply(request):
        number = json.loads(request.messages[1]["content"])["n"]
        if len(request.messages) == 2:
            return turn(tool_call("lookup", json.dumps({"order_id": str(number)})))
        found = json.loads(request.messages[-1]["content"])["order"]["id"]
        return answer("resolved", [number, found])

    scene = await stage(agent("lookup") + node("lookup"), actor=Actor(reply))
    results = await asyncio.gather(*(scene.run({"n": n}, sinks=[Sink()]) for n in range(50)))
    assert [r.context["work_result"] for r in results] == [[n, str(n)] for n in range(50)]
