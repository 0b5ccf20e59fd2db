"""Model calls by the GenAI semantic conventions: their spans and metrics, only where somebody looks.

https://opentelemetry.io/docs/specs/semconv/gen-ai/ (version 1.41; the conventions are still being developed).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Any, Final

from tuvl_core import StepCall, histogram
from tuvl_models import BoundModel, ChatReply, ChatRequest

__all__ = ["observed_completion"]

_PROVIDERS: Final = {
    "azure": "azure.ai.openai",
    "azure_ai": "azure.ai.inference",
    "bedrock": "aws.bedrock",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "vertex_ai": "gcp.vertex_ai",
    "watsonx": "ibm.watsonx.ai",
    "xai": "x_ai",
}
"""What the conventions call providers that models are named after differently."""
_OTHER: Final = "_OTHER"
_METER: Final = "tuvl.gen_ai"
TOKENS: Final = histogram(
    _METER,
    "gen_ai.client.token.usage",
    unit="{token}",
    description="Number of input and output tokens used.",
    boundaries=[4.0**power for power in range(14)],
)
DURATION: Final = histogram(
    _METER,
    "gen_ai.client.operation.duration",
    unit="s",
    description="GenAI operation duration.",
    boundaries=[0.01 * 2**power for power in range(14)],
)


async def observed_completion(
    call: StepCall,
    model: BoundModel,
    request: ChatRequest,
    name: str,
    complete: Callable[[ChatRequest], Awaitable[ChatReply]] | None = None,
) -> Any:
    """Ask a model inside a span of its own, and measure it.

    Args:
        call: The step's call.
        model: Whom.
        request: What.
        name: The segment of the effect's key.
        complete: What does it, where that is more than the model's own `complete`.
    """
    common = _common(str(model.settings.model))
    asked = common["gen_ai.request.model"]
    began = perf_counter()
    failure: str | None = None
    reply: Any = None
    try:
        with call.span(f"chat {asked}", {**common, **_wishes(request)}, client=True) as span:
            reply = await call.effect(name, complete or model.complete, request, kind="model")
            if isinstance(reply, ChatReply):
                _describe(span, reply)
            return reply
    except BaseException as error:
        kind = getattr(error, "type", None)
        failure = kind if isinstance(kind, str) else type(error).__name__
        raise
    finally:
        if call.run.measured:
            _measure(common, reply, perf_counter() - began, failure)


def _common(model: str) -> dict[str, Any]:
    """What tells one kind of call from another: few values each."""
    provider, slash, asked = model.partition("/")
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": _PROVIDERS.get(provider, provider) if slash else _OTHER,
        "gen_ai.request.model": asked if slash else model,
    }


def _wishes(request: ChatRequest) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if request.temperature is not None:
        found["gen_ai.request.temperature"] = request.temperature
    if request.max_tokens is not None:
        found["gen_ai.request.max_tokens"] = request.max_tokens
    if request.response_format is not None:
        found["gen_ai.output.type"] = "json"
    return found


def _describe(span: Any, reply: ChatReply) -> None:
    if reply.model:
        span.set_attribute("gen_ai.response.model", reply.model)
    if reply.finish_reason:
        span.set_attribute("gen_ai.response.finish_reasons", [reply.finish_reason])
    if reply.usage is not None:
        span.set_attribute("gen_ai.usage.input_tokens", reply.usage.prompt_tokens)
        span.set_attribute("gen_ai.usage.output_tokens", reply.usage.completion_tokens)


def _measure(common: dict[str, Any], reply: Any, seconds: float, failure: str | None) -> None:
    DURATION.record(seconds, common if failure is None else {**common, "error.type": failure})
    usage = reply.usage if isinstance(reply, ChatReply) else None
    if usage is not None:
        TOKENS.record(usage.prompt_tokens, {**common, "gen_ai.token.type": "input"})
        TOKENS.record(usage.completion_tokens, {**common, "gen_ai.token.type": "output"})
