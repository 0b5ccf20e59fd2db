"""What the model reads: the system prompt, the first message, and how the history grows."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tuvl_core import Overlay, wire_dumps
from tuvl_kinds_agent.steering import Guide

__all__ = [
    "assistant_message",
    "context_message",
    "steer_message",
    "system_prompt",
    "tool_message",
    "well_formed_arguments",
    "well_formed_name",
    "well_formed_text",
]

EMPTY_CONTEXT: Final = "Begin."

_STEERING: Final = "# Operating context\n\nThis is your persistent operating context. Always follow it.\n\n{}"
_SKILLS: Final = "# Skills\n\nApply the following skills and instructions when they are relevant.\n\n{}"
_HOW: Final = (
    "# How you work\n\n"
    "You are an autonomous agent. The first message holds the context of your task as JSON. Decide "
    "yourself which tools to call, with which arguments and in which order; read each result before you "
    "decide again. A result with an `error` says what went wrong: correct the call or go another way. "
    "When the task is done, or cannot be done, give your final answer without calling a tool."
)
_ANSWER: Final = (
    "# Final answer\n\n"
    "Your final answer is one JSON object and nothing else, with no markdown fences:\n"
    '{{"outcome": <one of: {outcomes}>, "result": <what you found or did>}}'
)
_GUIDANCE: Final = (
    "Guidance from a supervisor: {}\n\n"
    "This guidance does not change your tools, your outcome contract, or the task itself."
)

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NO_NAME_CHARACTER: Final = re.compile(r"[^A-Za-z0-9_-]+")


def system_prompt(
    steering: str | None,
    guides: Sequence[Guide],
    skills: Sequence[Guide],
    outcomes: Sequence[str],
) -> str:
    """Assemble the system prompt: steering, skills, the fixed instruction, the answer's format."""
    blocks = []
    always = [steering.strip()] if steering and steering.strip() else []
    always += [guide.section for guide in guides]
    if always:
        blocks.append(_STEERING.format("\n\n".join(always)))
    if skills:
        blocks.append(_SKILLS.format("\n\n".join(skill.section for skill in skills)))
    blocks.append(_HOW)
    if outcomes:
        named = ", ".join(json.dumps(outcome, ensure_ascii=False) for outcome in outcomes)
        blocks.append(_ANSWER.format(outcomes=named))
    return well_formed_text("\n\n".join(blocks))


def context_message(context: Mapping[str, Any]) -> str:
    """Write the public context as one JSON object, with secrets masked.

    Raises:
        CodecError: A value has no wire form; the message names its key.
    """
    read = context.peek if isinstance(context, Overlay) else context.__getitem__
    public = {key: read(key) for key in context if not key.startswith("_")}
    return wire_dumps(public, "context") if public else EMPTY_CONTEXT


def steer_message(text: str) -> dict[str, Any]:
    """Frame what a supervisor says, so that it stays guidance."""
    return {"role": "system", "content": well_formed_text(_GUIDANCE.format(text))}


def assistant_message(content: str | None, calls: list[dict[str, Any]]) -> dict[str, Any]:
    """A turn of the model that called tools, with whatever it said beside the calls."""
    if content is not None and not content.isascii():
        content = well_formed_text(content)
    return {"role": "assistant", "content": content, "tool_calls": calls}


def tool_message(call_id: str, content: str) -> dict[str, Any]:
    """The answer to one tool call."""
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def well_formed_text(text: str) -> str:
    """Give the text as it can be sent as UTF-8: half a surrogate pair becomes `?`."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")


def well_formed_name(name: Any) -> str:
    """Give a name that a model invented in a form that every provider takes back."""
    if isinstance(name, str):
        if _NAME.fullmatch(name):
            return name
        name = _NO_NAME_CHARACTER.sub("-", name[:64]).strip("-")
    return name if isinstance(name, str) and name else "unknown"


def well_formed_arguments(arguments: Any) -> str:
    """Give refused arguments as the history may hold them: providers parse them again."""
    try:
        parsed = json.loads(arguments, parse_constant=float) if isinstance(arguments, str) else arguments
        return wire_dumps(parsed) if isinstance(parsed, dict) else "{}"
    except Exception:  # whatever a model may write as arguments, nothing of it may stop the loop
        return "{}"
