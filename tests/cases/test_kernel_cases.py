"""How files are read, routed and kept apart, in the situations that went wrong elsewhere."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tuvl_core import Diagnostic, RunResult
from tuvl_models import ChatReply, ChatRequest
from tuvl_testing import ProjectBuilder, answer

NODES = """
import asyncio
import random

from tuvl_kinds_functional import node


@node("echo")
async def echo(ctx):
    await asyncio.sleep(random.random() / 50)
    return {"seen": ctx.get("value")}


@node("boom")
async def boom(ctx):
    raise ValueError("no")
"""
ABNORMAL = "max_iterations: END, budget_exceeded: END, error: END, aborted: END"


def codes(found: list[Diagnostic], severity: str = "error") -> list[str]:
    return [item.code for item in found if item.severity == severity]


def at(project: ProjectBuilder, item: Diagnostic) -> str:
    """The text that a finding points at."""
    assert item.location is not None
    lines = (project.root / item.location.path).read_text().splitlines()
    return lines[item.location.line - 1][item.location.column - 1 :]


def path(result: RunResult) -> list[tuple[str, str]]:
    return [(entry.step, entry.signal) for entry in result.path]


# --- plain words are texts --------------------------------------------------------------------


async def test_plain_words_are_texts_as_keys_and_as_values(tuvl_project: ProjectBuilder) -> None:
    tuvl_project.write("nodes/n.py", NODES)
    tuvl_project.write(
        "w.yaml",
        f"""
        kind: Workflow
        metadata: {{ name: w }}
        spec:
          steps:
            - id: ask
              kind: AutonomousAgent
              agent:
                model: scripted/x
                steering: Decide.
                tools: [{{ ref: look }}]
                outcome: {{ enum: [yes, no] }}
              routes: {{ yes: pay, no: off, {ABNORMAL} }}
            - {{ id: look, description: Look., runner: echo }}
            - {{ id: off, kind: Router, match: {{ field: switch }}, routes: {{ on: pay, off: refuse }} }}
            - {{ id: pay, kind: Response, mapping: {{ said: pay }}, routes: {{ default: END }} }}
            - {{ id: refuse, kind: Response, source: country }}
        """,
    )
    tuvl_project.model(answer("no", 1))
    assert codes(tuvl_project.check()) == []
    result = await tuvl_project.run("w", {"switch": "off", "country": "NO"})
    assert path(result) == [("ask", "no"), ("off", "off"), ("refuse", "default")]
    assert result.result == "NO"


# --- nothing is dropped silently --------------------------------------------------------------

GOOD = f"""\
kind: Workflow
metadata: {{ name: w }}
spec:
  steps:
    - id: ask
      kind: AutonomousAgent
      agent:
        model: scripted/x
        steering: Decide.
        tools:
          - ref: look
            writes_context: true
        outcome: {{ enum: [done] }}
        max_iterations: 2
      routes: {{ done: END, {ABNORMAL} }}
    - id: look
      description: Look.
      runner: echo
"""


@pytest.mark.parametrize(
    ("old", "new", "points_at", "said"),
    [
        ("      runner: echo\n", "      runner: echo\n      runner: boom\n", "runner", "line 18"),
        ("    - id: look\n", "    - id: look\n      runner: echo\n    - id: look\n", "look", "line"),
        ("max_iterations: 2", "max_iteration: 2", "max_iteration:", "max_iterations"),
        ("        max_iterations: 2\n", "        max_iterations: 2\n      tools: [{ ref: look }]\n", "tools:", "agent"),
        ("writes_context:", "writes_contxt:", "writes_contxt", "writes_context"),
        ("max_iterations: 2", "max_iterations: two", "two", "number"),
        ("max_iterations: 2", "max_iterations: 0", "0", "1"),
        ("model: scripted/x", "model: !!python/object:os.system x", "!!python", "tag"),
    ],
)  # fmt: skip
async def test_strict_reading(tuvl_project: ProjectBuilder, old: str, new: str, points_at: str, said: str) -> None:
    tuvl_project.write("nodes/n.py", NODES)
    assert old in GOOD
    tuvl_project.write("w.yaml", GOOD.replace(old, new))
    errors = [item for item in tuvl_project.check() if item.severity == "error"]
    assert errors
    texts = [f"{item.message} {item.hint}" for item in errors if at(tuvl_project, item).startswith(points_at)]
    assert any(said in text for text in texts), [str(item) for item in errors]


async def test_goal_is_an_unknown_key_beside_the_missing_steering(tuvl_project: ProjectBuilder) -> None:
    tuvl_project.write("nodes/n.py", NODES)
    tuvl_project.write("w.yaml", GOOD.replace("steering: Decide.", "goal: Decide."))
    found = tuvl_project.check()
    assert "TUVL-A012" in codes(found)
    assert "TUVL-A003" in codes(found, "warning")
    [goal] = [item for item in found if item.code == "TUVL-A012"]
    assert "steering" in f"{goal.message} {goal.hint}"


# --- only code and files of its own scope ------------------------------------------------------


@pytest.mark.parametrize("runner", ["os:system", "subprocess:Popen", "tuvl_core:App.close", "builtins:exec"])
async def test_a_file_names_only_code_of_its_own_scope(tuvl_project: ProjectBuilder, runner: str) -> None:
    tuvl_project.workflow("w", {"id": "a", "runner": runner})
    assert codes(tuvl_project.check())


@pytest.mark.parametrize(
    "name",
    ["agents/w__ask/steering/../../../secret.md", "/etc/hostname", "agents/w__ask2/steering/x.md", "secret.md",
     "agents/w__ask/steering/link.md"],
)  # fmt: skip
async def test_instructions_out_of_scope_are_errors_and_never_read(tuvl_project: ProjectBuilder, name: str) -> None:
    tuvl_project.write("nodes/n.py", NODES)
    for path in ("secret.md", "agents/w__ask2/steering/x.md", "agents/w__ask/steering/own.md"):
        tuvl_project.write(path, "OWN" if "own" in path else "SECRET")
    (tuvl_project.root / "agents/w__ask/steering/link.md").symlink_to(tuvl_project.root / "secret.md")
    own = "agents/w__ask/steering/own.md"
    spec = f"steering: Decide.\n        steering_files: ['{name}', '{own}']"
    tuvl_project.write("w.yaml", GOOD.replace("steering: Decide.", spec))
    assert "TUVL-A004" in codes(tuvl_project.check())
    model = tuvl_project.model(answer("done"))
    assert (await tuvl_project.run("w")).status == "completed"
    sent = json.dumps(model.requests[0].messages)
    assert "OWN" in sent
    assert "SECRET" not in sent


# --- a loaded workflow is read-only ------------------------------------------------------------


async def test_runs_at_once_see_only_their_own(tuvl_project: ProjectBuilder) -> None:
    seen: list[dict[str, Any]] = []

    async def reply(request: ChatRequest) -> ChatReply:
        said = json.loads(request.messages[1]["content"])
        seen.append(said)
        await asyncio.sleep(0.001 * (said["value"] % 7))
        content = json.dumps({"outcome": "done", "result": said["value"]})
        return ChatReply(content=content, finish_reason="stop")

    tuvl_project.write("nodes/n.py", NODES)
    tuvl_project.write("w.yaml", GOOD.replace("spec:\n", "spec:\n  output: ask_result\n", 1))
    tuvl_project.model(reply)
    app = await tuvl_project.app()
    before = app.project.workflows["w"].to_data()
    inputs = [{"value": n, "nested": {"list": [n]}} for n in range(20)]
    results = await asyncio.gather(*(app.run("w", item) for item in inputs))
    assert [result.result for result in results] == list(range(20))
    assert sorted(item["value"] for item in seen) == list(range(20))
    assert all(item == {"value": item["value"], "nested": {"list": [item["value"]]}} for item in seen)
    assert app.project.workflows["w"].to_data() == before


# --- routing -----------------------------------------------------------------------------------

ROUTES: list[tuple[dict[str, Any], str, list[str]]] = [
    ({"kind": "Router", "match": {"field": "value"}, "routes": {"yes": "END", "no": "END"}}, "failed", ["maybe"]),
    ({"runner": "boom"}, "stopped", ["error"]),
    ({"runner": "echo", "routes": {"default": "END"}}, "completed", []),
]


@pytest.mark.parametrize(("step", "status", "said"), ROUTES)
async def test_a_label_without_a_route(
    tuvl_project: ProjectBuilder, step: dict[str, Any], status: str, said: list[str]
) -> None:
    tuvl_project.write("nodes/n.py", NODES)
    tuvl_project.workflow("w", {"id": "a", **step}, {"id": "b", "kind": "Response", "source": "value"})
    result = await tuvl_project.run("w", {"value": "maybe"})
    assert result.status == status
    if status == "failed":
        assert result.error is not None
        assert all(part in result.error.message for part in ("'w'", "'a'", "yes", "no"))


async def test_an_undefined_name_sends_no_request(tuvl_project: ProjectBuilder) -> None:
    hits: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        hits.append(await reader.readline())
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        for name, url in (("bad", "{{ order_id }}"), ("good", "{{ order_id | default('A-0') }}")):
            call = {"id": "call", "kind": "APICall", "http": {"url": f"http://127.0.0.1:{port}/orders/{url}"}}
            tuvl_project.workflow(name, call)
        bad, good = await tuvl_project.run("bad"), await tuvl_project.run("good")
    finally:
        server.close()
        await server.wait_closed()
    assert bad.error is not None
    assert "order_id" in bad.error.message
    assert "'call'" in bad.error.message
    assert good.status == "completed"
    assert hits == [b"GET /orders/A-0 HTTP/1.1\r\n"]


@pytest.mark.parametrize(
    "condition",
    ["().__class__.__base__.__subclasses__()", "__import__('os')", "(9**9)**9**9", "'x' * 10**10", "_private == 1"],
)
async def test_conditions_that_reach_out_are_refused(tuvl_project: ProjectBuilder, condition: str) -> None:
    router = {"id": "a", "kind": "Router", "condition": condition, "routes": {"true": "END", "false": "END"}}
    tuvl_project.workflow("w", router)
    assert codes(tuvl_project.check())


async def test_text_of_the_context_is_data(tuvl_project: ProjectBuilder) -> None:
    router = {"id": "a", "kind": "Router", "condition": "value == 'x'", "routes": {"true": "END", "false": "END"}}
    tuvl_project.workflow("w", router)
    result = await tuvl_project.run("w", {"value": "{{ ().__class__ }} __import__('os')"})
    assert path(result) == [("a", "false")]


# --- secrets in failures -----------------------------------------------------------------------


async def test_no_secret_is_in_any_way_out_of_a_failing_call(
    tuvl_project: ProjectBuilder, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sent = await reader.readuntil(b"\r\n\r\n")
        body = b"bad: " + sent.replace(b"\r\n", b" ")
        writer.write(b"HTTP/1.1 400 Bad\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    tuvl_project.environ.update(TOKEN="s3cr3t-1", KEY="s3cr3t-2")
    http = {
        "url": f"http://127.0.0.1:{port}/x",
        "params": {"key": "${KEY}"},
        "headers": {"Authorization": "Bearer ${TOKEN}"},
    }
    tuvl_project.workflow("w", {"id": "call", "kind": "APICall", "http": http})
    caplog.set_level("DEBUG")
    try:
        app = await tuvl_project.app()
        events = [event.to_json() async for event in app.stream("w")]
        result = await app.run("w")
    finally:
        server.close()
        await server.wait_closed()
    everything = "\n".join([*events, json.dumps(result.to_dict()), caplog.text])
    assert "s3cr3t" not in everything
    assert "400" in everything
    assert "127.0.0.1" in everything
