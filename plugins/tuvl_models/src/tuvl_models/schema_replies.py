"""From the text of a reply back to tool calls, or to the answer that it is.

A server that holds a model to the schema sends one object and nothing else. Where nobody holds it, a model
writes prose, fences, several calls, and JSON that is broken or cut. What was meant as a call becomes a call,
even when it is broken or names no declared tool: the loop then refuses it and says what to fix, as it does
where a provider passes such a call on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final

import attrs

from tuvl_models.chat import ChatReply, ToolCall
from tuvl_models.json_text import BROKEN, Piece, find_pieces

__all__ = ["read_reply"]

_BROKEN_CALL: Final = re.compile(r'\{\s*"name"\s*:\s*("(?:[^"\\]|\\.)*")')
_NEXT_CALL: Final = re.compile(r'(?<=\n)[ \t]*\{\s*"name"\s*:')
_ARGUMENTS: Final = ("arguments", "parameters")  # the second is what some families were trained on
_FENCE: Final = re.compile(r"```[a-zA-Z]*\s*\Z")


def read_reply(reply: ChatReply, tools: Collection[str]) -> ChatReply:
    """Give the reply with the calls that its text holds; the same reply if it holds none.

    Args:
        reply: What the model said.
        tools: Wire names of the declared tools.
    """
    if reply.tool_calls or not isinstance(reply.content, str) or reply.finish_reason == "content_filter":
        return reply
    pieces = find_pieces(reply.content)
    calls: list[ToolCall] = []
    first: Piece | None = None
    for piece in pieces:
        found = list(_calls_in(piece, reply.content, tools))
        if found and first is None:
            first = piece
        calls += found
    if first is None:
        return reply
    beside = _FENCE.sub("", reply.content[: first.start]).strip() or None
    cut = reply.finish_reason in ("length", "max_tokens")
    reason = reply.finish_reason if cut else "tool_calls"
    return attrs.evolve(reply, content=beside, tool_calls=tuple(calls), finish_reason=reason)


def _calls_in(piece: Piece, text: str, tools: Collection[str]) -> Iterable[ToolCall]:
    if piece.value is BROKEN:
        return _broken_calls(text[piece.start : piece.end], tools)
    values = piece.value if isinstance(piece.value, list) else [piece.value]
    return [call for value in values if (call := _call(value, tools)) is not None]


def _call(value: Any, tools: Collection[str]) -> ToolCall | None:
    """The call that an object is; None if it is an answer, or just an object."""
    if not isinstance(value, dict) or "name" not in value or "outcome" in value:
        return None
    name = value["name"]
    declared = isinstance(name, str) and name in tools
    given = [value[key] for key in _ARGUMENTS if key in value and (declared or key == "arguments")]
    if not given and not declared:
        return None
    return ToolCall(id=None, name=name, arguments=given[0] if given else None)


def _broken_calls(text: str, tools: Collection[str]) -> Iterator[ToolCall]:
    """The calls in broken JSON: its brackets do not say where it ends, but the line of another call does."""
    text = text.removeprefix("[")  # a list of calls, one of which is broken
    starts = [0, *(found.start() for found in _NEXT_CALL.finditer(text, 1))]
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        part = text[start:end]
        for piece in find_pieces(part):
            if piece.value is not BROKEN:
                yield from _calls_in(piece, part, tools)
            elif (head := _BROKEN_CALL.match(part, piece.start)) is not None:
                # All of it, as it was written: it is no JSON, and the loop says so to the model.
                yield ToolCall(id=None, name=_name(head[1]), arguments=part[piece.start : piece.end])


def _name(quoted: str) -> str:
    try:
        return str(json.loads(quoted))
    except ValueError:
        return quoted.strip('"')
