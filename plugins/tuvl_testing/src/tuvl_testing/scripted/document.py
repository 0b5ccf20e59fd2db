"""The document ScriptedModel: a script in YAML."""

from __future__ import annotations

from typing import Any, Literal

import attrs

from tuvl_core import field as key

__all__ = ["ScriptedModelSpec", "TurnSpec"]


@attrs.frozen(kw_only=True)
class UsageSpec:
    """The tokens of a turn."""

    prompt_tokens: int = key(default=0, min=0, doc="Tokens of the question.")
    completion_tokens: int = key(default=0, min=0, doc="Tokens of the answer.")
    total_tokens: int | None = key(default=None, min=0, doc="Together; their sum if not given.")


@attrs.frozen(kw_only=True)
class CallSpec:
    """A tool call of a turn."""

    name: str = key(
        source_text=True, doc="The tool's name as the model sees it: the ref, where that is short and plain."
    )
    arguments: Any = key(
        factory=dict,
        doc="A mapping, or raw text. `{$context: path}` in it stands for a value of the first message's context.",
    )
    id: str | None = key(default=None, source_text=True, doc="The call's id; made up if not given.")


@attrs.frozen(kw_only=True)
class AnswerSpec:
    """A final answer."""

    outcome: str | None = key(default=None, source_text=True, doc="One of the agent's outcomes.")
    result: Any = key(
        default=None, doc="What goes to the output key. `{$result: path}` stands for a value of the last tool result."
    )


@attrs.frozen(kw_only=True)
class TurnSpec:
    """One turn: what the model says, asks for, or fails with."""

    calls: tuple[CallSpec, ...] = key(default=(), doc="The tools it calls.")
    content: str | None = key(default=None, prose=True, doc="What it says.")
    answer: AnswerSpec | None = key(default=None, doc="Its final answer.")
    error: str | None = key(default=None, doc="It fails with this message.")
    type: Literal["llm_error", "llm_timeout", "content_filter"] = key(
        default="llm_error", doc="The type of that failure."
    )
    retryable: bool = key(default=False, doc="Whether another try is to be made after it.")
    delay: float = key(default=0.0, min=0, doc="Seconds before it answers.")
    usage: UsageSpec | None = key(default=None, doc="Its tokens; 10 and 5 if not given.")
    no_usage: bool = key(default=False, doc="The provider tells no tokens.")
    finish_reason: str | None = key(default=None, doc="Why it ended, such as `length`.")


@attrs.frozen(kw_only=True)
class ScriptedModelSpec:
    """A model that says a script. It is no language model; tests and demos use it in place of one."""

    turns: tuple[TurnSpec, ...] = key(min=1, doc="What it says, turn by turn.")
    then: Literal["error", "last", "cycle"] = key(default="error", doc="What follows the last turn.")
