"""The loop: what happens in a turn, in which order, and how it ends."""

from __future__ import annotations

import json
import logging

import pytest
from agent_stage import Actor, Sink, agent, answer, node, offers, tool_call, turn

from tuvl_models import ModelError


async def test_a_run_through_two_tools_to_a_declared_exit(stage):
    actor = Actor(
        turn(tool_call("lookup", '{"order_id": "A-1"}', "a")),
        turn(tool_call("ping", "{}", "b"), content="one more look"),
        answer("escalate", {"refund": 40}),
    )
    scene = await stage(agent("lookup", "ping") + node("lookup") + node("ping"), actor=actor)
    result = await scene.run({"ticket": "broken kettle"})
    assert (result.status, result.signal) == ("completed", "escalate")
    assert result.context == {"ticket": "broken kettle", "work_result": {"refund": 40}}
    assert result.usage == {"tokens": 30, "llm_calls": 3, "llm_attempts": 3, "tool_calls": 2}
    system, user, *rest = actor.requests[-1]
    assert system["role"] == "system"
    assert "Help." in system["content"]
    assert offers(system["content"], "resolved", "escalate")
    assert user == {"role": "user", "content": '{"ticket":"broken kettle"}'}
    assert [message["role"] for message in rest] == ["assistant", "tool", "assistant", "tool"]
    assert rest[2]["content"] == "one more look"
    assert actor.answers() == [{"order": {"id": "A-1", "total": 40}}, {"pong": True}]


async def test_an_empty_context_begins(stage):
    actor = Actor(turn(content="hello"))
    scene = await stage(agent(enum="[]", routes="{}"), actor=actor)
    result = await scene.run({})
    assert (result.status, result.signal) == ("completed", "default")
    assert actor.requests[0][1]["content"] == "Begin."
    assert result.context == {"work_result": "hello"}
    assert "Final answer" not in actor.requests[0][0]["content"]


async def test_the_output_key_can_be_named(stage):
    actor = Actor(answer(result=7))
    text = agent().replace("enum: [resolved, escalate]", "enum: [resolved], output_key: found")
    scene = await stage(text, actor=actor)
    assert (await scene.run()).context == {"found": 7}


# --- the answer ---------------------------------------------------------------------


async def test_a1_the_whole_result_survives_its_fences(stage):
    text = "Do:\n```python\nx = 1\n```\nIt opens with ```json in a sentence."
    for content in (
        "```json\n" + json.dumps({"outcome": "resolved", "result": text}) + "\n```",
        json.dumps({"outcome": "resolved", "result": text}),
    ):
        scene = await stage(agent(), actor=Actor(turn(content=content)))
        result = await scene.run()
        assert result.signal == "resolved"
        assert result.context["work_result"] == text


@pytest.mark.parametrize(
    "content",
    [
        '{"outcome": "Resolved ", "result": 1}',
        '{"outcome": ["resolved"], "result": 1}',
        '{"outcome": null, "result": 1}',
        '{"outcome": "aborted", "result": 1}',
        "[1]",
        "",
        None,
        "I am done.",
        '{"outcome": "resolved"} {"outcome": "escalate"}',
    ],
)
async def test_a2_anything_but_a_declared_exit_is_an_error(stage, content):
    scene = await stage(agent(), actor=Actor(turn(content=content)))
    result = await scene.run({"work_result": "before"})
    assert (result.status, result.signal) == ("completed", "error")
    assert result.context == {"work_result": "before"}
    follow = await stage(
        agent(routes="{ error: tell }")
        + "- { id: tell, kind: Response, mapping: { type: _last_error_type, text: _last_error } }\n",
        actor=Actor(turn(content=content)),
    )
    told = (await follow.run()).result
    assert told["type"] == "invalid_outcome"
    assert told["text"]


async def test_k1_outcomes_are_their_source_text(stage):
    actor = Actor(answer("no", 1))
    steps = agent(enum="[yes, no, 1.10, true]", routes="{ yes: END, no: END, 1.10: END, true: END }")
    scene = await stage(steps, actor=actor)
    assert (await scene.run()).signal == "no"
    assert offers(actor.requests[0][0]["content"], "yes", "no", "1.10", "true")


# --- what a response is -------------------------------------------------------------


@pytest.mark.parametrize("content", ['{"outcome":"resolved","result":"x"}', "", None])
async def test_a3_a_response_with_calls_is_no_answer(stage, content):
    actor = Actor(turn(tool_call("ping"), content=content), answer("escalate"))
    scene = await stage(agent("ping") + node("ping"), actor=actor)
    result = await scene.run()
    assert result.signal == "escalate"
    assert result.usage["tool_calls"] == 1
    assert (actor.requests[-1][2]["content"] or "") == (content or "")


async def test_a4_after_a_cut_response_no_call_runs(stage):
    cut = turn(
        tool_call("note", '{"text": "one"}', "a"),
        tool_call("note", '{"text": "two', "b"),
        reason="length",
    )
    actor = Actor(cut, answer())
    scene = await stage(agent("{ ref: note, writes_context: true }") + node("note"), actor=actor)
    result = await scene.run()
    assert (result.signal, result.usage["tool_calls"]) == ("resolved", 2)
    assert "notes" not in result.context
    assert [item["type"] for item in actor.answers()] == ["truncated", "truncated"]
    assert all("again" in item["error"] for item in actor.answers())


async def test_a4_a_cut_response_counts_as_a_turn(stage):
    cut = turn(tool_call("ping"), reason="length")
    actor = Actor(cut)
    scene = await stage(agent("ping", more="max_iterations: 3") + node("ping"), actor=actor)
    assert (await scene.run()).signal == "max_iterations"
    assert len(actor.requests) == 3


@pytest.mark.parametrize("enum", ["[]", "[resolved]"])
@pytest.mark.parametrize(
    ("reply", "type"),
    [
        (turn(reason="content_filter"), "content_filter"),
        (turn(tool_call("ping"), reason="content_filter"), "content_filter"),
        (turn(content="a text", reason="content_filter"), "content_filter"),
        (turn(content='{"outcome":"resol', reason="length"), "truncated"),
        (turn(content='{"outcome":"resolved","result":1}', reason="length"), "truncated"),
        (turn(reason="length"), "truncated"),
    ],
)
async def test_a4_a_blocked_or_cut_answer_ends_on_error(stage, enum, reply, type):
    actor = Actor(reply)
    scene = await stage(agent("ping", enum=enum) + node("ping"), actor=actor)
    sink = Sink()
    result = await scene.run(sinks=[sink])
    assert (result.signal, len(actor.requests)) == ("error", 1)
    assert result.usage["tool_calls"] == 0
    assert sink.of("outcome") == [{"type": "outcome", "iteration": 1, "signal": "error"}]
    assert await last_error_type(stage, reply, enum) == type


async def last_error_type(stage, *turns, enum="[resolved, escalate]", tools="", more=""):
    """What `_last_error_type` a run leaves."""
    if len(turns) == 2 and isinstance(turns[1], str):
        turns, enum = turns[:1], turns[1]
    told = "- { id: tell, kind: Response, mapping: { type: _last_error_type, text: _last_error } }\n"
    routes = "{ error: tell, aborted: tell, max_iterations: tell, budget_exceeded: tell }"
    steps = agent("ping", enum=enum, more=more, routes=routes) + told + node("ping")
    scene = await stage(steps, actor=Actor(*turns))
    return (await scene.run()).result["type"]


@pytest.mark.parametrize(
    ("error", "type"),
    [
        (ModelError("connection refused", type="llm_error", retryable=True), "llm_error"),
        (ModelError("too slow", type="llm_timeout", retryable=True), "llm_timeout"),
        (ModelError("blocked", type="content_filter", retryable=False), "content_filter"),
        (RuntimeError("a bug of the model's package"), "llm_error"),
    ],
)
async def test_a_model_call_that_fails_ends_on_error(stage, error, type):
    assert await last_error_type(stage, error) == type
    scene = await stage(agent(), actor=Actor(error))
    result = await scene.run()
    assert (result.status, result.signal) == ("completed", "error")
    assert result.usage["llm_calls"] == 1


async def test_the_error_text_holds_no_key_and_is_bounded(stage):
    error = ModelError("key sk-abcdefghijklmnopqrstuvwx " + "y" * 50_000, type="llm_error")
    told = "- { id: tell, kind: Response, mapping: { text: _last_error } }\n"
    scene = await stage(agent(routes="{ error: tell }") + told, actor=Actor(error))
    text = (await scene.run()).result["text"]
    assert "sk-abc" not in text
    assert len(text) < 2100


async def test_a_model_that_gives_no_reply_is_an_error(stage):
    assert await last_error_type(stage, lambda request: {"content": "x"}) == "llm_error"


# --- tokens ------------------------------------------------------------------------------


async def test_a5_the_budget_binds_without_usage(stage, caplog):
    reply = turn(tool_call("ping"), content="word " * 320, tokens=None)
    actor = Actor(reply)
    steps = agent("ping", more="token_budget: 500\nmax_iterations: 50") + node("ping")
    scene = await stage(steps, actor=actor)
    result = await scene.run()
    assert result.signal == "budget_exceeded"
    assert 1 <= len(actor.requests) <= 3
    warned = [r for r in caplog.records if "usage_estimated" in r.getMessage()]
    assert len(warned) == 1


@pytest.mark.parametrize(("budget", "calls"), [(9, 1), (10, 1), (11, 2), (20, 2), (21, 3)])
async def test_a5_reaching_the_budget_is_exceeding_it(stage, budget, calls):
    actor = Actor(turn(tool_call("ping")))
    scene = await stage(agent("ping", more=f"token_budget: {budget}") + node("ping"), actor=actor)
    result = await scene.run()
    assert (result.signal, len(actor.requests)) == ("budget_exceeded", calls)
    assert result.usage["tokens"] == 10 * calls


async def test_a5_the_budget_does_not_undo_an_answer(stage):
    scene = await stage(agent(more="token_budget: 5"), actor=Actor(answer()))
    assert (await scene.run()).signal == "resolved"


async def test_attempts_of_a_call_are_counted(stage):
    scene = await stage(agent(), actor=Actor(answer(attempts=3)))
    assert (await scene.run()).usage["llm_attempts"] == 3


async def test_the_runs_own_token_budget_fails_the_run(stage):
    head = "  limits: { token_budget: 20 }\n"
    steps = agent("{ ref: note, writes_context: true }", more="max_iterations: 9") + node("note")
    scene = await stage(steps, head=head, actor=Actor(turn(tool_call("note", '{"text": "x"}'))))
    result = await scene.run()
    assert (result.status, result.error.type) == ("failed", "RunLimitError")
    assert result.context["notes"] == ["x", "x"]


# --- iterations and repetition -----------------------------------------------------------


async def test_a6_turns_are_bounded_and_repetition_shows(stage):
    calls = [turn(tool_call("peek", text)) for text in ('{"q": "x", "n": 1}', '{"n": 1, "q": "x"}') * 3]
    actor = Actor(*calls)
    sink = Sink()
    scene = await stage(agent("peek", more="max_iterations: 6") + node("peek"), actor=actor)
    result = await scene.run(sinks=[sink])
    assert (result.signal, len(actor.requests)) == ("max_iterations", 6)
    assert [item.get("repeats", 1) for item in sink.of("tool_call")] == [1, 2, 3, 4, 5, 6]


async def test_a6_what_the_last_turn_did_is_kept(stage):
    steps = agent("{ ref: note, writes_context: true }", more="max_iterations: 1") + node("note")
    scene = await stage(steps, actor=Actor(turn(tool_call("note", '{"text": "kept"}'))))
    result = await scene.run()
    assert (result.signal, result.context) == ("max_iterations", {"notes": ["kept"]})
    assert await last_error_type(stage, turn(tool_call("ping")), more="max_iterations: 1") == ("max_iterations")


async def test_other_calls_begin_the_count_anew(stage):
    actor = Actor(
        turn(tool_call("ping", id="1"), tool_call("ping", id="2"), tool_call("peek", id="3")),
        turn(tool_call("ping", id="4")),
        answer(),
    )
    sink = Sink()
    scene = await stage(agent("ping", "peek") + node("ping") + node("peek"), actor=actor)
    await scene.run(sinks=[sink])
    assert [item.get("repeats", 1) for item in sink.of("tool_call")] == [1, 2, 1, 1]


@pytest.mark.parametrize(
    ("one", "two", "repeats"),
    [
        ('{"a": 1, "b": [true]}', '{"b": [true], "a": 1}', [1, 2]),
        ('{"n": 1}', '{"n": true}', [1, 1]),
        ('{"n": {"x": [0]}}', '{"n": {"x": [false]}}', [1, 1]),
        ('{"n": 1}', '{"n": 1.0}', [1, 2]),
        ('{"n": 1}', '{"n": 2}', [1, 1]),
    ],
)
async def test_a_call_repeats_another_where_their_arguments_are_one_in_json(stage, one, two, repeats):
    actor = Actor(turn(tool_call("peek", one, "1")), turn(tool_call("peek", two, "2")), answer())
    sink = Sink()
    scene = await stage(agent("peek") + node("peek"), actor=actor)
    await scene.run(sinks=[sink])
    assert [item.get("repeats", 1) for item in sink.of("tool_call")] == repeats


STRICT = "{ ref: peek, parameters: { properties: { n: { type: integer } }, additionalProperties: false } }"


@pytest.mark.native_only
@pytest.mark.parametrize(
    ("one", "two", "repeats"),
    [
        ('{"x": 1}', '{"x": 2}', [1, 1]),
        ('{"x": 1, "y": 2}', '{"y": 2, "x": 1}', [1, 2]),
        ('{"n": ', '{"n":  ', [1, 1]),
        ('{"n": ', '{"n": ', [1, 2]),
        ('{"n": NaN}', '{"n": NaN}', [1, 2]),
        ('{"a":' * 5000, '{"a":' * 5000, [1, 2]),
        ({"x": 1}, '{"x": 1}', [1, 2]),
    ],
)
@pytest.mark.parametrize("name", ["peek", "invented"])
async def test_refused_calls_are_told_apart_by_their_arguments_too(stage, one, two, repeats, name):
    actor = Actor(turn(tool_call(name, one, "1"), tool_call(name, two, "2")), answer())
    sink = Sink()
    scene = await stage(agent(STRICT) + node("peek"), actor=actor)
    result = await scene.run(sinks=[sink])
    assert [item.get("repeats", 1) for item in sink.of("tool_call")] == repeats
    assert result.usage["tool_calls"] == len(sink.of("tool_call")) == 2


async def test_calls_that_change_nothing_are_counted(stage):
    """`repeats` counts the call, `unchanged` the call with what it came to."""
    count = iter(range(100))

    async def gate(id: str) -> None:
        if next(count) == 2:
            raise ValueError("for once")

    actor = Actor(turn(*(tool_call("wait", "{}", str(number)) for number in range(5))), answer())
    sink = Sink()
    scene = await stage(agent("wait") + node("wait"), actor=actor)
    scene.app.resources["gate"] = gate
    await scene.run(sinks=[sink])
    told = sink.of("tool_call")
    assert [item.get("repeats", 1) for item in told] == [1, 2, 3, 4, 5]
    assert [item.get("unchanged", 1) for item in told] == [1, 2, 1, 1, 2]
    assert "unchanged" not in told[0]


async def test_an_agent_without_tools_makes_no_tool_calls(stage):
    actor = Actor(turn(tool_call("ping")), answer())
    scene = await stage(agent(more="max_iterations: 3"), actor=actor)
    assert (await scene.run()).usage["tool_calls"] == 0


# --- progress ---------------------------------------------------------------------------------


async def test_progress_has_the_fields_of_the_contract(stage):
    actor = Actor(turn(tool_call("ping"), tool_call("boom")), answer())
    sink = Sink()
    scene = await stage(agent("ping", "boom") + node("ping") + node("boom"), actor=actor)
    await scene.run(sinks=[sink])
    assert sink.progress == [
        {"type": "iteration", "iteration": 1, "tool_calls": 2, "tokens_used": 10},
        {"type": "tool_call", "iteration": 1, "tool": "ping", "signal": "default"},
        {"type": "tool_call", "iteration": 1, "tool": "boom", "signal": "error"},
        {"type": "iteration", "iteration": 2, "tool_calls": 0, "tokens_used": 20},
        {"type": "outcome", "iteration": 2, "signal": "resolved"},
    ]


async def test_broken_progress_does_not_break_the_loop(stage, monkeypatch):
    from tuvl_core.engine.call import Call

    def broken(*args: object) -> None:
        raise OSError("pipe")

    monkeypatch.setattr(Call, "progress", broken)
    scene = await stage(agent("ping") + node("ping"), actor=Actor(turn(tool_call("ping")), answer()))
    assert (await scene.run(sinks=[Sink()])).signal == "resolved"


async def test_log_lines_have_the_names_of_the_contract(stage, caplog):
    caplog.set_level(logging.INFO)
    scene = await stage(agent("ping", more="max_iterations: 1") + node("ping"), actor=Actor(turn(tool_call("ping"))))
    await scene.run()
    lines = [r.getMessage() for r in caplog.records if "autonomous_agent." in r.getMessage()]
    assert [line.split(" ")[0] for line in lines] == [
        "autonomous_agent.turn",
        "autonomous_agent.tool_call",
        "autonomous_agent.max_iterations",
    ]
    assert all("step_id=work" in line and "iteration=1" in line for line in lines)


class Watcher(Sink):
    """Looks at the loop while it is told of its events, as somebody in the same process can."""

    def __init__(self, app):
        super().__init__()
        self.app = app
        self.failures = []

    def emit(self, event):
        super().emit(event)
        self.failures += [(self.progress[-1].get("tool"), loop.failure) for loop in self.app.loops if event.snapshot]


async def test_why_a_tool_failed_shows_in_the_log_and_to_who_watches(stage, caplog):
    caplog.set_level(logging.DEBUG)
    size = json.dumps({"size": 900})
    actor = Actor(turn(tool_call("boom", size), tool_call("ping"), tool_call("pong\x1b")), answer())
    scene = await stage(agent("ping", "boom") + node("ping") + node("boom"), actor=actor)
    sink = Watcher(scene.app)
    await scene.run(sinks=[sink])
    told = dict(sink.failures)
    assert told["boom"].startswith("ValueError: no such thing: xxx")
    assert len(told["boom"]) < 320
    assert told["ping"] is None
    assert "there is no tool" in next(text for tool, text in sink.failures if tool not in ("ping", "boom", None))
    lines = [r.getMessage() for r in caplog.records if r.getMessage().startswith("autonomous_agent.tool_failed")]
    assert [r.levelname for r in caplog.records if r.getMessage() in lines] == ["DEBUG", "DEBUG"]
    assert "tool=boom" in lines[0]
    assert "error=ValueError: no such thing: x" in lines[0]
    assert all("error" not in item for item in sink.progress)
