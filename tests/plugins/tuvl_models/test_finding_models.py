"""How a model is found, tried and bounded; schema tool calling."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuvl_core import Plugins, Project, ProjectError, check_project, load_project, lossless_dumps, lossless_loads
from tuvl_models import (
    ChatReply,
    ChatRequest,
    ModelError,
    ModelFamily,
    ToolCall,
    Usage,
    add_family,
    families,
    resolve_model,
)

PARROT = """
from tuvl_core import hookimpl
from tuvl_models import ChatReply, ModelFamily


class Parrot:
    tool_calling = "native"

    async def complete(self, request):
        return ChatReply(content="{name}")


@hookimpl(optionalhook=True)
def tuvl_chat_models():
    return [ModelFamily(prefix="parrot", create=lambda settings: Parrot())]
"""


class Script:
    """Says what it is told to, one after another."""

    tool_calling = "native"

    def __init__(self, *turns: Any) -> None:
        self.turns = list(turns)
        self.requests: list[ChatRequest] = []

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        turn = self.turns.pop(0)
        if isinstance(turn, BaseException):
            raise turn
        if isinstance(turn, float):
            await asyncio.sleep(turn)
        return turn if isinstance(turn, ChatReply) else ChatReply(content=str(turn), finish_reason="stop")


def project(root: Path, spec: str = "{ model: test/x }", **files: str) -> Project:
    (root / "plugins").mkdir(exist_ok=True)
    for name, text in files.items():
        (root / "plugins" / f"{name}.py").write_text(text)
    (root / "m.yaml").write_text(f"kind: AgentModel\nmetadata: {{ name: default }}\nspec: {spec}\n")
    return load_project(root, plugins=Plugins.load(root=root, environ={}), environ={})


def bound(root: Path, *turns: Any, spec: str = "{ model: test/x, retry: { attempts: 3, backoff: 0 } }") -> Any:
    loaded, model = project(root, spec), Script(*turns)
    add_family(loaded, ModelFamily(prefix="test", create=lambda settings: model))
    return resolve_model(loaded, "default"), model


def ask(**more: Any) -> ChatRequest:
    return ChatRequest(messages=[{"role": "user", "content": "hi"}], **more)


async def test_a_plugin_serves_its_prefix(tmp_path: Path) -> None:
    loaded = project(tmp_path, "{ model: parrot/x }", parrot=PARROT.replace("{name}", "squawk"))
    assert "parrot" in families(loaded)
    assert (await resolve_model(loaded, "default").complete(ask())).content == "squawk"
    assert (await resolve_model(loaded, "parrot/y").complete(ask())).content == "squawk"


def test_two_owners_of_a_prefix_are_an_error_until_somebody_chooses(tmp_path: Path) -> None:
    files = {"one": PARROT.replace("{name}", "1"), "two": PARROT.replace("{name}", "2")}
    loaded = project(tmp_path, "{ model: parrot/x }", **files)
    with pytest.raises(ProjectError, match=r"plugins/one.py and plugins/two.py.*models.choose"):
        resolve_model(loaded, "default")
    (tmp_path / "tuvl.toml").write_text('[models.choose]\nparrot = "plugins/two.py"\n')
    chosen = resolve_model(project(tmp_path, "{ model: parrot/x }"), "default")
    assert asyncio.run(chosen.complete(ask())).content == "2"


@pytest.mark.parametrize(
    ("name", "said"),
    [("defualt", "did you mean `default`"), ("missing", "it has: default")],
)
def test_a_name_that_is_no_document(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(ProjectError, match=said):
        resolve_model(project(tmp_path), name)


def test_a_model_that_nobody_serves(tmp_path: Path) -> None:
    (tmp_path / "tuvl.toml").write_text('[plugins]\nblock = ["tuvl-model-litellm"]\n')
    (tmp_path / "w.yaml").write_text(
        "kind: Workflow\nmetadata: { name: w }\nspec: { steps: [{ id: a, runner: x:y }] }\n"
    )
    loaded = project(tmp_path, "{ model: nobody/x }")
    with pytest.raises(ProjectError, match=r"serves the model 'nobody/x'.*tuvl-model-litellm"):
        resolve_model(loaded, "default")
    assert "TUVL-M001" in {found.code for found in check_project(loaded)}


def test_a_document_whose_family_does_not_have_its_model(tmp_path: Path) -> None:
    (tmp_path / "w.yaml").write_text(
        "kind: Workflow\nmetadata: { name: w }\nspec: { steps: [{ id: a, runner: x:y }] }\n"
    )
    loaded = project(tmp_path, "{ model: scripted/desk }")
    [found] = [item for item in check_project(loaded) if item.code == "TUVL-M002"]
    assert found.message.startswith("AgentModel 'default': there is no ScriptedModel `desk`")
    assert found.location is not None
    (tmp_path / "script.yaml").write_text(
        "kind: ScriptedModel\nmetadata: { name: desk }\nspec: { turns: [{ content: hello }] }\n"
    )
    assert "TUVL-M002" not in {item.code for item in check_project(project(tmp_path, "{ model: scripted/desk }"))}


async def test_a_retryable_failure_is_tried_again(tmp_path: Path) -> None:
    model, script = bound(tmp_path, ModelError("later", retryable=True), "now")
    reply = await model.complete(ask())
    assert (reply.content, reply.attempts, len(script.requests)) == ("now", 2, 2)


async def test_attempts_are_bounded_and_counted(tmp_path: Path) -> None:
    model, script = bound(tmp_path, *[ModelError("later", retryable=True)] * 9)
    with pytest.raises(ModelError) as caught:
        await model.complete(ask())
    assert caught.value.attempts == len(script.requests) == 3


@pytest.mark.parametrize("error", [ModelError("no"), ValueError("odd"), TimeoutError()])
async def test_other_failures_are_not_tried_again(tmp_path: Path, error: Exception) -> None:
    model, script = bound(tmp_path, error, "never")
    with pytest.raises(ModelError):
        await model.complete(ask())
    assert len(script.requests) == 1


async def test_no_key_is_in_an_error(tmp_path: Path) -> None:
    spec = "{ model: test/x, api_key: plain-word-key-77, retry: { attempts: 1 } }"
    model, _ = bound(tmp_path, ValueError("refused plain-word-key-77"), spec=spec)
    with pytest.raises(ModelError) as caught:
        await model.complete(ask())
    assert "plain-word-key-77" not in str(caught.value)
    assert "plain-word-key-77" not in repr(model.settings)


async def test_the_limit_bounds_all_attempts(tmp_path: Path) -> None:
    model, _ = bound(tmp_path, 5.0)
    with pytest.raises(ModelError) as caught:
        await model.complete(ask(timeout_s=0.05))
    assert caught.value.type == "llm_timeout"
    assert "0.05 s" in str(caught.value)


async def test_a_wait_that_does_not_fit_fails_for_the_true_reason(tmp_path: Path) -> None:
    model, script = bound(tmp_path, ModelError("rate limited", retryable=True, retry_after_s=3600), "never")
    with pytest.raises(ModelError, match="rate limited") as caught:
        await model.complete(ask(timeout_s=30))
    assert (caught.value.type, len(script.requests)) == ("llm_error", 1)


async def test_cancelling_a_call_is_no_timeout(tmp_path: Path) -> None:
    model, _ = bound(tmp_path, 60.0)
    task = asyncio.create_task(model.complete(ask()))
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_a_reply_survives_a_record() -> None:
    reply = ChatReply(
        content=None,
        tool_calls=(ToolCall(id="a", name="t", arguments='{"x": 1}'),),
        finish_reason="tool_calls",
        usage=Usage(prompt_tokens=1, completion_tokens=2, total_tokens=3),
        attempts=2,
    )
    assert lossless_loads(lossless_dumps(reply)) == reply


# --- schema tool calling ----------------------------------------------------------------------

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": f"Does {name}.",
            "parameters": {
                "type": "object",
                "properties": {"order_id": {"type": "string"}},
                "required": ["order_id"],
                "additionalProperties": False,
            },
        },
    }
    for name in ("lookup", "check")
]
HISTORY: list[dict[str, Any]] = [
    {
        "role": "system",
        "content": 'Work.\n\nUser: {"a":1}\nAssistant: {"name": "lookup"}\n\nGo on.',
    },
    {"role": "user", "content": '{"ticket":"t"}'},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "lookup", "arguments": '{"order_id":"A"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "1", "content": '{"order":1}'},
    {"role": "system", "content": "Guidance: hurry."},
]
SCHEMA_SPEC = "{ model: test/x, tool_calling: schema }"


async def test_tools_and_answer_are_offered_as_one_schema(tmp_path: Path) -> None:
    model, script = bound(tmp_path, '{"name": "check", "arguments": {"order_id": "A"}}', spec=SCHEMA_SPEC)
    request = ChatRequest(messages=HISTORY, tools=TOOLS, outcomes=("resolved", "escalate"))
    reply = await model.complete(request)
    [call] = reply.tool_calls
    assert (call.name, call.arguments, reply.finish_reason) == ("check", {"order_id": "A"}, "tool_calls")
    [sent] = script.requests
    assert sent.tools == ()
    assert [(turn["role"], turn["content"]) for turn in sent.messages[1:]] == [
        ("user", '{"a":1}'),
        ("assistant", '{"name": "lookup"}'),
        ("user", '{"ticket":"t"}'),
        ("assistant", '{"name": "lookup", "arguments": {"order_id":"A"}}'),
        ("user", 'Result of lookup: {"order":1}\nGuidance: hurry.'),
    ]
    system = sent.messages[0]["content"]
    assert "Work." in system
    assert "Go on." in system
    assert "User:" not in system
    assert '"resolved or escalate"' in system
    schema = sent.response_format["json_schema"]["schema"]  # type: ignore[index]
    for good in ({"name": "lookup", "arguments": {"order_id": "A"}}, {"outcome": "escalate", "result": "x"}):
        jsonschema_rs.validate(schema, good)
    for bad in (
        {"name": "other", "arguments": {}},
        {"name": "check", "arguments": {}},
        {"outcome": "aborted", "result": ""},
    ):
        assert not jsonschema_rs.is_valid(schema, bad)
    assert HISTORY[0]["content"].startswith("Work.")


@pytest.mark.parametrize("text", ['{"outcome": "resolved", "result": "x"}', "no JSON", "[1]", '{"name": "other"}', ""])
async def test_what_is_no_call_stays_what_it_is(tmp_path: Path, text: str) -> None:
    model, _ = bound(tmp_path, text, spec=SCHEMA_SPEC)
    reply = await model.complete(ChatRequest(messages=HISTORY, tools=TOOLS, outcomes=("resolved",)))
    assert (reply.content, reply.tool_calls) == (text, ())


@pytest.mark.parametrize("text", ['{"name": "lookup", "arguments": {"order_id": "A"}}', '{"name": "lookup", "argum'])
async def test_a_cut_call_says_that_it_was_cut(tmp_path: Path, text: str) -> None:
    model, _ = bound(tmp_path, ChatReply(content=text, finish_reason="length"), spec=SCHEMA_SPEC)
    reply = await model.complete(ChatRequest(messages=HISTORY, tools=TOOLS))
    assert ([call.name for call in reply.tool_calls], reply.finish_reason) == (["lookup"], "length")


async def test_a_cut_answer_calls_nothing(tmp_path: Path) -> None:
    cut = ChatReply(content='{"outcome": "resolved", "resu', finish_reason="length")
    model, _ = bound(tmp_path, cut, spec=SCHEMA_SPEC)
    assert await model.complete(ChatRequest(messages=HISTORY, tools=TOOLS)) == cut


CALL = '{"name": "lookup", "arguments": {"order_id": "A"}}'


@pytest.mark.parametrize(
    ("text", "names", "beside"),
    [
        (f"```json\n{CALL}\n```", ["lookup"], None),
        (f"I look it up.\n{CALL}", ["lookup"], "I look it up."),
        (f"<think>{CALL} or not</think>{CALL}", ["lookup"], "<think>" + CALL + " or not</think>"),
        (f"[{CALL}, {CALL}]", ["lookup", "lookup"], None),
        (f'{CALL}\n{{"name": "check", "arguments": {{}}}}', ["lookup", "check"], None),
        ('{"name": "check", "parameters": {"order_id": "A"}}', ["check"], None),
        ('{"name": "invented", "arguments": {}}', ["invented"], None),
        ('{"name": null, "arguments": {}}', [None], None),
        ('{"name": "lookup"}', ["lookup"], None),
        ('{"name": "lookup", "arguments": {"order_id": }}', ["lookup"], None),
        (f'[{CALL}, {{"name": "check", "arguments": {{"order_id": }}}}]', ["lookup", "check"], None),
        (f'{CALL} {{"outcome": "resolved", "result": 1}}', ["lookup"], None),
    ],
)
async def test_what_is_meant_as_a_call_is_one(
    tmp_path: Path, text: str, names: list[str | None], beside: str | None
) -> None:
    model, _ = bound(tmp_path, text, spec=SCHEMA_SPEC)
    reply = await model.complete(ChatRequest(messages=HISTORY, tools=TOOLS, outcomes=("resolved",)))
    assert [call.name for call in reply.tool_calls] == names
    assert (reply.content, reply.finish_reason) == (beside, "tool_calls")


@pytest.mark.parametrize("piece", ["[", '{"name":', '{"name":"x"\n', '[{"name":"x",', "{", '<think>{"a":', "```\n{"])
async def test_a_rambling_reply_is_read_in_reasonable_time(tmp_path: Path, piece: str) -> None:
    model, _ = bound(tmp_path, piece * 20_000, spec=SCHEMA_SPEC)
    reply = await asyncio.wait_for(model.complete(ChatRequest(messages=HISTORY, tools=TOOLS)), 20)
    assert reply.tool_calls or reply.content == piece * 20_000


REFUSED = ModelError("400: response_format json_schema is not supported", schema_refused=True)


async def test_a_provider_that_refuses_the_schema_is_told_the_form(tmp_path: Path, caplog: Any) -> None:
    spec = "{ model: test/x, tool_calling: schema, retry: { attempts: 1 } }"
    model, script = bound(tmp_path, REFUSED, f"Sure!\n{CALL}", CALL, spec=spec)
    request = ChatRequest(messages=HISTORY, tools=TOOLS, outcomes=("resolved",))
    first = await model.complete(request)
    assert ([call.name for call in first.tool_calls], first.attempts) == (["lookup"], 2)
    assert (await model.complete(request)).attempts == 1
    assert [bool(sent.response_format) for sent in script.requests] == [True, False, False]
    assert "nothing else" in script.requests[1].messages[0]["content"]
    assert "nothing else" not in script.requests[0].messages[0]["content"]
    warned = [record.getMessage() for record in caplog.records if "schema_refused" in record.getMessage()]
    assert len(warned) == 1
    assert "test/x" in warned[0]


async def test_a_refusal_uses_no_retry_up(tmp_path: Path) -> None:
    spec = "{ model: test/x, tool_calling: schema, retry: { attempts: 2, backoff: 0 } }"
    model, script = bound(tmp_path, REFUSED, ModelError("busy", retryable=True), CALL, spec=spec)
    reply = await model.complete(ChatRequest(messages=HISTORY, tools=TOOLS))
    assert (reply.attempts, len(script.requests)) == (3, 3)


async def test_a_refusal_without_a_schema_is_a_failure(tmp_path: Path) -> None:
    model, _ = bound(tmp_path, REFUSED, REFUSED, spec=SCHEMA_SPEC)
    with pytest.raises(ModelError, match="json_schema"):
        await model.complete(ChatRequest(messages=HISTORY, tools=TOOLS))
    native, _ = bound(tmp_path, REFUSED)
    with pytest.raises(ModelError, match="json_schema"):
        await native.complete(ask())


REFERRING = {
    "type": "object",
    "properties": {"tree": {"$ref": "#/$defs/node"}, "also": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
    "required": ["tree"],
    "additionalProperties": False,
    "$defs": {
        "node": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "next": {"$ref": "#/$defs/node"}},
            "required": ["name"],
            "additionalProperties": False,
        }
    },
}


def test_references_inside_the_parameters_still_lead_somewhere() -> None:
    from tuvl_models.schema_calling import reply_schema

    function = {"name": "plant", "description": "Plant.", "parameters": REFERRING}
    schema = reply_schema(ChatRequest(messages=[], tools=[*TOOLS, {"type": "function", "function": function}]))
    for tree, good in (({"name": "a", "next": {"name": "b"}}, True), ({"name": 1}, False), ({"next": {}}, False)):
        assert jsonschema_rs.is_valid(schema, {"name": "plant", "arguments": {"tree": tree}}) is good
    assert REFERRING["properties"]["tree"] == {"$ref": "#/$defs/node"}  # type: ignore[index]


def test_a_tool_is_described_as_its_schema_says() -> None:
    from tuvl_models.schema_calling import to_schema

    parameters = {
        "type": "object",
        "properties": {
            "city": {"enum": ["Rome", "Oslo"], "description": "where"},
            "days": {"type": "array", "items": {"type": "integer"}},
            "place": {"type": "object", "properties": {"zip": {"type": ["string", "null"]}}, "required": []},
            "odd": True,
        },
        "required": ["city", "days", "place"],
    }
    function = {"name": "weather", "description": "Tell it.", "parameters": parameters}
    sent = to_schema(ChatRequest(messages=[], tools=[{"type": "function", "function": function}]))
    shown = sent.messages[0]["content"]
    assert r'"city": "<\"Rome\" or \"Oslo\": where>", "days": ["<integer>"]' in shown
    assert '"place": {"zip": "<string|null, optional>"}, "odd": "<value>"}} - Tell it.' in shown


roles = st.sampled_from(["user", "assistant", "system"])
turns = st.lists(st.builds(lambda role, text: {"role": role, "content": text}, roles, st.text(max_size=20)), max_size=8)


@given(turns)
def test_turns_alternate_whatever_the_history(history: list[dict[str, Any]]) -> None:
    from tuvl_models.schema_calling import to_schema

    sent = to_schema(ChatRequest(messages=history, tools=TOOLS, outcomes=("a",))).messages
    said = [turn["role"] for turn in sent]
    assert said[0] == "system"
    assert all(one != two for one, two in zip(said, said[1:], strict=False))
    json.dumps(sent)
