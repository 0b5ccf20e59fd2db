"""A local model, asked over llama.cpp's OpenAI-compatible API."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Literal

from tuvl_model_local.server import LocalServer, server_for
from tuvl_model_local.weights import find_weights
from tuvl_models import ChatReply, ChatRequest, ModelError, ModelSettings, ToolCall, Usage

__all__ = ["LocalModel"]


class LocalModel:
    """A GGUF model on this machine.

    Args:
        settings: What it is: `local/smollm2-135m` or `local/<path to a .gguf>`.
    """

    tool_calling: Literal["native", "schema"] = "schema"

    def __init__(self, settings: ModelSettings) -> None:
        self._settings = settings

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Ask once; starts the server when it is first asked."""
        server = await asyncio.to_thread(self._running)
        answer = await _post(f"{server.url}/v1/chat/completions", self._body(request))
        return _reply(answer, self._settings.model)

    def _running(self) -> LocalServer:
        project = self._settings.project
        context, threads = 8192, 0
        if project is not None:
            context = project.settings["local.context_tokens"]
            threads = project.settings["local.threads"]
        return server_for(find_weights(self._settings), context, threads)

    def _body(self, request: ChatRequest) -> dict[str, Any]:
        settings = self._settings
        body: dict[str, Any] = {"messages": request.messages, "cache_prompt": True}
        values = {
            "temperature": request.temperature if request.temperature is not None else settings.temperature,
            "max_tokens": request.max_tokens if request.max_tokens is not None else settings.max_tokens,
            "response_format": request.response_format,
            "tools": list(request.tools) or None,
        }
        return {**body, **{name: value for name, value in values.items() if value is not None}}


async def _post(url: str, body: dict[str, Any]) -> dict[str, Any]:
    import httpx

    # The limit of the call as a whole stands around this; no proxy stands between us and loopback. It is plain HTTP,
    # so no certificates are loaded either, which would take longer than everything else here.
    try:
        async with httpx.AsyncClient(timeout=None, trust_env=False, verify=False) as client:  # noqa: S501
            response = await client.post(url, json=body)
    except httpx.HTTPError as error:
        text = f"the local model's server went away: {type(error).__name__}: {error}"
        raise ModelError(text, retryable=True) from None
    if response.status_code != 200:
        said = _said(response.text)
        # Not every JSON Schema can be turned into one of llama.cpp's grammars.
        refused = response.status_code == 400 and ("grammar" in said.lower() or "schema" in said.lower())
        raise ModelError(f"the local model answered {response.status_code}: {said}", schema_refused=refused)
    answer: dict[str, Any] = response.json()
    return answer


def _said(text: str) -> str:
    try:
        error = json.loads(text)["error"]
        said = str(error["message"])
    except (ValueError, LookupError, TypeError):
        return text[:300]
    if error.get("type") == "exceed_context_size_error":
        said = f"{said.partition(',')[0]}; raise `context_tokens` under `[local]` in tuvl.toml"
    return said[:300]


def _reply(answer: dict[str, Any], model: str) -> ChatReply:
    try:
        choice, usage = answer["choices"][0], answer["usage"]
        message = choice["message"]
        calls = tuple(
            ToolCall(id=c.get("id"), name=c["function"]["name"], arguments=c["function"]["arguments"])
            for c in message.get("tool_calls") or ()
        )
        return ChatReply(
            content=message.get("content"),
            tool_calls=calls,
            finish_reason=choice["finish_reason"],
            usage=Usage(
                prompt_tokens=usage["prompt_tokens"],
                completion_tokens=usage["completion_tokens"],
                total_tokens=usage["total_tokens"],
            ),
            model=model,
        )
    except (LookupError, TypeError) as error:
        raise ModelError(f"the local model answered in an unknown form: {error!r}") from None
