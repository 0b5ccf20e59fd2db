"""Every provider through LiteLLM, against a real server that speaks OpenAI's API."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from openai_server import OpenAIServer, called, openai_server, said

from tuvl_core import App, Plugins, Project, load_project
from tuvl_models import BoundModel, ChatRequest, ModelError, estimate_tokens, resolve_model

KEY = "sk-s3cr3t-key-1"
TOOL = {
    "type": "function",
    "function": {
        "name": "lookup",
        "description": "Look up.",
        "parameters": {"type": "object", "properties": {"id": {"type": "string"}}},
    },
}


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with openai_server() as running:
        yield running


def write(root: Path, spec: str) -> Project:
    (root / "model.yaml").write_text(f"kind: AgentModel\nmetadata: {{ name: default }}\nspec: {spec}\n")
    return load_project(root, plugins=Plugins.load(root=root, environ={}), environ={})


def model(root: Path, server: OpenAIServer, more: str = "") -> BoundModel:
    spec = f"{{ model: openai/x, api_base: '{server.url}', api_key: {KEY}, retry: {{ attempts: 2, backoff: 0.01 }}{more} }}"
    return resolve_model(write(root, spec), "default")


def ask(text: str = "hi", **more: object) -> ChatRequest:
    return ChatRequest(messages=[{"role": "user", "content": text}], **more)  # type: ignore[arg-type]


async def test_text_calls_usage_and_settings_go_through(tmp_path: Path, server: OpenAIServer) -> None:
    server.answers = [said("one"), said(None, called("lookup", '{"id": "A"}'))]
    bound = model(tmp_path, server, ", temperature: 0.5, max_tokens: 64")
    first = await bound.complete(ask())
    second = await bound.complete(ask(tools=[TOOL], temperature=0))
    assert (first.content, first.finish_reason, first.attempts) == ("one", "stop", 1)
    assert first.usage is not None
    assert first.usage.total_tokens == 12
    [call] = second.tool_calls
    assert (call.id, call.name, call.arguments) == ("call_1", "lookup", '{"id": "A"}')
    (headers, one), (_, two) = server.requests
    assert headers["authorization"] == f"Bearer {KEY}"
    assert (one["temperature"], one["max_tokens"]) == (0.5, 64)
    assert two["temperature"] == 0
    assert two["tools"] == [TOOL]


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_what_may_pass_is_tried_again(tmp_path: Path, server: OpenAIServer, status: int) -> None:
    server.answers = [(status, {"error": {"message": "later"}}), said("now")]
    reply = await model(tmp_path, server).complete(ask())
    assert (reply.content, reply.attempts) == ("now", 2)
    assert len(server.requests) == 2


@pytest.mark.parametrize("status", [400, 401, 404])
async def test_what_cannot_pass_is_asked_once_and_says_no_key(
    tmp_path: Path, server: OpenAIServer, status: int
) -> None:
    server.answers = [(status, {"error": {"message": f"no: Bearer {KEY} and ?key={KEY}"}})]
    with pytest.raises(ModelError) as caught:
        await model(tmp_path, server).complete(ask())
    assert caught.value.type == "llm_error"
    assert KEY not in str(caught.value)
    assert "openai/x" in str(caught.value)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("openai/gpt-4o-mini", "OPENAI_API_KEY"),
        ("anthropic/claude-3-haiku-20240307", "ANTHROPIC_API_KEY"),
        ("gemini/gemini-1.5-flash", "GEMINI_API_KEY"),
        ("perplexity/sonar", "PERPLEXITYAI_API_KEY"),
        ("fireworks_ai/x", "FIREWORKS_AI_API_KEY"),
    ],
)
async def test_a_missing_key_is_named_and_not_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, variable: str
) -> None:
    for key in [key for key in os.environ if "API_KEY" in key or "_TOKEN" in key or "_KEY" in key]:
        monkeypatch.delenv(key)
    project = write(tmp_path, f"{{ model: {name}, retry: {{ attempts: 3, backoff: 0.01 }} }}")
    with pytest.raises(ModelError) as caught:
        await resolve_model(project, "default").complete(ask())
    assert caught.value.attempts == 1
    assert not caught.value.retryable
    assert f"model {name}: no key for it: set " in str(caught.value)
    assert variable in str(caught.value)
    assert "InternalServerError" not in str(caught.value)


async def test_tries_are_bounded(tmp_path: Path, server: OpenAIServer) -> None:
    server.answers = [(503, {"error": {"message": "down"}})]
    with pytest.raises(ModelError) as caught:
        await model(tmp_path, server).complete(ask())
    assert caught.value.attempts == 2
    assert len(server.requests) == 2


async def test_the_limit_bounds_the_call_with_its_retries(tmp_path: Path, server: OpenAIServer) -> None:
    server.answers, server.delay = [said("late")], 5
    with pytest.raises(ModelError) as caught:
        await model(tmp_path, server).complete(ask(timeout_s=0.3))
    assert caught.value.type == "llm_timeout"


async def test_a_server_that_is_not_there(tmp_path: Path, server: OpenAIServer) -> None:
    spec = "{ model: openai/x, api_base: 'http://127.0.0.1:9/v1', api_key: k, retry: { attempts: 1 } }"
    with pytest.raises(ModelError) as caught:
        await resolve_model(write(tmp_path, spec), "default").complete(ask())
    assert caught.value.retryable


async def test_missing_usage_is_estimated_by_the_tokenizer(tmp_path: Path, server: OpenAIServer) -> None:
    server.answers = [said("word " * 100)]
    bound = model(tmp_path, server)
    reply = await bound.complete(ask())
    assert 90 < estimate_tokens(bound, [], reply) < 130


async def test_key_and_base_come_from_the_projects_env_file(tmp_path: Path, server: OpenAIServer) -> None:
    server.answers = [said("ok")]
    (tmp_path / ".env").write_text(f"OPENAI_API_BASE={server.url}\nOPENAI_API_KEY={KEY}\n")
    project = write(tmp_path, "{ model: openai/anything }")
    assert (await resolve_model(project, "default").complete(ask())).content == "ok"
    assert server.requests[0][0]["authorization"] == f"Bearer {KEY}"


async def test_an_agent_runs_on_it(tmp_path: Path, server: OpenAIServer) -> None:
    server.answers = [
        said(None, called("lookup", '{"id": "A-1"}')),
        said('```json\n{"outcome": "resolved", "result": "A-1 is fine"}\n```'),
    ]
    (tmp_path / "nodes").mkdir()
    (tmp_path / "nodes" / "n.py").write_text(
        "from tuvl_kinds_functional import node\n\n@node('lookup')\nasync def lookup(ctx):\n"
        "    return {'found': ctx['id']}\n"
    )
    (tmp_path / "w.yaml").write_text(
        dedent("""\
        kind: Workflow
        metadata: { name: w }
        spec:
          output: work_result
          steps:
            - id: work
              kind: AutonomousAgent
              agent: { model: default, steering: Help., tools: [{ ref: lookup }], outcome: { enum: [resolved] } }
              routes: { resolved: END, max_iterations: END, budget_exceeded: END, aborted: END }
            - id: lookup
              description: Look up.
              runner: lookup
        """)
    )
    spec = f"{{ model: openai/x, api_base: '{server.url}', api_key: {KEY} }}"
    async with App(write(tmp_path, spec)) as app:
        result = await app.run("w", {"ticket": "t"})
    assert (result.status, result.result, result.usage["tokens"]) == ("completed", "A-1 is fine", 24)
    history = server.requests[1][1]["messages"]
    assert history[-1]["role"] == "tool"
    assert history[-1]["content"] == '{"found":"A-1"}'


def test_nothing_reaches_for_the_network_when_it_is_imported(tmp_path: Path) -> None:
    script = tmp_path / "probe.py"
    script.write_text(
        dedent("""\
        import asyncio, socket, sys

        def refuse(*arguments, **more):
            raise SystemExit(f"connects to {arguments[1:]}")

        socket.socket.connect = refuse
        socket.getaddrinfo = refuse
        from tuvl_model_litellm.library import library

        litellm = asyncio.run(library())
        lists = litellm.success_callback, litellm.failure_callback, litellm.callbacks
        assert lists == ([], [], []), lists
        assert len(litellm.model_cost) > 100
        """)
    )
    environ = {**os.environ, "PYTHONWARNINGS": "ignore"}
    environ.pop("LITELLM_LOCAL_MODEL_COST_MAP", None)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=environ, check=False)
    assert done.returncode == 0, done.stderr


REFUSALS = [
    (400, {"error": {"message": "'response_format' of type 'json_schema' is not supported with this model"}}),
    (422, {"detail": [{"loc": ["body", "response_format"], "msg": "extra fields not permitted"}]}),
    (400, {"error": {"message": "Invalid schema for response_format 'reply': schema must be an object"}}),
    (501, {"error": {"message": "grammar is not implemented"}}),
]


@pytest.mark.parametrize("refusal", REFUSALS)
async def test_a_server_without_schemas_is_told_the_form(
    tmp_path: Path, server: OpenAIServer, refusal: tuple[int, object]
) -> None:
    server.answers = [refusal, said('Sure:\n{"name": "lookup", "arguments": {"id": "A"}}')]
    bound = model(tmp_path, server, ", tool_calling: schema")
    reply = await bound.complete(ask(tools=[TOOL], outcomes=("done",)))
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [("lookup", {"id": "A"})]
    first, second = (body for _, body in server.requests)
    assert first["response_format"]["type"] == "json_schema"
    assert "response_format" not in second
    assert "tools" not in first | second


async def test_another_refusal_is_no_reason_to_ask_without_a_schema(tmp_path: Path, server: OpenAIServer) -> None:
    server.answers = [(400, {"error": {"message": "this model's maximum context length is 10 tokens"}})]
    with pytest.raises(ModelError, match="context length"):
        await model(tmp_path, server, ", tool_calling: schema").complete(ask(tools=[TOOL]))
    assert len(server.requests) == 1
