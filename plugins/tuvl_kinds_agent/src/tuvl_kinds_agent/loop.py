"""The loop of an AutonomousAgent, from its first message to its exit."""

from __future__ import annotations

from typing import Any

from tuvl_core import CodecError, StepCall, StepError
from tuvl_kinds_agent.control import abort_at_end, directives_at_turn
from tuvl_kinds_agent.limits import over_budget
from tuvl_kinds_agent.messages import context_message, steer_message
from tuvl_kinds_agent.prepared import Prepared
from tuvl_kinds_agent.report import Report, loop_numbers
from tuvl_kinds_agent.state import Exit, Loop, conclude
from tuvl_kinds_agent.turn import take_turn, traced_turn
from tuvl_models import ChatRequest

__all__ = ["aborted", "begin", "conclude", "take_turns"]


def begin(call: StepCall) -> Loop:
    """Open a loop; whoever opens it closes its handle."""
    agent: Prepared = call.step.prepared
    messages = _first_messages(call, agent)
    refs = [tool.ref for tool in agent.tools.values()]
    numbers = loop_numbers(refs, agent.max_iterations, agent.token_budget)
    request = ChatRequest(
        messages=messages,
        tools=agent.functions,
        outcomes=agent.outcomes,
        timeout_s=agent.timeout_s,
    )
    handle = call.open_loop(**numbers)
    return Loop(call, agent, handle, Report(call, handle), messages, request)


def _first_messages(call: StepCall, agent: Prepared) -> list[dict[str, Any]]:
    try:
        context = context_message(call.context)
    except CodecError as error:
        raise StepError(f"the context cannot be shown to a model: {error}", type="no_wire_form") from None
    return [{"role": "system", "content": agent.system}, {"role": "user", "content": context}]


async def take_turns(loop: Loop) -> Exit:
    """Take turns until one ends the loop; an abort that arrived before that decides its exit."""
    end = await _turns(loop)
    if end.signal == "aborted":
        return end
    reason = await abort_at_end(loop.call, loop.handle, loop.turn)
    return aborted(reason) if reason is not None else end


async def _turns(loop: Loop) -> Exit:
    """Take turns: directives first, then the budget, then the model."""
    call, handle, limit = loop.call, loop.handle, loop.agent.max_iterations
    take = traced_turn if call.run.traced else take_turn
    while loop.turn < limit:
        loop.turn += 1
        if handle.touched or call.run.handlers:
            directives = await directives_at_turn(call, handle, loop.turn)
            if directives is not None:
                if directives["aborted"] is not None:
                    return aborted(directives["aborted"])
                loop.messages += [steer_message(text) for text in directives["steer"]]
        end = over_budget(loop) or await take(loop)
        if end is not None:
            return end
    text = f"no final answer within {limit} turns"
    return Exit("max_iterations", error=text, error_type="max_iterations")


def aborted(reason: str | None) -> Exit:
    """The exit of a loop that a supervisor has ended."""
    return Exit("aborted", error=reason or "aborted", error_type="aborted")
