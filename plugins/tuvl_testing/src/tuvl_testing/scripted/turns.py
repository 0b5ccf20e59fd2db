"""What a scripted model says in a turn, and how it is written in Python."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from tuvl_models import ChatReply, ModelError, ToolCall, Usage

__all__ = ["DEFAULT_USAGE", "Turn", "answer", "call", "fails", "turn"]

DEFAULT_USAGE = Usage(prompt_tokens=10, completion_tokens=5, total_tokens=15)
"""What a turn costs that says nothing of it."""


@attrs.frozen(kw_only=True)
class Turn:
    """One turn of a script.

    Attributes:
        reply: What the model answers, or None where it fails.
        error: What it raises instead.
        delay: Seconds before that.
    """

    reply: ChatReply | None = None
    error: BaseException | None = None
    delay: float = 0.0


def call(name: str, /, **arguments: Any) -> ToolCall:
    """A tool call with well-formed arguments."""
    return ToolCall(id=None, name=name, arguments=json.dumps(arguments))


def turn(
    *calls: ToolCall,
    content: str | None = None,
    finish_reason: str | None = None,
    usage: Usage | None = DEFAULT_USAGE,
    delay: float = 0.0,
) -> Turn:
    """A turn that calls tools, or says something.

    Args:
        calls: Its tool calls, in order.
        content: Its text.
        finish_reason: Why it ended; by default `tool_calls` with calls and `stop` without.
        usage: Its tokens; None: the provider does not tell.
        delay: Seconds before it answers.
    """
    reason = finish_reason or ("tool_calls" if calls else "stop")
    reply = ChatReply(content=content, tool_calls=calls, finish_reason=reason, usage=usage)
    return Turn(reply=reply, delay=delay)


def answer(outcome: str | None, result: Any = None, *, usage: Usage | None = DEFAULT_USAGE, delay: float = 0.0) -> Turn:
    """A final answer: `{"outcome": …, "result": …}`, or only the result where there is no outcome."""
    said: Mapping[str, Any] = {"result": result} if outcome is None else {"outcome": outcome, "result": result}
    return turn(content=json.dumps(said, ensure_ascii=False), usage=usage, delay=delay)


def fails(message: str = "the scripted model fails", *, delay: float = 0.0, **more: Any) -> Turn:
    """A turn that gives no answer; further arguments are those of `ModelError`."""
    return Turn(error=ModelError(message, **more), delay=delay)


def as_turn(value: Any) -> Turn:
    """Take whatever may stand for a turn: a turn, a reply, calls, text, an exception."""
    if isinstance(value, Turn):
        return value
    if isinstance(value, ChatReply):
        return Turn(reply=value)
    if isinstance(value, BaseException):
        return Turn(error=value)
    if isinstance(value, ToolCall):
        return turn(value)
    if isinstance(value, str):
        return turn(content=value)
    if isinstance(value, Sequence) and all(isinstance(item, ToolCall) for item in value):
        return turn(*value)
    raise TypeError(f"{value!r} is no turn of a script")
