"""The span around a model call, by the GenAI semantic conventions; only for runs that are traced."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from tuvl_core import StepCall
from tuvl_models import BoundModel, ChatReply, ChatRequest

__all__ = ["traced_completion"]


async def traced_completion(
    call: StepCall,
    model: BoundModel,
    request: ChatRequest,
    name: str,
    complete: Callable[[ChatRequest], Awaitable[ChatReply]] | None = None,
) -> Any:
    """Ask a model inside a span of its own.

    Args:
        call: The step's call.
        model: Whom.
        request: What.
        name: The segment of the effect's key.
        complete: What does it, where that is more than the model's own `complete`.
    """
    asked = str(model.settings.model)
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": asked.partition("/")[0],
        "gen_ai.request.model": asked,
    }
    if request.temperature is not None:
        attributes["gen_ai.request.temperature"] = request.temperature
    if request.max_tokens is not None:
        attributes["gen_ai.request.max_tokens"] = request.max_tokens
    with call.span(f"chat {asked}", attributes) as span:
        reply = await call.effect(name, complete or model.complete, request, kind="model")
        if isinstance(reply, ChatReply):
            _describe(span, reply)
        return reply


def _describe(span: Any, reply: ChatReply) -> None:
    if reply.model:
        span.set_attribute("gen_ai.response.model", reply.model)
    if reply.finish_reason:
        span.set_attribute("gen_ai.response.finish_reasons", [reply.finish_reason])
    if reply.usage is not None:
        span.set_attribute("gen_ai.usage.input_tokens", reply.usage.prompt_tokens)
        span.set_attribute("gen_ai.usage.output_tokens", reply.usage.completion_tokens)
