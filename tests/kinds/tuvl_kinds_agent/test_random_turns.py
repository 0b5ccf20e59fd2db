"""Whatever a model does, the loop ends in exactly one signal of the closed set."""

from __future__ import annotations

import asyncio
import json
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from agent_stage import Actor, Sink, agent, node, open_app, write_project
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tuvl_models import ChatReply, ChatRequest, ModelError, ToolCall, Usage

EXITS = {"resolved", "escalate", "max_iterations", "budget_exceeded", "error", "aborted"}

anything = st.text(st.characters(), max_size=20)
names = st.sampled_from(["ping", "note", "boom", "peek", "work", "", None]) | anything
objects = st.dictionaries(st.sampled_from(["text", "n", "_x", "tenant_id"]), st.text(max_size=3) | st.none())
arguments = (
    st.none()
    | anything
    | objects.map(json.dumps)
    | objects
    | st.sampled_from(["[1]", "null", "{", '{"text": NaN}', '{"a":' * 3000, '"\\ud800"'])
)
calls = st.builds(
    ToolCall,
    id=st.sampled_from(["a", "b", "call_1_1", "call_2_1", "", None]) | anything,
    name=names,
    arguments=arguments,
)
contents = (
    st.none()
    | anything
    | st.sampled_from(
        [
            '{"outcome": "resolved", "result": 1}',
            '{"outcome": "aborted"}',
            '```json\n{"outcome": "escalate", "result": "```"}\n```',
            '{"outcome": "resol',
            "[1]",
        ]
    )
)
usages = st.none() | st.builds(
    Usage,
    prompt_tokens=st.integers(-5, 50),
    completion_tokens=st.integers(-5, 50),
    total_tokens=st.integers(-5, 200),
)
replies = st.builds(
    ChatReply,
    content=contents,
    tool_calls=st.lists(calls, max_size=3).map(tuple),
    finish_reason=st.sampled_from(["stop", "tool_calls", "length", "content_filter", None, "odd"]),
    usage=usages,
    model=st.just("test/actor"),
    attempts=st.integers(0, 3),
)
failures = st.sampled_from(
    [ModelError("down", type="llm_error"), ModelError("slow", type="llm_timeout"), KeyError("bug"), None]
).map(lambda error: (lambda request: error) if error is None else error)
turns = st.lists(replies | replies | replies | failures, min_size=1, max_size=5)


@pytest.fixture(scope="module")
def project() -> Any:
    """A project that every example plays in."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        steps = agent("ping", "{ ref: note, writes_context: true }", "boom", "peek",
                      more="max_iterations: 4\ntoken_budget: 300")  # fmt: skip
        for name in ("ping", "note", "boom", "peek"):
            steps += node(name)
        write_project(root, steps)
        yield root


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(turns)
def test_any_turns_end_in_one_exit_of_the_closed_set(project: Path, turns: list[Any]) -> None:
    actor = Actor(*turns)  # it refuses a history that is not well formed
    sink = Sink()

    async def play() -> Any:
        async with open_app(project, {}, actor=actor) as app:
            return await app.run("w", {"text": "t"}, sinks=[sink])

    result = asyncio.run(play())
    assert result.status == "completed", result.error
    assert result.signal in EXITS
    assert [item["signal"] for item in sink.of("outcome")] == [result.signal]
    assert len(actor.requests) <= 4
    assert result.usage["llm_calls"] == len(actor.requests)
    assert ("work_result" in result.context) == (result.signal in ("resolved", "escalate"))
    assert set(result.context) <= {"text", "notes", "work_result"}
    json.dumps(result.to_dict(), allow_nan=False)


class Talker:
    """A model that is offered a schema and says whatever it says; it insists that turns alternate."""

    tool_calling = "schema"

    def __init__(self, said: list[str], reasons: list[str | None]) -> None:
        self.said, self.reasons = said, reasons
        self.asked = 0
        self.histories: list[list[dict[str, Any]]] = []

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.histories.append([dict(message) for message in request.messages])
        number = self.asked
        self.asked += 1
        text = self.said[min(number, len(self.said) - 1)]
        return ChatReply(content=text, finish_reason=self.reasons[number % len(self.reasons)])


written = st.one_of(
    st.builds(
        lambda name, given: f'{{"name": {json.dumps(name)}, "arguments": {given}}}',
        names,
        objects.map(json.dumps) | st.sampled_from(["{", "[1]", '{"text": }', "null", '"x"', '{"a":' * 300]),
    ),
    st.sampled_from(
        ['{"outcome": "resolved", "result": 1}', '{"outcome": "resol', '{"name": "ping"}', "<think>", "```"]
    ),
    anything,
)
texts = st.lists(st.lists(written, max_size=4).map("\n".join), min_size=1, max_size=5)
reasons = st.lists(st.sampled_from(["stop", "stop", "length", "content_filter", None]), min_size=1, max_size=4)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(texts, reasons)
def test_any_text_of_a_model_by_schema_ends_in_one_exit_too(
    project: Path, texts: list[str], reasons: list[str | None]
) -> None:
    talker = Talker(texts, reasons)

    async def play() -> Any:
        async with open_app(project, {}, actor=talker) as app:
            return await app.run("w", {"text": "t"})

    result = asyncio.run(play())
    assert result.status == "completed", result.error
    assert result.signal in EXITS
    for history in talker.histories:
        roles = [message["role"] for message in history]
        assert roles[0] == "system"
        assert all(one != two for one, two in pairwise(roles))
        assert set(roles) <= {"system", "user", "assistant"}
        json.dumps(history, ensure_ascii=False).encode()
    assert talker.asked == result.usage["llm_calls"] <= 4
    assert ("work_result" in result.context) == (result.signal in ("resolved", "escalate"))
    json.dumps(result.to_dict(), allow_nan=False)
