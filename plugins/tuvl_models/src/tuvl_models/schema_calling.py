"""Tool calls for models that have none of their own, or unreliable ones.

The declared tools and the final answer are offered as one JSON Schema: the model's whole reply is an
object that either calls a tool, `{"name": …, "arguments": {…}}`, or is the answer,
`{"outcome": …, "result": …}`. The reply is turned back into a tool call or an answer, so that the loop
around it is the same. The history is told in plain turns, which every chat template takes: a call is what
the assistant said, its result is what the user says next.

Small models follow turns better than descriptions. Lines of the system prompt that show an exchange, one
turn a line, from `User: …` to `Assistant: …`, are therefore sent as turns before the real ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from tuvl_models.chat import ChatReply, ChatRequest
from tuvl_models.schema_replies import read_reply

__all__ = ["from_schema", "reply_schema", "to_schema", "without_schema"]

_TOOLS: Final = (
    "# Tools\n\nReply with one JSON object. To call a tool, reply with its name and arguments:\n\n{tools}\n\n"
    "When nothing is left to look up, reply with the final answer:\n{answer}"
)
_ONLY: Final = "\n\nWrite the JSON object and nothing else: no text around it, one tool call at a time."
_DATA: Final = frozenset({"const", "enum", "default", "examples"})  # keys of a schema that hold no schemas
_EXAMPLE: Final = re.compile(r"(?:^User: .*\n+^Assistant: .*(?:\n+|\Z))+", re.MULTILINE)
_EXAMPLE_TURN: Final = re.compile(r"^(User|Assistant): (.*)$", re.MULTILINE)


def to_schema(request: ChatRequest) -> ChatRequest:
    """The same question for a model that is offered a schema in place of tools."""
    return attrs.evolve(
        request,
        messages=_plain_turns(request),
        tools=(),
        outcomes=(),
        response_format={
            "type": "json_schema",
            "json_schema": {"name": "reply", "schema": reply_schema(request), "strict": True},
        },
    )


def without_schema(request: ChatRequest) -> ChatRequest:
    """What `to_schema` made, for a provider that takes no schema: the form is described alone."""
    first, *rest = request.messages
    described = {**first, "content": f"{first['content']}{_ONLY}"}
    return attrs.evolve(request, messages=[described, *rest], response_format=None)


def from_schema(request: ChatRequest, reply: ChatReply) -> ChatReply:
    """Turn the reply back into tool calls where it calls tools; an answer stays as it was written."""
    return read_reply(reply, {tool["function"]["name"] for tool in request.tools})


def reply_schema(request: ChatRequest) -> dict[str, Any]:
    """JSON Schema of every reply that a request allows."""
    shared: dict[str, Any] = {}
    forms = [_call_schema(tool["function"], shared) for tool in request.tools]
    schema = {"anyOf": [*forms, _answer_schema(request.outcomes)]}
    return {**schema, "$defs": shared} if shared else schema


def _call_schema(function: Mapping[str, Any], shared: dict[str, Any]) -> dict[str, Any]:
    name, parameters = function["name"], function["parameters"]
    rebased = _rebased(parameters, f"#/$defs/{name}")
    if rebased != parameters:  # it refers to itself, and its root is another one here
        shared[name] = rebased
        parameters = {"$ref": f"#/$defs/{name}"}
    return _object({"name": {"const": name}, "arguments": parameters})


def _rebased(schema: Any, root: str) -> Any:
    """A schema whose references start at `root`, where they started at its own."""
    if isinstance(schema, (list, tuple)):
        return [_rebased(item, root) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    moved = {key: value if key in _DATA else _rebased(value, root) for key, value in schema.items()}
    target = moved.get("$ref")
    if isinstance(target, str) and target.startswith("#"):
        moved["$ref"] = root + target[1:]
    return moved


def _answer_schema(outcomes: Sequence[str]) -> dict[str, Any]:
    text = {"type": "string"}
    if not outcomes:
        return _object({"result": text})
    return _object({"outcome": {"enum": list(outcomes)}, "result": text})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _plain_turns(request: ChatRequest) -> list[dict[str, Any]]:
    """The history in turns of system, user and assistant alone."""
    system, examples, history = _opening(request)
    turns: list[dict[str, Any]] = [{"role": "system", "content": system}, *examples]
    refs: dict[str, str] = {}
    for message in history:
        role, content = message["role"], message.get("content") or ""
        calls = message.get("tool_calls") or ()
        if role == "tool":
            name = refs.get(message["tool_call_id"], "the tool")
            _say(turns, "user", f"Result of {name}: {content}")
        elif calls:
            if content:
                _say(turns, "assistant", content)
            for call in calls:
                function = call["function"]
                refs[call["id"]] = function["name"]
                said = f'{{"name": {json.dumps(function["name"])}, "arguments": {function["arguments"]}}}'
                _say(turns, "assistant", said)
        else:
            # Many chat templates allow one system message, at the start.
            _say(turns, "user" if role == "system" else role, content)
    return turns


def _opening(
    request: ChatRequest,
) -> tuple[str, list[dict[str, Any]], Sequence[Mapping[str, Any]]]:
    """The system prompt with the tools in it, the turns it shows as examples, and what follows it."""
    history = request.messages
    if not history or history[0]["role"] != "system":
        return _instruction(request), [], history
    text = history[0].get("content") or ""
    examples = [
        {"role": role.lower(), "content": said}
        for block in _EXAMPLE.findall(text)
        for role, said in _EXAMPLE_TURN.findall(block)
    ]
    shown = _EXAMPLE.sub("", text).rstrip()
    return f"{shown}\n\n{_instruction(request)}", examples, history[1:]


def _say(turns: list[dict[str, Any]], role: str, text: str) -> None:
    """Add a turn; two of one role in a row become one, for templates insist that they alternate."""
    if turns and turns[-1]["role"] == role:
        turns[-1]["content"] += f"\n{text}"
    else:
        turns.append({"role": role, "content": text})


def _instruction(request: ChatRequest) -> str:
    tools = "\n".join(_tool_line(tool["function"]) for tool in request.tools) or "(there are none)"
    answer: dict[str, Any] = {"result": "<text>"}
    if request.outcomes:
        answer = {"outcome": " or ".join(request.outcomes), **answer}
    return _TOOLS.format(tools=tools, answer=json.dumps(answer, ensure_ascii=False))


def _tool_line(function: Mapping[str, Any]) -> str:
    call = json.dumps(
        {"name": function["name"], "arguments": _placeholders(function["parameters"])}, ensure_ascii=False
    )
    return f"{call} - {function['description']}"


def _placeholders(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call with what belongs there: a server need not show the schema to its model."""
    properties = schema.get("properties") or {}
    required = schema.get("required") or ()
    return {name: _placeholder(value, name in required) for name, value in properties.items()}


def _placeholder(schema: Any, required: bool = True) -> Any:
    if not isinstance(schema, Mapping):
        return "<value>"
    kind = schema.get("type", "value")
    if kind == "object" and schema.get("properties"):
        return _placeholders(schema)
    if kind == "array" and isinstance(schema.get("items"), Mapping):
        return [_placeholder(schema["items"])]
    shown = "|".join(kind) if isinstance(kind, (list, tuple)) else str(kind)
    if "enum" in schema:
        shown = " or ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
    if not required:
        shown += ", optional"
    if schema.get("description"):
        shown += f": {schema['description']}"
    return f"<{shown}>"
