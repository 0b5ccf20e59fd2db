"""Holds a conversation to what strict providers accept, so that a test sees what production would refuse."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

__all__ = ["HistoryError", "check_history"]

MAX_TOOL_CHARS: Final = 8000
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


class HistoryError(AssertionError):
    """A history that a strict provider refuses."""


def check_history(messages: Sequence[Mapping[str, Any]]) -> None:
    """Check that calls and their answers pair one to one, in order, with ids that are unique.

    Raises:
        HistoryError: They do not, or something in it is no strict JSON, or a tool message is too long.
    """
    try:
        json.dumps(messages, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError) as error:
        raise HistoryError(f"the history is no strict JSON in UTF-8: {error}") from None
    seen: set[str] = set()
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            _check_answer(message, waiting)
            continue
        if waiting:
            raise HistoryError(f"calls {waiting} have no answer before the next {message['role']} message")
        for call in message.get("tool_calls") or ():
            _check_call(call, seen)
            waiting.append(call["id"])
    if waiting:
        raise HistoryError(f"calls {waiting} have no answer")


def _check_answer(message: Mapping[str, Any], waiting: list[str]) -> None:
    if not waiting or message["tool_call_id"] != waiting.pop(0):
        raise HistoryError(f"a tool message out of place: {message['tool_call_id']!r}")
    if len(message["content"]) > MAX_TOOL_CHARS:
        raise HistoryError(f"a tool message of {len(message['content'])} characters, more than {MAX_TOOL_CHARS}")
    _strict(message["content"])


def _check_call(call: Mapping[str, Any], seen: set[str]) -> None:
    if not call["id"] or call["id"] in seen:
        raise HistoryError(f"the call id {call['id']!r} is missing or there twice")
    seen.add(call["id"])
    if _NAME.fullmatch(call["function"]["name"]) is None:
        raise HistoryError(f"no provider takes the name {call['function']['name']!r}")
    if not isinstance(_strict(call["function"]["arguments"]), dict):
        raise HistoryError("the arguments of a call are no JSON object")


def _strict(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse)
    except ValueError as error:
        raise HistoryError(f"no strict JSON: {error}") from None


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
