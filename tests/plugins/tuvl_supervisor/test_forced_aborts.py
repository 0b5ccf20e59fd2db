"""An abort by force cancels what is in flight, wherever that is, and the exit is routed; a cancellation stays one."""

from __future__ import annotations

import asyncio

import pytest
from agent_stage import Actor, Sink, agent, answer, node, tool_call, turn
from supervised import inner, loop_of, until

TELL = "- { id: tell, kind: Response, mapping: { type: _last_error_type, text: _last_error } }\n"
ROUTES = "{ resolved: END, aborted: tell, error: END }"
STEPS = agent("wait", "block", "inner", routes=ROUTES) + TELL + node("wait") + node("block") + inner("wait")
GENEROUS = 20


class Hanging:
    """A model that never answers, and says when it was let go of."""

    tool_calling = "native"

    def __init__(self) -> None:
        self.asked, self.gone = asyncio.Event(), asyncio.Event()

    async def complete(self, request):
        """Hang."""
        self.asked.set()
        try:
            await asyncio.sleep(1000)
        finally:
            self.gone.set()


async def begin(play, *, actor, helper=None):
    sink = Sink()
    scene = await play(None, steps=STEPS, actor=actor, inner=helper or Actor(answer()))
    return scene, await scene.app.start("w", sinks=[sink]), sink


async def told(handle, text="enough"):
    """The run's end, once it has been aborted by force."""
    result = await asyncio.wait_for(handle.wait(), GENEROUS)
    assert (result.status, result.result) == ("completed", {"type": "aborted", "text": text})
    assert [(entry.step, entry.signal) for entry in result.path] == [("work", "aborted"), ("tell", "default")]
    return result


async def test_a_hanging_model_is_let_go_of(play):
    model = Hanging()
    scene, handle, sink = await begin(play, actor=model)
    await model.asked.wait()
    assert loop_of(scene).control.abort("enough", force=True)
    await told(handle)
    assert model.gone.is_set()
    assert [item["signal"] for item in sink.of("outcome")] == ["aborted"]


async def test_a_hanging_tool_is_let_go_of(play):
    scene, handle, _ = await begin(play, actor=Actor(turn(tool_call("wait")), answer()))
    await scene.inside.wait()
    loop_of(scene).control.abort("enough", force=True)
    await told(handle)


async def test_a_tool_that_blocks_its_thread_is_left_behind(play):
    scene, handle, _ = await begin(play, actor=Actor(turn(tool_call("block")), answer()))
    await until(lambda: any(loop.metadata["iteration"] for loop in scene.app.loops), "the call")
    loop_of(scene).control.abort("enough", force=True)
    await told(handle)


async def test_the_outer_agent_takes_the_inner_one_with_it(play):
    helper = Hanging()
    scene, handle, sink = await begin(play, actor=Actor(turn(tool_call("inner")), answer()), helper=helper)
    await helper.asked.wait()
    loop_of(scene, "work").control.abort("enough", force=True)
    await told(handle)
    assert helper.gone.is_set()
    assert [item["signal"] for item in sink.of("outcome")] == ["aborted"]
    assert len(scene.app.loops) == 0


async def test_the_inner_agent_alone_is_a_failed_call(play):
    helper, actor = Hanging(), Actor(turn(tool_call("inner")), answer())
    scene, handle, _ = await begin(play, actor=actor, helper=helper)
    await helper.asked.wait()
    loop_of(scene, "inner").control.abort("enough", force=True)
    result = await asyncio.wait_for(handle.wait(), GENEROUS)
    assert result.signal == "resolved"
    assert actor.answers() == [{"error": "enough", "type": "aborted"}]


async def test_one_that_waits_is_overtaken_by_one_by_force(play):
    scene, handle, _ = await begin(play, actor=Actor(turn(tool_call("wait")), answer()))
    await scene.inside.wait()
    control = loop_of(scene).control
    assert control.abort("gently")
    assert not control.abort("gently again")
    assert control.abort("now", force=True)
    assert not control.abort("and again", force=True)
    await told(handle, "gently")


async def test_a_paused_agent_ends_at_once(play):
    scene, handle, _ = await begin(play, actor=Actor(turn(tool_call("wait")), answer()))
    await scene.inside.wait()
    loop = loop_of(scene)
    loop.control.pause()
    scene.go.set()
    await until(lambda: loop.status == "paused", "the pause")
    loop.control.abort("enough", force=True)
    await told(handle)


@pytest.mark.parametrize("order", ["cancel first", "abort first"])
@pytest.mark.parametrize("whose", ["work", "inner"])
async def test_a_cancellation_at_the_same_time_cancels_the_run(play, order, whose):
    helper = Hanging()
    scene, handle, _ = await begin(play, actor=Actor(turn(tool_call("inner")), answer()), helper=helper)
    await helper.asked.wait()
    control = loop_of(scene, whose).control
    if order == "cancel first":
        handle.cancel("gone")
        control.abort("enough", force=True)
    else:
        control.abort("enough", force=True)
        handle.cancel("gone")
    result = await asyncio.wait_for(handle.wait(), GENEROUS)
    assert result.status == "cancelled"
    assert helper.gone.is_set()
    assert len(scene.app.loops) == 0


async def test_an_abort_that_comes_with_the_final_answer_decides(play):
    """An abort that was taken is obeyed, even where nothing is left to be aborted."""
    sink = Sink()

    def last(request):
        loop_of(scene).control.abort("no more")
        return answer()

    scene = await play(None, steps=STEPS, actor=Actor(last), inner=Actor(answer()))
    result = await scene.run(sinks=[sink])
    assert result.result == {"type": "aborted", "text": "no more"}
    assert [item["signal"] for item in sink.of("outcome")] == ["aborted"]


async def test_every_pause_has_its_own_full_allowance(play):
    """Four pauses that are together longer than what one may take."""
    actor = Actor(*[turn(tool_call("ping"))] * 4, answer())
    rules = "rules:\n" + "\n".join(f"  - {{ when: iteration_reached, gte: {n}, then: pause }}" for n in (1, 2, 3, 4))
    scene = await play(rules, actor=actor, environ={"TUVL_AGENT_PAUSE_MAX_S": "2"})
    handle = await scene.app.start("w")
    for count in (1, 2, 3, 4):
        await until(lambda count=count: len(actor.requests) == count and loop_of(scene).status == "paused", "a pause")
        await asyncio.sleep(0.6)
        assert loop_of(scene).control.resume()
    assert (await handle.wait()).signal == "resolved"


async def test_a_pause_by_a_rule_that_nobody_ends_becomes_an_abort(play):
    actor, sink = Actor(*[turn(tool_call("ping"))] * 4, answer()), Sink()
    rules = "rules: [{ when: iteration_reached, gte: 2, then: pause }]"
    scene = await play(rules, actor=actor, environ={"TUVL_AGENT_PAUSE_MAX_S": "0.1"})
    assert (await scene.run(sinks=[sink])).signal == "aborted"
    assert len(actor.requests) == 2
