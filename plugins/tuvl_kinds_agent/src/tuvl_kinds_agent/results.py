"""What a tool call's result looks like to the model: strict JSON of bounded length."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tuvl_core import CodecError, Dispatch, mask, wire_dumps
from tuvl_kinds_agent.tools import Tool

__all__ = ["MAX_RESULT_CHARS", "error_text", "result_text"]

MAX_RESULT_CHARS: Final = 8000
"""No `tool` message is longer, the mark that it was cut included."""


def result_text(tool: Tool, result: Dispatch) -> str:
    """Write what came of a call.

    Success is what the tool changed, else its declared output, and its signal unless that is `default`;
    failure is `error` and `type`.
    """
    if result.error is not None or result.signal == "error":
        message = result.error or f"the tool {tool.ref!r} left by 'error'"
        return error_text(message, result.error_type or result.signal)
    try:
        text = wire_dumps(_shown(tool, result))
    except CodecError as error:
        message = f"the tool ran, but its result cannot be shown: {error}"
        return error_text(message, "no_wire_form")
    return text if len(text) <= MAX_RESULT_CHARS else _cut(text, {}, "head")


def error_text(message: str, type: str) -> str:
    """Write a failure; a message that is too long is cut, and says so."""
    text = wire_dumps({"error": message, "type": type})
    if len(text) <= MAX_RESULT_CHARS:
        return text
    return _cut(message, {"type": type[:80]}, "error")


def _shown(tool: Tool, result: Dispatch) -> Mapping[str, Any]:
    shown: Mapping[str, Any] = result.delta
    if not shown and tool.output_key is not None and result.output is not None:
        shown = {tool.output_key: result.output}
    if tool.reveal:
        shown = mask(shown, tool.reveal)  # everything else is masked by the wire form itself
    if result.signal != "default":
        # The tool's own `signal` stays what it is; names with `_` are never its own.
        name = "_signal" if "signal" in shown else "signal"
        shown = {**shown, name: result.signal}
    return shown


def _cut(text: str, fields: Mapping[str, Any], name: str) -> str:
    """Write the beginning of a text under `name`, so that the whole fits and says that it was cut."""
    frame = {"truncated": True, "length": len(text), **fields}
    room = MAX_RESULT_CHARS - len(wire_dumps({**frame, name: ""}))
    keep = room
    while True:
        head = wire_dumps(text[:keep])
        if len(head) - 2 <= room:
            return wire_dumps({**frame, name: text[:keep]})
        keep = min(keep - 1, keep * room // len(head))  # escapes take more room than one character
