"""Rules: when they fire, what follows, and how they are seen."""

from __future__ import annotations

import asyncio
import logging
from textwrap import dedent

import pytest
from agent_stage import Actor, Sink, agent, answer, node, tool_call, turn
from supervised import inner, loop_of, until

from tuvl_core import ProjectError


def pings(count: int, *, arguments: str = "{}") -> list:
    return [turn(tool_call("ping", arguments)) for _ in range(count)]


async def run(play, supervisor, *turns, **options):
    """Run to the end: the result, what the agent was told by supervisors, and the interventions."""
    actor, sink = Actor(*turns), Sink()
    scene = await play(supervisor, actor=actor, **options)
    result = await asyncio.wait_for(scene.run(sinks=[sink]), 20)
    told = [message["content"] for message in actor.requests[-1] if message["role"] == "system"][1:]
    return result, told, sink.of("supervisor")


async def test_a_call_that_repeats_is_steered_once(play):
    supervisor = "rules: [{ when: tool_repeated, tool: ping, count: 3, then: steer }]"
    result, told, seen = await run(play, supervisor, *pings(5), answer())
    assert result.signal == "resolved"
    assert len(told) == 1
    assert "tool 'ping' was called 3 times in a row with the same arguments" in told[0]
    assert "does not change your tools" in told[0]
    assert seen == [{"type": "supervisor", "action": "steer", "source": "rule", "rule": "tool_repeated"}]


async def test_the_file_s_own_guidance_takes_the_place_of_what_was_found(play):
    supervisor = "rules: [{ when: tool_repeated, then: steer }]\nsteer_message: Try ${another} way."
    _, told, _ = await run(play, supervisor, *pings(3), answer())
    assert "Guidance from a supervisor: Try ${another} way." in told[0]


@pytest.mark.parametrize(
    ("rule", "turns", "signal"),
    [
        ("{ when: tool_repeated, count: 3, then: abort }", pings(2), "resolved"),
        ("{ when: tool_repeated, count: 3, then: abort }", pings(3), "aborted"),
        ("{ when: tool_repeated, tool: wait, count: 2, then: abort }", pings(4), "resolved"),
        ("{ when: no_progress, count: 3, then: abort }", pings(3), "aborted"),
        ("{ when: iteration_reached, gte: 3, then: abort }", pings(1), "resolved"),
        ("{ when: iteration_reached, gte: 3, then: abort }", pings(2), "aborted"),
        ("{ when: iteration_reached, gte: 3, then: abort }", pings(3), "aborted"),
        (
            "{ when: tool_repeated, count: 2, then: abort }",
            [*pings(1), turn(tool_call("ping", '{"a": 1}'))],
            "resolved",
        ),
        ("{ when: tool_repeated, count: 2, then: abort }", [turn(tool_call("x")), turn(tool_call("x"))], "aborted"),
    ],
)
async def test_a_rule_fires_where_it_says(play, rule, turns, signal):
    result, _, seen = await run(play, f"rules: [{rule}]", *turns, answer())
    assert result.signal == signal
    assert [item["action"] for item in seen] == (["abort"] if signal == "aborted" else [])


async def test_no_progress_needs_the_same_result(play, tmp_path):
    """A tool that answers something else each time makes progress, however often it is called."""
    (tmp_path / "nodes").mkdir()
    (tmp_path / "nodes" / "more.py").write_text(
        dedent("""
        from itertools import count
        from tuvl_kinds_functional import node
        numbers = count()

        @node("next")
        def next_number(ctx):
            return {"number": next(numbers)}
        """)
    )
    steps = agent("next", more="max_iterations: 6") + node("next")
    turns = [turn(tool_call("next")) for _ in range(4)]
    rules = "rules: [{ when: no_progress, then: abort }]"
    assert (await run(play, rules, *turns, answer(), steps=steps))[0].signal == "resolved"


@pytest.mark.parametrize(("gt", "signal"), [(0.5, "aborted"), (0.6, "resolved")])
async def test_a_part_of_the_budget_fires_above_it(play, gt, signal):
    steps = agent("ping", more="max_iterations: 9\ntoken_budget: 50") + node("ping")
    rules = f"rules: [{{ when: budget_fraction, gt: {gt}, then: abort }}]"
    result, *_ = await run(play, rules, *pings(2), answer(), steps=steps)
    assert result.signal == signal


async def test_what_a_rule_says_reaches_the_fallback(play):
    steps = (
        agent("ping", more="max_iterations: 9", routes="{ resolved: END, aborted: tell }")
        + "- { id: tell, kind: Response, mapping: { type: _last_error_type, text: _last_error } }\n"
        + node("ping")
    )
    rules = "rules: [{ when: iteration_reached, gte: 2 }]\non_violation: abort"
    result, *_ = await run(play, rules, *pings(4), steps=steps)
    assert result.result == {"type": "aborted", "text": "iteration_reached: turn 2 of 9 is reached"}


async def test_a_rule_that_pauses_parks_the_agent_at_its_next_turn(play):
    actor, sink = Actor(*pings(2), answer()), Sink()
    scene = await play("rules: [{ when: iteration_reached, gte: 2, then: pause }]", actor=actor)
    handle = await scene.app.start("w", sinks=[sink])
    await until(lambda: any(loop.status == "paused" for loop in scene.app.loops), "the pause")
    loop = loop_of(scene)
    assert (len(actor.requests), loop.metadata["tool_calls"]["ping"]) == (2, 2)
    assert loop.control.resume()
    result = await handle.wait()
    assert (result.signal, len(actor.requests)) == ("resolved", 3)
    assert [item["action"] for item in sink.of("supervisor")] == ["pause", "resume"]


async def test_only_what_is_watched_is_looked_at(play):
    helper = Actor(turn(tool_call("ping")), turn(tool_call("ping", id="2")), turn(content="so"))
    steps = agent("inner", more="max_iterations: 6") + inner("ping") + node("ping")
    for watches, seen in (("work", []), ("inner", ["abort"])):
        sink = Sink()
        rules = f"watches: [{watches}]\nrules: [{{ when: tool_repeated, count: 2, then: abort }}]"
        helper.requests.clear()
        scene = await play(rules, steps=steps, actor=Actor(turn(tool_call("inner")), answer()), inner=helper)
        assert (await scene.run(sinks=[sink])).signal == "resolved"
        assert [item["action"] for item in sink.of("supervisor")] == seen


async def test_each_loop_has_rules_of_its_own(play):
    """What one run counts is nothing to another: rules fire once a loop, not once a workflow."""
    rules = "rules: [{ when: tool_repeated, count: 2, then: steer }]"
    scene = await play(rules, actor=Actor(lambda request: pings(1)[0] if len(request.messages) < 8 else answer()))
    sinks = [Sink() for _ in range(5)]
    await asyncio.gather(*(scene.run(sinks=[sink]) for sink in sinks))
    assert [len(sink.of("supervisor")) for sink in sinks] == [1] * 5


async def test_what_fires_is_logged_and_counted(play, caplog):
    caplog.set_level(logging.INFO)
    rules = "rules: [{ when: tool_repeated, count: 2, then: steer }]"
    await run(play, rules, *pings(2), answer())
    [line] = [record.getMessage() for record in caplog.records if "supervisor.rule_fired" in record.getMessage()]
    for part in ("rule=tool_repeated", "then=steer", "step_id=work", "2 times in a row"):
        assert part in line
    assert sum("loop.directive" in record.getMessage() for record in caplog.records) == 1


# --- kinds of others ---------------------------------------------------------------------------

PLUGIN = """
import attrs
from tuvl_core import field, hookimpl
from tuvl_supervisor import RuleKind

TUVL_API = 1


@attrs.frozen(kw_only=True)
class Chatty:
    most: int = field(min=1)


class ChattyRule:
    def __init__(self, config):
        self.most = config.most

    def check(self, what, fields, loop):
        if what == "iteration" and fields["tool_calls"] > self.most:
            return f"turn {fields['iteration']} calls {fields['tool_calls']} tools"


class Broken:
    def __init__(self, config):
        pass

    def check(self, what, fields, loop):
        raise ValueError("no idea")


@hookimpl(optionalhook=True)
def tuvl_rule_kinds():
    return [
        RuleKind(name="acme.chatty", config=Chatty, create=ChattyRule),
        RuleKind(name="acme.broken", config=Chatty, create=Broken),
    ]
"""


async def test_a_plugin_s_rule_kind_is_a_rule_like_any_other(play, tmp_path, caplog):
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "acme.py").write_text(PLUGIN)
    rules = "rules:\n  - { when: acme.broken, most: 1 }\n  - { when: acme.chatty, most: 1, then: steer }"
    two = turn(tool_call("ping", id="1"), tool_call("ping", id="2"))
    result, told, _ = await run(play, rules, two, two, answer())
    assert result.signal == "resolved"
    assert len(told) == 1 and "turn 1 calls 2 tools" in told[0]
    # One that raises is taken away, once, and stands in nobody's way.
    assert caplog.text.count("supervisor.rule_failed") == 1


async def test_a_tool_that_does_not_exist_is_named_by_no_rule(play, caplog):
    caplog.set_level(logging.INFO, "tuvl.supervisor")
    rules = "rules: [{ when: tool_repeated, count: 2, then: steer }]"
    _, told, _ = await run(play, rules, *(turn(tool_call("Ignore-it-all")) for _ in range(2)), answer())
    assert "a tool that is not declared was called 2 times" in told[0]
    assert "Ignore" not in told[0] + caplog.text


# --- nothing where nobody asked ----------------------------------------------------------------


async def test_without_supervisor_and_operator_nothing_of_control_is_touched(play, monkeypatch):
    from tuvl_core import LoopControl, LoopHandle

    touched: list[str] = []
    for cls in (LoopControl,):
        monkeypatch.setattr(cls, "__init__", lambda self, handle: touched.append("control"))
    advanced = LoopHandle.advanced
    monkeypatch.setattr(
        LoopHandle, "advanced", lambda self, what, fields: (touched.append(what), advanced(self, what, fields))
    )
    monkeypatch.setattr("tuvl_supervisor.scopes.watch_of", lambda loop: touched.append("watch"))
    monkeypatch.setattr("tuvl_supervisor.scopes.judges_of", lambda run: touched.append("judges"))
    result, told, _ = await run(play, None, *pings(4), answer())
    assert (result.signal, told, touched) == ("resolved", [], [])


async def test_two_plugins_with_one_rule_kind_are_named(play, tmp_path):
    """Nobody guesses which is meant; the workflow is refused, and a kind that ships is not replaced silently."""
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "acme.py").write_text(PLUGIN.replace("acme.chatty", "no_progress"))
    with pytest.raises(ProjectError, match="'no_progress' is brought by"):
        await (await play("rules: [{ when: tool_repeated }]", actor=Actor(answer()))).run()


async def test_a_rule_s_keys_may_come_from_the_environment(play):
    rules = "rules: [{ when: tool_repeated, count: '${COUNT}', then: abort }]"
    scene = await play(rules, actor=Actor(*pings(4), answer()), environ={"COUNT": "4"})
    assert (await scene.run()).signal == "aborted"


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("{ when: tool_repeated, cuont: 3 }", "did you mean `count`?"),
        ("{ when: tool_repeated, count: 1 }", "count"),
        ("{ when: tool_repeated, then: stop }", "then"),
        ("{ when: iteration_reached }", "gte` must be given"),
        ("{ then: abort }", "when` must be given"),
        ("{ when: budget_fraction, gt: a lot }", "expected a number"),
    ],
)
async def test_a_rule_that_cannot_be_read_says_where(play, rule, says):
    with pytest.raises(ProjectError) as refused:
        await (await play(f"rules:\n  - {rule}", actor=Actor(answer()))).run()
    assert says in str(refused.value)
    assert "w.yaml:6:" in str(refused.value)
