"""How many tokens a conversation has, where the provider does not tell."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from tuvl_models.bound import BoundModel
from tuvl_models.chat import ChatReply

__all__ = ["estimate_tokens"]

CHARACTERS_PER_TOKEN: Final = 4
"""English text has about four characters a token with every common tokenizer."""
PER_MESSAGE: Final = 4
"""What role and separators add to each message."""


def estimate_tokens(model: BoundModel, messages: Iterable[Mapping[str, Any]], reply: ChatReply | None) -> int:
    """Estimate the tokens of messages and of a reply together.

    The model's own tokenizer counts where it has one; else four characters are a token, rounded up,
    and each message adds four.
    """
    count = getattr(model.chat, "count_tokens", None) or _by_length
    total = sum(PER_MESSAGE + _message(message, count) for message in messages)
    if reply is not None:
        total += PER_MESSAGE + count(reply.content or "")
        for call in reply.tool_calls:
            total += count(str(call.name)) + count(_text(call.arguments))
    return total


def _message(message: Mapping[str, Any], count: Callable[[str], int]) -> int:
    total = count(_text(message.get("content")))
    for call in message.get("tool_calls") or ():
        total += count(_text(call["function"]))
    return total


def _text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, default=str)


def _by_length(text: str) -> int:
    return -(-len(text) // CHARACTERS_PER_TOKEN)
