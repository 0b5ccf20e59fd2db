"""Answers that are none: what a server sent with the number of a request, and not as the protocol says.

The SDK leaves such a message out, and whoever asked waits until the time is over. So an error takes its place.
"""

# ruff: noqa: TID253 - imported by connection.py and stdio.py only, on the first call

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

import mcp_types
from mcp import MCPError
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from tuvl_kinds_mcp.failures import CallFailed, excerpt

__all__ = ["malformed", "stand_ins", "stand_ins_of_error"]

_STRING: Final = rb'"[^"\\]*(?:\\.[^"\\]*)*"'
_TOKEN: Final = re.compile(_STRING + rb"|[\[\]{}]", re.S)
_VALUE: Final = re.compile(rb"\s*:\s*(-?\d+|" + _STRING + rb")?", re.S)
_PARTS: Final = frozenset({b'"jsonrpc"', b'"result"', b'"error"'})
_MARK: Final = object()
"""Lies in the stand-ins, and in nothing that a server can send."""
_OF_THE_SDK: Final = "Failed to parse "
"""How the SDK's own stand-ins begin, which it has for streamable HTTP."""


def stand_ins(line: bytes, error: ValueError) -> list[SessionMessage]:
    """Give an error for each request that a line answers; none where it answers none.

    Args:
        line: What was sent.
        error: Why it is no message.
    """
    return [_stand_in(number, _why(error)) for number in _answered(line)]


def stand_ins_of_error(error: Exception) -> list[SessionMessage]:
    """The same where the SDK has read the message, and keeps only its error."""
    if not isinstance(error, ValidationError):
        return []
    for item in error.errors(include_url=False, include_context=False):
        given = item["input"]
        if item["type"] == "json_invalid":
            return stand_ins(given if isinstance(given, bytes) else str(given).encode("utf-8", "replace"), error)
        messages = given if isinstance(given, list) else [given]
        numbers = [
            message["id"]
            for message in messages
            if isinstance(message, dict) and _is_answer(message, message.get("id"))
        ]
        if numbers:
            return [_stand_in(number, _why(error)) for number in numbers]
    return []


def malformed(error: BaseException, secrets: Iterable[str]) -> CallFailed | None:
    """Give the failure of an error that stands for an answer that is none; None for any other error."""
    if not isinstance(error, MCPError):
        return None
    if error.error.data is _MARK:
        text = error.error.message
    elif error.code == mcp_types.PARSE_ERROR and error.error.message.startswith(_OF_THE_SDK):
        text = "it does not speak the protocol"
    else:
        return None
    return CallFailed(f"its answer is malformed: {excerpt(text, secrets)}", type="bad_response")


def _stand_in(number: int | str, why: str) -> SessionMessage:
    error = mcp_types.ErrorData(code=mcp_types.PARSE_ERROR, message=why, data=_MARK)
    return SessionMessage(mcp_types.JSONRPCError(jsonrpc="2.0", id=number, error=error))


def _why(error: ValueError) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        if first["type"] == "json_invalid":
            return first["msg"]
    return "it holds neither a result nor an error as the protocol knows them"


def _is_answer(message: dict[Any, Any], number: Any) -> bool:
    return (
        isinstance(number, (int, str))
        and not isinstance(number, bool)
        and "method" not in message
        and any(name in message for name in ("jsonrpc", "result", "error"))
    )


def _answered(line: bytes) -> list[int | str]:
    """The numbers of the requests that a line answers, which need not be JSON to its end."""
    found: list[int | str] = []
    for keys in _messages(line):
        number = keys.get(b'"id"')
        if number and b'"method"' not in keys and not _PARTS.isdisjoint(keys):
            text = number.decode("utf-8", "replace")
            found.append(text[1:-1] if text.startswith('"') else int(text[:20]))
    return found


def _messages(line: bytes) -> Iterator[dict[bytes, bytes | None]]:
    """The keys of each message in a line, with the values that are numbers or texts."""
    depth = 0
    keys: dict[bytes, bytes | None] = {}
    own = 2 if line.lstrip()[:1] == b"[" else 1
    for token in _TOKEN.finditer(line):
        first = token[0][:1]
        if first in b"{[":
            depth += 1
            if depth == own:
                keys = {}
        elif first in b"}]":
            if depth == own:
                yield keys
                keys = {}
            depth -= 1
        elif depth == own and (value := _VALUE.match(line, token.end())):
            keys[token[0]] = value[1]
    if keys:
        yield keys
