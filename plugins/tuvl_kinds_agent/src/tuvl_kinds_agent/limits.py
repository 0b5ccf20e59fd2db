"""Tokens: counted once for each response, estimated where a provider tells nothing, and bounded."""

from __future__ import annotations

from typing import Any

from tuvl_kinds_agent.state import Exit, Loop
from tuvl_models import ChatReply, estimate_tokens

__all__ = ["count_failure", "count_reply", "over_budget"]


def over_budget(loop: Loop) -> Exit | None:
    """The exit of a loop whose budget is used up; reaching it exactly is using it up.

    Raises:
        RunLimitError: The budget of the whole run is used up.
    """
    budget = loop.agent.token_budget
    if budget is not None and (used := loop.usage.tokens) >= budget:
        return Exit(
            "budget_exceeded",
            error=f"the token budget of {budget} is used up: {used} tokens in {loop.turn - 1} turns",
            error_type="budget_exceeded",
        )
    loop.call.check_limits()
    return None


def count_reply(loop: Loop, reply: ChatReply) -> None:
    """Count a response, whatever becomes of it."""
    tokens = _reported(reply.usage)
    if tokens is None:
        tokens = _estimated(loop, reply)
    attempts = reply.attempts if isinstance(reply.attempts, int) and reply.attempts > 0 else 1
    loop.usage.add(tokens=tokens, llm_calls=1, llm_attempts=attempts)


def count_failure(loop: Loop, error: Exception) -> None:
    """Count a model call that gave no response."""
    attempts = getattr(error, "attempts", 1)
    loop.usage.add(llm_calls=1, llm_attempts=attempts if isinstance(attempts, int) else 1)


def _reported(usage: Any) -> int | None:
    """The tokens a provider tells of; None if it tells nothing that can be counted."""
    if usage is None:
        return None
    total = usage.total_tokens
    if total.__class__ is int and total > 0:
        return int(total)
    return None


def _estimated(loop: Loop, reply: ChatReply) -> int:
    """Estimate prompt and answer; what the history held before is not counted over again."""
    if not loop.warned:
        loop.warned = True
        loop.report.warn(
            "autonomous_agent.usage_estimated",
            loop.turn,
            hint="the provider reports no usage; tokens are estimated from the texts",
        )
    model = loop.agent.model
    loop.estimated += estimate_tokens(model, loop.messages[loop.estimated_upto :], None)
    loop.estimated_upto = len(loop.messages)
    return loop.estimated + estimate_tokens(model, (), reply)
