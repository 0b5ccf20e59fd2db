"""One turn: ask the model, then act on what it says."""

from __future__ import annotations

from typing import Final

from tuvl_core import RunError
from tuvl_kinds_agent.calls import perform_calls, refuse_calls
from tuvl_kinds_agent.genai import observed_completion
from tuvl_kinds_agent.limits import count_failure, count_reply
from tuvl_kinds_agent.outcome import NoAnswer, read_answer
from tuvl_kinds_agent.state import Exit, Loop, failure
from tuvl_models import ChatReply, ModelError

__all__ = ["take_turn", "traced_turn"]

CUT: Final = frozenset({"length", "max_tokens"})
BLOCKED: Final = "content_filter"


async def take_turn(loop: Loop) -> Exit | None:
    """Take a turn; None: the loop goes on."""
    call = loop.call
    name = f"llm#{loop.turn}"
    try:
        if call.run.traced or call.run.measured:
            reply = await observed_completion(call, loop.agent.model, loop.request, name)
        else:
            reply = await call.effect(name, loop.agent.model.complete, loop.request, kind="model")
    except RunError:
        raise
    except Exception as error:
        return _no_reply(loop, error)
    if not isinstance(reply, ChatReply):
        return _no_reply(loop, TypeError(f"it gave {type(reply).__name__}, no ChatReply"))
    count_reply(loop, reply)
    calls = reply.tool_calls
    reason = reply.finish_reason
    loop.report.turn(loop.turn, len(calls), loop.usage.tokens)
    if reason == BLOCKED:
        return failure(loop, "content_filter", "the provider's content filter blocked the answer")
    if calls:
        if reason in CUT:
            refuse_calls(loop, reply)
            return None
        return await perform_calls(loop, reply)
    if reason in CUT:
        message = "the answer was cut at the model's token limit; raise its max_tokens"
        return failure(loop, "truncated", message)
    return _finish(loop, reply)


async def traced_turn(loop: Loop) -> Exit | None:
    """Take a turn inside its span."""
    attributes = {"tuvl.agent.step_id": loop.call.step.id, "tuvl.agent.iteration": loop.turn}
    with loop.call.span("autonomous_agent.iteration", attributes) as span:
        before = len(loop.call_ids)
        try:
            ended = await take_turn(loop)
            if ended is not None and ended.error_type is not None:
                span.failed(ended.error_type)
            return ended
        finally:
            span.set_attribute("tuvl.agent.tokens_used", loop.usage.tokens)
            span.set_attribute("tuvl.agent.tool_calls", len(loop.call_ids) - before)


def _no_reply(loop: Loop, error: Exception) -> Exit:
    """The exit of a model call that failed."""
    count_failure(loop, error)
    if isinstance(error, ModelError):
        return failure(loop, error.type, str(error))
    return failure(loop, "llm_error", f"the model call failed: {type(error).__name__}: {error}")


def _finish(loop: Loop, reply: ChatReply) -> Exit:
    content = reply.content if isinstance(reply.content, str) else ""
    try:
        answer = read_answer(content, loop.agent.outcomes)
    except NoAnswer as problem:
        return failure(loop, "invalid_outcome", str(problem))
    return Exit(answer.signal, answer.value)
