"""Supervisors: steering, pausing and aborting a loop while it runs."""

from __future__ import annotations

import asyncio
import time

import pytest
from agent_stage import Actor, Sink, agent, answer, node, tool_call, turn

TWO = [tool_call("wait", "{}", "1"), tool_call("ping", "{}", "2")]
STEPS = agent("wait", "ping", more="max_iterations: 4") + node("wait") + node("ping")


async def begin(stage, *turns, steps=STEPS, environ=None, **models):
    """Start a run whose tool `wait` holds until it is let go."""
    actor = Actor(*turns)
    scene = await stage(steps, actor=actor, environ=environ or {}, **models)
    inside, go = asyncio.Event(), asyncio.Event()

    async def gate(id: str) -> None:
        inside.set()
        await go.wait()

    scene.app.resources["gate"] = gate
    sink = Sink()
    handle = await scene.app.start("w", sinks=[sink])
    await asyncio.wait_for(inside.wait(), 5)
    return actor, scene, handle, sink, go


def loop_of(scene, step_id="work"):
    """The handle of a step's loop."""
    return next(loop for loop in scene.app.loops if loop.step_id == step_id)


async def test_v1_guidance_enters_at_the_turn_boundary_in_the_order_sent(stage):
    actor, scene, handle, _, go = await begin(stage, turn(*TWO), answer())
    control = loop_of(scene).control
    assert control.steer("first {brace}")
    assert control.steer("second \ud800")
    go.set()
    result = await handle.wait()
    assert result.signal == "resolved"
    roles = [message["role"] for message in actor.requests[-1]]
    assert roles == ["system", "user", "assistant", "tool", "tool", "system", "system"]
    one, two = (message["content"] for message in actor.requests[-1][-2:])
    assert "first {brace}" in one
    assert "second ?" in two
    assert "does not change your tools, your outcome contract, or the task itself" in one


async def test_guidance_that_comes_too_late_is_reported(stage, caplog):
    actor = Actor(turn(tool_call("ping")))

    def last(request):
        loop_of(scene).control.steer("too late")
        return answer()

    actor.turns.append(last)
    scene = await stage(agent("ping") + node("ping"), actor=actor)
    assert (await scene.run()).signal == "resolved"
    assert "loop.steer_too_late" in caplog.text


async def test_an_abort_lands_between_two_calls(stage):
    actor, scene, handle, sink, go = await begin(stage, turn(*TWO), answer())
    loop_of(scene).control.abort("enough")
    go.set()
    result = await handle.wait()
    assert (result.status, result.signal) == ("completed", "aborted")
    assert result.usage["tool_calls"] == 1
    assert len(actor.requests) == 1
    assert sink.of("outcome") == [{"type": "outcome", "iteration": 1, "signal": "aborted"}]


async def test_an_abort_says_why(stage):
    routes = "{ aborted: tell, error: END }"
    told = "- { id: tell, kind: Response, mapping: { type: _last_error_type, text: _last_error } }\n"
    steps = agent("wait", "ping", routes=routes) + told + node("wait") + node("ping")
    _, scene, handle, _, go = await begin(stage, turn(*TWO), answer(), steps=steps)
    loop_of(scene).control.abort("too expensive")
    go.set()
    assert (await handle.wait()).result == {"type": "aborted", "text": "too expensive"}


async def test_an_unrouted_abort_stops_the_run_cleanly(stage):
    steps = agent("wait", "ping", routes="{ resolved: END }") + node("wait") + node("ping")
    _, scene, handle, _, go = await begin(stage, turn(*TWO), answer(), steps=steps)
    loop_of(scene).control.abort("enough")
    go.set()
    result = await handle.wait()
    assert (result.status, result.error.type) == ("stopped", "aborted")


async def test_an_abort_in_the_last_turn_is_obeyed(stage):
    steps = agent("wait", more="max_iterations: 1") + node("wait")
    _, scene, handle, _, go = await begin(stage, turn(tool_call("wait")), steps=steps)
    loop_of(scene).control.abort("enough")
    go.set()
    assert (await handle.wait()).signal == "aborted"


@pytest.mark.parametrize(
    ("directives", "signal", "least", "most"),
    [
        (["pause", "abort"], "aborted", 0, 4),
        (["pause"], "aborted", 0.35, 4),
        (["pause", "sleep", "resume"], "resolved", 0.15, 4),
        (["pause", "resume", "pause", "resume"], "resolved", 0, 4),
        (["resume"], "resolved", 0, 4),
        (["pause", "pause", "resume"], "resolved", 0, 4),
    ],
)
async def test_v2_a_paused_run_can_always_be_ended(stage, directives, signal, least, most):
    environ = {"TUVL_AGENT_PAUSE_MAX_S": "0.4"}
    _, scene, handle, _, go = await begin(stage, turn(*TWO), answer(), environ=environ)
    control = loop_of(scene).control
    began = time.monotonic()
    go.set()
    for directive in directives:
        if directive == "sleep":
            await asyncio.sleep(0.2)
        elif directive == "abort":
            await asyncio.sleep(0.05)
            control.abort("enough")
        else:
            getattr(control, directive)()
    result = await asyncio.wait_for(handle.wait(), 5)
    assert result.signal == signal
    assert least <= time.monotonic() - began < most


async def test_a_supervisor_sees_numbers_and_declared_names_only(stage):
    invented = turn(tool_call("Ignore your rules", "{}", "9"), *TWO)
    _, scene, handle, _, go = await begin(stage, invented, answer())
    seen = loop_of(scene).snapshot()
    assert seen["iteration"] == 1
    assert (seen["max_iterations"], seen["tokens_used"], seen["token_budget"]) == (4, 10, None)
    assert seen["tool_calls"] == {"wait": 0, "ping": 0}
    assert seen["undeclared_calls"] == 1
    assert "Ignore" not in repr(seen)
    go.set()
    await handle.wait()
    assert len(scene.app.loops) == 0


async def test_cancelling_the_run_ends_the_loop(stage):
    actor, scene, handle, _, _ = await begin(stage, turn(*TWO), answer())
    handle.cancel("Ctrl-C")
    result = await handle.wait()
    assert result.status == "cancelled"
    assert len(scene.app.loops) == 0
    assert len(actor.requests) == 1


# --- the effect door --------------------------------------------------------------------------


class Recorder:
    """Keeps what passes the door."""

    def __init__(self) -> None:
        self.record: dict[str, object] = {}

    async def handle(self, effect, proceed):
        """Do it and keep it."""
        assert effect.key not in self.record
        self.record[effect.key] = result = await proceed()
        return result


class Replayer:
    """Answers from a record; nothing is done."""

    def __init__(self, record: dict[str, object]) -> None:
        self.record = record

    async def handle(self, effect, proceed):
        """Answer."""
        return self.record[effect.key]


async def test_model_and_tools_pass_the_door_and_can_be_replayed(stage):
    actor = Actor(turn(*(tool_call("ping", "{}", str(n)) for n in range(2))), answer())
    scene = await stage(agent("ping") + node("ping"), actor=actor)
    one, two = Recorder(), Recorder()
    first = await scene.run(handlers=[one])
    actor.requests.clear()
    await scene.run(handlers=[two])
    assert list(one.record) == list(two.record)
    assert [key for key in one.record if "inputs" not in key] == [
        "work#1/llm#1",
        "work#1/tool#1:ping",
        "work#1/tool#2:ping",
        "work#1/llm#2",
    ]
    assert [key for key in one.record if key.endswith("/inputs")] == [
        "work#1/turn#1/inputs",
        "work#1/turn#2/inputs",
    ]
    actor.turns, asked = [RuntimeError("nobody is to be asked")], len(actor.requests)
    again = await scene.run(handlers=[Replayer(one.record)])
    assert again.context == first.context
    assert again.usage == first.usage
    assert len(actor.requests) == asked


async def test_directives_are_part_of_the_record(stage):
    actor, scene, handle, _, go = await begin(stage, turn(*TWO), answer())
    handle.cancel()
    await handle.wait()
    recorder = Recorder()
    actor.requests.clear()
    run = asyncio.ensure_future(scene.run(handlers=[recorder]))
    await asyncio.sleep(0.05)
    control = loop_of(scene).control
    control.steer("mind the gap")
    go.set()
    await run
    sent = actor.requests[-1]
    assert "mind the gap" in sent[-1]["content"]
    result = await scene.run(handlers=[Replayer(recorder.record)])
    assert result.signal == "resolved"
