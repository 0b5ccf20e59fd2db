"""A question to a language model, and its answer.

Messages have the form of OpenAI's chat API, which every provider's library takes: `role` is `system`,
`user`, `assistant` or `tool`; an assistant's `tool_calls` and the `tool_call_id` of their answers pair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

import attrs

from tuvl_core import register_lossless

__all__ = ["ChatModel", "ChatReply", "ChatRequest", "ToolCall", "Usage"]


@attrs.define(kw_only=True, eq=False)
class ChatRequest:
    """What a model is asked.

    Attributes:
        messages: The history so far. It belongs to the caller: a model must not change it.
        tools: Function specifications in the form of OpenAI's API.
        outcomes: The values that the final answer's `outcome` may have; empty: any answer will do.
        temperature: Overrides the model's own setting.
        max_tokens: The most tokens of the answer; overrides the model's own setting.
        timeout_s: Seconds for the call with all its attempts; None: the model's own setting.
        response_format: What the answer has to be, in the form of OpenAI's `response_format`.
    """

    messages: list[dict[str, Any]]
    tools: Sequence[Mapping[str, Any]] = ()
    outcomes: Sequence[str] = ()
    temperature: float | None = None
    max_tokens: int | None = None
    timeout_s: float | None = None
    response_format: Mapping[str, Any] | None = None


@attrs.define(kw_only=True)
class ToolCall:
    """A tool call that a model asks for.

    Attributes:
        id: The provider's id; anything, even missing or taken.
        name: The tool's name on the wire.
        arguments: The arguments as the model wrote them: JSON text, or what a provider parsed.
    """

    id: Any
    name: Any
    arguments: Any = None


@attrs.define(kw_only=True)
class Usage:
    """Tokens of one response, as the provider counts them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0


@attrs.define(kw_only=True)
class ChatReply:
    """What a model answered.

    Attributes:
        content: Its text, or None.
        tool_calls: The calls it asks for, in order.
        finish_reason: Why it ended: `stop`, `tool_calls`, `length`, `content_filter`.
        usage: Its tokens; None where the provider does not tell.
        model: The model that answered, as the provider names it.
        attempts: How many calls it took.
    """

    content: str | None = None
    tool_calls: Sequence[ToolCall] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    model: str | None = None
    attempts: int = 1


class ChatModel(Protocol):
    """A language model that can be asked. One instance serves every run, several at once.

    A model may also have `count_tokens(text) -> int`, its tokenizer; without it tokens are estimated
    from the length of texts where the provider reports no usage.
    """

    @property
    def tool_calling(self) -> Literal["native", "schema"]:
        """How it is offered tools: `native`: as the provider's tools; `schema`: as one JSON Schema."""
        ...

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Ask once: no retries and no time limit of its own.

        Raises:
            ModelError: It could not answer; says whether another try may help.
        """
        ...


def _plain(value: Any) -> dict[str, Any]:
    return attrs.asdict(value, recurse=False)


def _reply(data: dict[str, Any]) -> ChatReply:
    return ChatReply(**{**data, "tool_calls": tuple(data["tool_calls"])})


register_lossless(ToolCall, "tuvl.tool_call", _plain, lambda data: ToolCall(**data))
register_lossless(Usage, "tuvl.usage", _plain, lambda data: Usage(**data))
register_lossless(ChatReply, "tuvl.reply", _plain, _reply)
