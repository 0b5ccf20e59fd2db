"""The kind Agent: one completion."""

from __future__ import annotations

import json
import time

import pytest
from agent_stage import Actor, open_app, turn, write_project

from tuvl_core import Secret, check_project
from tuvl_models import ModelError

ROUTES = "{ default: END, error: END, parse_error: END, timeout: END }"


def single(more: str = "", routes: str = ROUTES, prompt: str = "prompt: 'Sum up {{ ticket }}'") -> str:
    """YAML of one Agent step."""
    lines = "".join(f"    {line}\n" for line in [prompt, *more.splitlines()] if line)
    return f"- id: sum\n  kind: Agent\n  agent:\n    model: actor\n{lines}  routes: {routes}\n"


async def test_text_goes_to_its_key(stage):
    actor = Actor(turn(content="<think>hm</think>a kettle"))
    scene = await stage(single("system: Be brief, {{ name }}."), actor=actor)
    result = await scene.run({"ticket": "broken kettle", "name": "Ada"})
    assert (result.signal, result.context["sum_result"]) == ("default", "a kettle")
    assert actor.requests == [
        [
            {"role": "system", "content": "Be brief, Ada."},
            {"role": "user", "content": "Sum up broken kettle"},
        ]
    ]
    assert result.usage == {"tokens": 10, "llm_calls": 1, "llm_attempts": 1, "tool_calls": 0}


async def test_injected_keys_are_sent_as_json(stage):
    actor = Actor(turn(content="x"))
    scene = await stage(single("context_injection: [order, card]"), actor=actor)
    await scene.run({"ticket": "t", "order": {"id": 1}, "card": Secret("4111")})
    text = actor.requests[0][0]["content"]
    assert text == 'Sum up t\n\n{"order":{"id":1},"card":"***"}'


async def test_secrets_in_a_prompt_are_masked_where_they_stand(stage):
    actor = Actor(turn(content="x"))
    scene = await stage(single(), actor=actor)
    await scene.run({"ticket": Secret("s3cr3t")})
    assert actor.requests[0][0]["content"] == "Sum up ***"


@pytest.mark.parametrize("steps", [single(), single("context_injection: [ticket]", prompt="")])
async def test_a_missing_name_is_an_error_and_nobody_is_asked(stage, steps):
    actor = Actor(turn(content="x"))
    scene = await stage(steps, actor=actor)
    result = await scene.run({})
    assert (result.signal, actor.requests) == ("error", [])


JSON = "output: { format: json }"


@pytest.mark.parametrize("frame", ["{}", "```json\n{}\n```", "Here: {} ok"])
async def test_json_fields_merge_into_the_context(stage, frame):
    fields = {"kind": "refund", "n": 2, "_private": 1, "tenant_id": "other"}
    actor = Actor(turn(content=frame.replace("{}", json.dumps(fields))))
    scene = await stage(single(JSON), actor=actor)
    result = await scene.run({"ticket": "t"})
    assert result.context == {"ticket": "t", "kind": "refund", "n": 2}
    assert "JSON" in actor.requests[0][0]["content"]


async def test_a_map_takes_what_it_names(stage):
    actor = Actor(turn(content='{"kind": "refund", "n": 2, "more": 3}'))
    scene = await stage(single("output: { format: json, map: { kind: topic } }"), actor=actor)
    assert (await scene.run({"ticket": "t"})).context == {"ticket": "t", "topic": "refund"}


@pytest.mark.parametrize(
    ("value", "signal"),
    [('"pay"', "pay"), ('" pay "', "pay"), ("true", "true"), ('"other"', "default"), ("[1]", "default")],
)
async def test_the_signal_comes_from_a_field_where_it_is_routed(stage, value, signal):
    routes = ROUTES.replace("{ ", "{ pay: END, true: END, ")
    actor = Actor(turn(content=f'{{"decision": {value}}}'))
    steps = single("output: { format: json, signal_from: decision }", routes)
    scene = await stage(steps, actor=actor)
    assert (await scene.run({"ticket": "t"})).signal == signal


@pytest.mark.parametrize("content", ["", None, "no json", "[1]", '{"a": 1', '{"a": 1} {"a": 2}', '{"b": 1}'])
async def test_what_cannot_be_parsed_leaves_by_parse_error(stage, content):
    steps = single("output: { format: json, map: { a: x } }", "{ parse_error: tell }")
    told = "- { id: tell, kind: Response, mapping: { type: _last_error_type, text: _last_error } }\n"
    scene = await stage(steps + told, actor=Actor(turn(content=content)))
    result = await scene.run({"ticket": "t"})
    assert result.result["type"] == "parse_error"
    assert "x" not in result.context


@pytest.mark.parametrize(
    ("reply", "signal", "type"),
    [
        (ModelError("slow", type="llm_timeout"), "timeout", "timeout"),
        (ModelError("down", type="llm_error"), "error", "llm_error"),
        (ModelError("no", type="content_filter"), "error", "content_filter"),
        (RuntimeError("bug"), "error", "llm_error"),
        (turn(content="x", reason="content_filter"), "error", "content_filter"),
        (turn(content="x", reason="length"), "error", "truncated"),
    ],
)
async def test_failures_have_their_own_exits(stage, reply, signal, type):
    told = "- { id: tell, kind: Response, mapping: { type: _last_error_type } }\n"
    scene = await stage(single(routes=f"{{ {signal}: tell }}") + told, actor=Actor(reply))
    result = await scene.run({"ticket": "t"})
    assert result.path[0].signal == signal
    assert result.result == {"type": type}


async def test_retries_are_attempts_of_one_call(stage):
    bad, slow, good = turn(content="no"), ModelError("slow", type="llm_timeout"), turn(content='{"a": 1}')
    actor = Actor(bad, slow, good)
    more = f"{JSON}\nretry: {{ attempts: 3, backoff: 0.02 }}"
    scene = await stage(single(more), actor=actor)
    began = time.monotonic()
    result = await scene.run({"ticket": "t"})
    assert time.monotonic() - began >= 0.06
    assert result.context["a"] == 1
    assert result.usage == {"tokens": 20, "llm_calls": 1, "llm_attempts": 3, "tool_calls": 0}


@pytest.mark.parametrize(
    ("retry", "reply", "asked"),
    [
        ("{ attempts: 2, on: [timeout], backoff: 0 }", turn(content="no"), 1),
        ("{ attempts: 2, on: [parse_error], backoff: 0 }", ModelError("s", type="llm_timeout"), 1),
        ("{ attempts: 2, backoff: 0 }", turn(content="no"), 2),
        ("{ attempts: 2, backoff: 0 }", ModelError("down", type="llm_error"), 1),
    ],
)
async def test_only_what_is_named_is_tried_again(stage, retry, reply, asked):
    actor = Actor(reply)
    scene = await stage(single(f"{JSON}\nretry: {retry}"), actor=actor)
    await scene.run({"ticket": "t"})
    assert len(actor.requests) == asked


def codes(root, steps):
    write_project(root, steps)
    found = check_project(open_app(root, {}).project)
    return {item.code for item in found if item.code.startswith("TUVL-A")}


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (single(), set()),
        (single(JSON), set()),
        (single().replace("    model: actor\n", ""), {"TUVL-A001"}),
        (single().replace("model: actor", "model: none"), {"TUVL-A002"}),
        (single(routes="{ error: END }"), {"TUVL-A020"}),
        (single(JSON, "{ timeout: END }"), {"TUVL-A020"}),
        (single(prompt="timeout: 3"), {"TUVL-A021"}),
        (single("output: { signal_from: x }"), {"TUVL-A022"}),
        (single("output: { map: { a: b } }"), {"TUVL-A022"}),
        (single("retry: { on: [sunset] }"), {"TUVL-A023"}),
        (single("output: { format: json, map: { a: _b } }"), {"TUVL-A024"}),
    ],
)
def test_each_finding(tmp_path, steps, expected):
    assert codes(tmp_path, steps) == expected
