"""The tool calls of a turn: read, checked, dispatched one after another, answered in order."""

from __future__ import annotations

import json
from collections.abc import Awaitable
from typing import Any, Final

import attrs

from tuvl_core import Dispatch
from tuvl_kinds_agent.control import abort_before_call
from tuvl_kinds_agent.messages import assistant_message, tool_message, well_formed_arguments, well_formed_name
from tuvl_kinds_agent.results import error_text, result_text
from tuvl_kinds_agent.state import Exit, Loop, failure
from tuvl_kinds_agent.tools import Tool
from tuvl_models import ChatReply, ToolCall

__all__ = ["perform_calls", "refuse_calls"]

_CUT: Final = (
    "the response was cut at the model's token limit, so none of its calls was run; "
    "send the call again, with less text around it"
)


@attrs.define(eq=False)
class Request:
    """One tool call as the model asked for it.

    Attributes:
        id: Its id in the history, unique.
        name: The tool's ref, or in a form that is safe to show what the model called instead.
        tool: The tool; None if there is none of that name.
        arguments: Checked arguments; None if the call is refused.
        given: What the model gave as arguments.
        problem: Why it is refused.
        problem_type: The short name of that.
    """

    id: str
    name: str
    tool: Tool | None
    arguments: dict[str, Any] | None
    given: Any = None
    problem: str = ""
    problem_type: str = ""


async def perform_calls(loop: Loop, reply: ChatReply) -> Exit | None:
    """Do the calls of a turn in their order; an exit if one of them ends the loop."""
    requests = _take_in(loop, reply)
    call, handle = loop.call, loop.handle
    traced = call.run.traced
    for number, request in enumerate(requests, 1):
        if handle.abort_requested or call.run.handlers:
            reason = await abort_before_call(call, handle, loop.turn, number)
            if reason is not None:
                return Exit("aborted", error=reason, error_type="aborted")
        tool, arguments = request.tool, request.arguments
        if tool is None or arguments is None:
            with _span(loop, request.name) as span:
                span.failed(request.problem_type)
                _refuse(loop, request)
            continue
        loop.dispatched += 1
        name = f"tool#{loop.dispatched}:{tool.ref}"
        dispatched = call.dispatch(tool.ref, arguments, name=name, timeout_s=loop.agent.tool_timeout_s)
        result = await (_traced(loop, tool, dispatched) if traced else dispatched)
        if result.timed_out:
            return _timed_out(loop, tool, arguments, result)
        _answer(loop, request.id, tool, arguments, result)
    return None


def refuse_calls(loop: Loop, reply: ChatReply) -> None:
    """Answer the calls of a response that was cut: none of them runs."""
    for request in _take_in(loop, reply):
        request.problem, request.problem_type = _CUT, "truncated"
        _refuse(loop, request)


def _take_in(loop: Loop, reply: ChatReply) -> list[Request]:
    """Bring a turn's calls into the history, each with an id of its own."""
    requests, wire = [], []
    tools = loop.agent.tools
    for call in reply.tool_calls:
        tool = tools.get(call.name) if isinstance(call.name, str) else None
        id = _unique_id(loop, call.id)
        if tool is None:
            request, name = _unknown(loop, id, call), well_formed_name(call.name)
        else:
            arguments, problem = tool.spec.check(call.arguments)
            request = Request(id, tool.ref, tool, arguments, call.arguments, problem or "", "invalid_arguments")
            name = call.name
        given = call.arguments
        if request.arguments is None or type(given) is not str or not given.strip():
            given = well_formed_arguments(given)
        function = {"name": name, "arguments": given}
        wire.append({"id": id, "type": "function", "function": function})
        requests.append(request)
    content = reply.content if isinstance(reply.content, str) else None
    loop.messages.append(assistant_message(content, wire))
    return requests


def _unknown(loop: Loop, id: str, call: ToolCall) -> Request:
    name = well_formed_name(call.name)
    declared = ", ".join(loop.agent.tools) or "none"
    problem = f"there is no tool {name!r}; the declared tools are: {declared}"
    return Request(id, name, None, None, call.arguments, problem, "unknown_tool")


def _unique_id(loop: Loop, given: Any) -> str:
    """The provider's id, or a new one where that is missing, taken, or nothing that can be sent back."""
    ids = loop.call_ids
    id: Any = given
    if not isinstance(id, str) or not id or id in ids or not (id.isascii() and id.isprintable()) or len(id) > 256:
        number = len(ids) + 1
        while (id := f"call_{loop.turn}_{number}") in ids:
            number += 1
    ids.add(id)
    return str(id)


def _answer(loop: Loop, id: str, tool: Tool, arguments: dict[str, Any], result: Dispatch) -> None:
    """Tell the model what came of a call."""
    if tool.writes_context and (result.delta or result.deletes):
        loop.call.context.apply(result.delta, result.deletes)  # type: ignore[attr-defined]
    text = result_text(tool, result)
    loop.messages.append(tool_message(id, text))
    _count(loop, tool, arguments, text, result)


def _timed_out(loop: Loop, tool: Tool, arguments: dict[str, Any], result: Dispatch) -> Exit:
    text = result.error or f"tool {tool.ref!r} timed out"
    _count(loop, tool, arguments, text, result)
    return failure(loop, "tool_timeout", text)


def _count(loop: Loop, tool: Tool, arguments: dict[str, Any], text: str, result: Dispatch) -> None:
    loop.count_call(tool.ref, arguments, text)
    in_a_row = loop.repeats, loop.unchanged
    loop.report.tool_call(loop.turn, tool.ref, True, result.signal, in_a_row, _why(result))


def _why(result: Dispatch) -> str | None:
    error, type = result.error, result.error_type
    return f"{type}: {error}" if error and type and not error.startswith(type) else error


def _span(loop: Loop, name: str) -> Any:
    attributes = {"tuvl.agent.step_id": loop.call.step.id, "tuvl.agent.tool": name, "tuvl.agent.tool_signal": "error"}
    return loop.call.span("autonomous_agent.tool_call", attributes)


async def _traced(loop: Loop, tool: Tool, dispatched: Awaitable[Dispatch]) -> Dispatch:
    with _span(loop, tool.ref) as span:
        result = await dispatched
        span.set_attribute("tuvl.agent.tool_signal", result.signal)
        if result.error is not None or result.signal == "error":
            span.failed(result.error_type or result.signal)
        return result


def _refuse(loop: Loop, request: Request) -> None:
    text = error_text(request.problem, request.problem_type)
    loop.messages.append(tool_message(request.id, text))
    if loop.agent.tools:  # else it was asked for nothing, and no bound of the workflow knows of a call
        loop.usage.add(tool_calls=1)
    given = request.arguments if request.arguments is not None else _as_json(request.given)
    loop.count_call(request.name, given, text)
    declared = request.tool is not None
    in_a_row = loop.repeats, loop.unchanged
    loop.report.tool_call(loop.turn, request.name, declared, "error", in_a_row, request.problem)


def _as_json(given: Any) -> Any:
    """Refused arguments, so that two of them can be compared whatever the order of their keys."""
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given, parse_constant=str)
    except (ValueError, RecursionError):
        return given
