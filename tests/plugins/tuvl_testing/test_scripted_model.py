"""The scripted model, in YAML and in Python; many runs at once; bad scripts."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tuvl_core import RunResult
from tuvl_models import ChatRequest, ModelError
from tuvl_testing import HistoryError, ProjectBuilder, ScriptedModel, answer, call, check_history, fails, turn

NODES = """
from tuvl_kinds_functional import node


@node("lookup")
async def lookup(ctx):
    return {"order": {"id": ctx["order_id"], "lines": []}}
"""
AGENT: dict[str, Any] = {
    "id": "work",
    "kind": "AutonomousAgent",
    "agent": {
        "model": "scripted/desk",
        "steering": "Work.",
        "tools": [{"ref": "lookup", "writes_context": True}],
        "outcome": {"enum": ["resolved", "escalate"]},
    },
    "routes": dict.fromkeys(["resolved", "escalate", "max_iterations", "budget_exceeded", "error", "aborted"], "END"),
}
LOOKUP = {"id": "lookup", "description": "Look up an order.", "runner": "lookup"}
SCRIPT = """
kind: ScriptedModel
metadata: { name: desk }
spec:
  turns:
    - calls: [{ name: lookup, arguments: { order_id: { $context: ticket.order_id } } }]
      content: let me see
      usage: { prompt_tokens: 80, completion_tokens: 20 }
    - answer: { outcome: resolved, result: { found: { $result: order.id } } }
      no_usage: true
"""


def desk(project: ProjectBuilder, script: str | None = SCRIPT, **spec: Any) -> None:
    project.write("nodes/n.py", NODES)
    project.workflow("desk", AGENT, LOOKUP, output="work_result", **spec)
    if script is not None:
        project.write("llms/script.yaml", script)


async def run(project: ProjectBuilder, order_id: str = "A-1") -> RunResult:
    return await project.run("desk", {"ticket": {"order_id": order_id}})


async def test_a_script_in_yaml(tuvl_project: ProjectBuilder) -> None:
    desk(tuvl_project)
    assert [item for item in tuvl_project.check() if item.severity == "error"] == []
    result = await run(tuvl_project)
    assert (result.status, result.signal) == ("completed", "resolved")
    assert result.result == {"found": "A-1"}
    assert result.usage["tool_calls"] == 1
    assert result.usage["tokens"] > 100


@pytest.mark.parametrize(
    ("turns", "error_type", "said"),
    [
        ("[{ error: no luck }]", "llm_error", "no luck"),
        ("[{ error: late, type: llm_timeout }]", "llm_timeout", "late"),
        ("[{ content: x, finish_reason: content_filter }]", "content_filter", "filter"),
        ("[{ content: 'no JSON' }]", "invalid_outcome", "JSON"),
        ("[{ calls: [{ name: lookup, arguments: { order_id: A } }] }]", "llm_error", "has 1 turns, and turn 2"),
        ("[{ calls: [{ name: lookup, arguments: { order_id: { $context: nothing } } }] }]", "llm_error", "nothing"),
    ],
)
async def test_scripts_that_go_wrong(tuvl_project: ProjectBuilder, turns: str, error_type: str, said: str) -> None:
    desk(tuvl_project, f"kind: ScriptedModel\nmetadata: {{ name: desk }}\nspec: {{ turns: {turns} }}\n")
    app = await tuvl_project.app()
    handle = await app.start("desk", {"ticket": {"order_id": "A-1"}})
    result = await handle.wait()
    assert (result.status, result.signal) == ("completed", "error")
    assert handle.run.context["_last_error_type"] == error_type
    assert said in handle.run.context["_last_error"]


async def test_a_script_that_is_missing_names_those_there_are(tuvl_project: ProjectBuilder) -> None:
    desk(tuvl_project, SCRIPT.replace("name: desk", "name: other"))
    app = await tuvl_project.app()
    handle = await app.start("desk", {"ticket": {}})
    await handle.wait()
    assert "it has: other" in handle.run.context["_last_error"]


@pytest.mark.parametrize(("then", "signal"), [("last", "max_iterations"), ("cycle", "max_iterations")])
async def test_what_follows_the_last_turn(tuvl_project: ProjectBuilder, then: str, signal: str) -> None:
    script = SCRIPT.split("    - answer")[0] + f"  then: {then}\n"
    desk(tuvl_project, script)
    assert (await run(tuvl_project)).signal == signal


async def test_a_script_in_python(tuvl_project: ProjectBuilder) -> None:
    desk(tuvl_project, None)
    model = tuvl_project.model(
        fails("later", retryable=True),
        lambda request: [call("lookup", order_id="A-7"), call("lookup", order_id="A-8")],
        answer("escalate", "both seen", delay=0.001),
        name="py",
    )
    result = await run(tuvl_project)
    assert result.signal == "error"  # a failing turn stays the turn: the history did not grow
    model = tuvl_project.model(
        lambda request: [call("lookup", order_id="A-7"), call("lookup", order_id="A-8")],
        answer("escalate", "both seen"),
    )
    await tuvl_project.close()
    result = await run(tuvl_project)
    assert (result.signal, result.result) == ("escalate", "both seen")
    assert [json.loads(m["content"])["order"]["id"] for m in model.requests[1].messages if m["role"] == "tool"] == [
        "A-7",
        "A-8",
    ]


async def test_it_names_itself() -> None:
    reply = await ScriptedModel("hello", name="x").complete(ChatRequest(messages=[]))
    assert reply.model == "scripted/x"
    with pytest.raises(ModelError):
        await ScriptedModel().complete(ChatRequest(messages=[]))
    with pytest.raises(TypeError, match="no turn of a script"):
        await ScriptedModel(5).complete(ChatRequest(messages=[]))
    assert turn(content="a").reply is not None


CALL = {"id": "1", "type": "function", "function": {"name": "t", "arguments": "{}"}}
ASKED = {"role": "assistant", "content": None, "tool_calls": [CALL]}


@pytest.mark.parametrize(
    "messages",
    [
        [ASKED],
        [ASKED, {"role": "user", "content": "x"}],
        [ASKED, {"role": "tool", "tool_call_id": "2", "content": "{}"}],
        [{"role": "tool", "tool_call_id": "1", "content": "{}"}],
        [{**ASKED, "tool_calls": [CALL, CALL]}],
        [ASKED, {"role": "tool", "tool_call_id": "1", "content": "{" + " " * 9000 + "}"}],
        [ASKED, {"role": "tool", "tool_call_id": "1", "content": "NaN"}],
        [{**ASKED, "tool_calls": [{**CALL, "function": {"name": "a b", "arguments": "{}"}}]}],
        [{**ASKED, "tool_calls": [{**CALL, "function": {"name": "t", "arguments": "[]"}}]}],
        [{"role": "user", "content": float("nan")}],
    ],
)
def test_a_history_that_a_strict_provider_refuses(messages: list[dict[str, Any]]) -> None:
    with pytest.raises(HistoryError):
        check_history(messages)


async def test_two_thousand_runs_at_once_share_nothing(tuvl_project: ProjectBuilder) -> None:
    desk(tuvl_project)
    app = await tuvl_project.app()
    inputs = [{"ticket": {"order_id": f"A-{n}", "history": [n]}} for n in range(2000)]
    results = await asyncio.gather(*(app.run("desk", item) for item in inputs))
    assert len({result.run_id for result in results}) == 2000
    for n, result in enumerate(results):
        assert result.status == "completed", result.error
        assert result.context["order"] == {"id": f"A-{n}", "lines": []}
        assert result.result == {"found": f"A-{n}"}
        assert result.usage["tool_calls"] == 1
    assert inputs[7] == {"ticket": {"order_id": "A-7", "history": [7]}}
    assert len(app.loops) == 0
