"""One model, asked through `litellm.acompletion`."""

from __future__ import annotations

import os
from typing import Any, Literal

from tuvl_model_litellm.failures import as_model_error
from tuvl_model_litellm.library import library
from tuvl_models import ChatReply, ChatRequest, ModelError, ModelSettings, ToolCall, Usage

__all__ = ["LiteLLMModel", "base_of"]

NO_KEY = "none"
"""Sent where an OpenAI-compatible server of one's own is asked, and no key is set: the client wants one."""


class LiteLLMModel:
    """A model of any provider that LiteLLM knows.

    Args:
        settings: What it is; the project's environment gives key and base URL where the settings do not.
    """

    tool_calling: Literal["native", "schema"] = "native"

    def __init__(self, settings: ModelSettings) -> None:
        self._settings = settings
        self._fixed = _fixed(settings)

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Ask once."""
        litellm = await library()
        try:
            response = await litellm.acompletion(**self._arguments(request))
        except Exception as error:
            raise as_model_error(litellm, error, self._settings.model) from None
        return _reply(response, self._settings.model)

    def count_tokens(self, text: str) -> int:
        """Tokens of a text, with the tokenizer that LiteLLM brings for the model."""
        import litellm

        return int(litellm.token_counter(model=self._settings.model, text=text)) if text else 0

    def _arguments(self, request: ChatRequest) -> dict[str, Any]:
        arguments = {**self._fixed, "messages": request.messages}
        if request.tools:
            arguments["tools"] = list(request.tools)
        if request.temperature is not None:
            arguments["temperature"] = request.temperature
        if request.max_tokens is not None:
            arguments["max_tokens"] = request.max_tokens
        if request.response_format is not None:
            arguments["response_format"] = dict(request.response_format)
        return arguments


def _fixed(settings: ModelSettings) -> dict[str, Any]:
    """The arguments that are the same in every call."""
    fixed: dict[str, Any] = {"model": settings.model, "num_retries": 0, "max_retries": 0}
    base = base_of(settings)
    key = settings.api_key.reveal() if settings.api_key is not None else None
    key = key or _from_environment(settings, "_API_KEY")
    if key is None and base is not None and settings.model.startswith("openai/"):
        key = None if "OPENAI_API_KEY" in os.environ else NO_KEY
    values = {
        "api_base": base,
        "api_key": key,
        "temperature": settings.temperature,
        "max_tokens": settings.max_tokens,
        "timeout": settings.timeout,
    }
    return {**fixed, **{name: value for name, value in values.items() if value is not None}}


def base_of(settings: ModelSettings) -> str | None:
    """The base URL, where it is not the provider's own."""
    return settings.api_base or _from_environment(settings, "_API_BASE", "_BASE_URL")


def _from_environment(settings: ModelSettings, *endings: str) -> str | None:
    """A provider's own variable, such as OPENAI_API_KEY, also from the project's `.env`."""
    project = settings.project
    if project is None:
        return None
    prefix = settings.model.partition("/")[0].upper()
    for ending in endings:
        value = project.environment.values.get(prefix + ending)
        if value:
            return str(value)
    return None


def _reply(response: Any, model: str) -> ChatReply:
    choices = getattr(response, "choices", None)
    if not choices:
        raise ModelError(f"model {model} gave a response without choices")
    message, reason = choices[0].message, choices[0].finish_reason
    calls = tuple(
        ToolCall(id=call.id, name=call.function.name, arguments=call.function.arguments)
        for call in getattr(message, "tool_calls", None) or ()
    )
    return ChatReply(
        content=message.content,
        tool_calls=calls,
        finish_reason=reason,
        usage=_usage(getattr(response, "usage", None)),
        model=getattr(response, "model", None),
    )


def _usage(usage: Any) -> Usage | None:
    total = getattr(usage, "total_tokens", None)
    if not isinstance(total, int):
        return None
    return Usage(
        prompt_tokens=getattr(usage, "prompt_tokens", 0) or 0,
        completion_tokens=getattr(usage, "completion_tokens", 0) or 0,
        total_tokens=total,
    )
