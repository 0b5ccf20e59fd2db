"""MCP steps that an agent calls: cases M-1, M-3 and T-6 for this kind."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

import pytest
from agent_stage import Actor, agent, answer, tool_call, turn
from processes import none_left

FAULTS = Path(__file__).with_name("fault_server.py")


@pytest.fixture
def mark(tmp_path):
    """Tells this test's servers apart; none may be left."""
    yield f"--mark={tmp_path}"
    assert none_left(f"--mark={tmp_path}")


def servers(root, mark, **named):
    for name, flags in {"faults": (), **named}.items():
        spec = {"transport": "stdio", "command": sys.executable, "args": [str(FAULTS), *flags, mark]}
        (root / f"{name}.yaml").write_text(json.dumps({"kind": "MCPServer", "metadata": {"name": name}, "spec": spec}))


def tool(name, id=None, server="faults", **mcp):
    return (
        "- "
        + json.dumps(
            {
                "id": id or name,
                "kind": "MCP",
                "description": f"Does {name}.",
                "mcp": {"server": server, "tool": name, **mcp},
            }
        )
        + "\n"
    )


async def test_success_and_failure(mark, stage, tmp_path):
    """Case M-3."""
    servers(tmp_path, mark)
    failed = {"isError": True, "content": [{"type": "text", "text": "quota used up"}]}
    fine = {"content": [{"type": "text", "text": "Error: is a common word"}]}
    actor = Actor(turn(tool_call("say", {"result": failed}, "a"), tool_call("say", {"result": fine}, "b")), answer())
    scene = await stage(agent("say") + tool("say"), actor=actor)
    result = await scene.run()
    assert result.status == "completed"
    first, second = actor.answers()
    assert first == {"error": "quota used up", "type": "tool_error"}
    assert second == {"say_result": "Error: is a common word"}


async def test_results_and_errors_of_five_megabytes(mark, stage, tmp_path):
    """Case T-6."""
    servers(tmp_path, mark)
    actor = Actor(
        turn(tool_call("big", {"n": 5_000_000}, "a"), tool_call("big", {"n": 5_000_000, "failed": True}, "b")), answer()
    )
    scene = await stage(agent("big") + tool("big"), actor=actor)
    assert (await scene.run()).status == "completed"
    for message in actor.requests[-1]:
        if message["role"] == "tool":
            assert len(message["content"]) <= 8000
            assert "truncated" in message["content"]


@pytest.mark.native_only
async def test_schemas_of_a_server_that_answers_before_the_run(mark, stage, tmp_path):
    servers(tmp_path, mark)
    actor = Actor(turn(tool_call("send", {"what": "x", "count": 2}, "a")), answer())
    steps = (
        agent("echo", "send")
        + tool("echo")
        + tool("echo", "send", arguments={"text": "{{ what }}", "n": "{{ count }}"})
    )
    scene = await stage(steps, actor=actor)
    assert (await scene.run()).status == "completed"
    offered = {item["function"]["name"]: item["function"]["parameters"] for item in actor.tools[0]}
    assert offered["echo"]["properties"]["n"] == {"type": "integer", "minimum": 0}
    assert offered["echo"]["required"] == ["text"]
    assert offered["send"]["properties"]["count"] == {"type": "integer", "minimum": 0}
    assert actor.answers() == [{"send_result": {"got": {"text": "x", "n": 2}}}]


async def test_schemas_that_are_locked_start_nothing(mark, stage, tmp_path):
    servers(tmp_path, mark)
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    found = {"echo": {"name": "echo", "description": "", "schema": schema}}
    (tmp_path / "tuvl.lock").write_text(json.dumps({"version": 1, "mcp": {"servers": {"faults": {"tools": found}}}}))
    actor = Actor(answer())
    scene = await stage(agent("echo") + tool("echo"), actor=actor)
    assert (await scene.run()).status == "completed"
    [offered] = actor.tools[0]
    assert offered["function"]["parameters"]["required"] == ["text"]
    assert none_left(mark, within=0)


async def test_a_server_that_cannot_be_reached_before_the_run(mark, stage, tmp_path):
    servers(tmp_path, mark, faults=("--slow", "30"))
    actor = Actor(turn(tool_call("echo", {"text": "x"}, "a")), answer())
    began = time.monotonic()
    scene = await stage(
        agent("echo") + tool("echo", arguments={"text": "{{ text }}"}, timeout=0.5),
        actor=actor, environ={"TUVL_MCP_DISCOVER_S": "0.3"},
    )  # fmt: skip
    assert (await scene.run()).status == "completed"
    assert time.monotonic() - began < 5
    [offered] = actor.tools[0]
    assert offered["function"]["parameters"]["properties"] == {"text": {"type": "string"}}
    [said] = actor.answers()
    assert said["type"] == "timeout" and "faults" in said["error"]


async def test_two_servers_as_tools_one_dies_and_a_call_is_cancelled(mark, stage, tmp_path, caplog):
    """Case M-1, on the streaming path."""
    servers(tmp_path, mark, b=("--stubborn",))
    actor = Actor(
        turn(tool_call("pid", {}, "a"), tool_call("die", {"code": 3}, "b")),
        turn(tool_call("sleep", {"seconds": 60}, "c")),
    )
    scene = await stage(
        agent("pid", "die", "sleep") + tool("pid") + tool("die") + tool("sleep", server="b"), actor=actor
    )
    handle = await scene.app.start("w")
    for _ in range(100):
        await asyncio.sleep(0.1)
        if len(actor.requests) == 2:
            break
    await asyncio.sleep(0.3)
    handle.cancel("the reader went away")
    assert (await handle.wait()).status == "cancelled"
    first, second = actor.answers()
    assert first["pid_result"]["pid"]
    assert second["type"] == "connection" and "code 3" in second["error"]
    await scene.app.close()
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
