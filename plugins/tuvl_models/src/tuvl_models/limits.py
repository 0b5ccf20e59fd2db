"""What one call of a model can take at most, told by whoever serves it, before anybody asks it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from tuvl_models.family import find_family

if TYPE_CHECKING:
    from tuvl_core import Project
    from tuvl_models.document import ModelSettings

__all__ = ["ModelLimits", "model_limits"]


@attrs.frozen(kw_only=True)
class ModelLimits:
    """The most that one call of a model takes. None: not known.

    Attributes:
        prompt_tokens: The most tokens of a question.
        answer_tokens: The most tokens of an answer; `max_tokens` of the settings is known to the family.
        window: The most tokens of both together, where that is less than their sum.
        tool_calls: The most tool calls in one answer; None: each takes a token of it at least.
        usd_per_prompt_token: The dearest price of a token of the question.
        usd_per_answer_token: The dearest price of a token of the answer.
        source: Where prices and sizes come from, for people.
    """

    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    window: int | None = None
    tool_calls: int | None = None
    usd_per_prompt_token: float | None = None
    usd_per_answer_token: float | None = None
    source: str = ""

    @property
    def call_tokens(self) -> int | None:
        """The most tokens of one call, question and answer together."""
        both = None
        if self.prompt_tokens is not None and self.answer_tokens is not None:
            both = self.prompt_tokens + self.answer_tokens
        known = [tokens for tokens in (both, self.window) if tokens is not None]
        return min(known, default=None)

    @property
    def calls_in_an_answer(self) -> int | None:
        """The most tool calls that one answer asks for."""
        if self.tool_calls is not None:
            return self.tool_calls
        known = [tokens for tokens in (self.answer_tokens, self.window) if tokens is not None]
        return min(known, default=None)

    @property
    def usd_per_call(self) -> float | None:
        """The most US dollars of one call."""
        asked, answered = self.usd_per_prompt_token, self.usd_per_answer_token
        if asked is None or answered is None:
            return None
        if asked == answered == 0:
            return 0.0
        prompt = self.prompt_tokens if self.prompt_tokens is not None else self.window
        answer = self.answer_tokens if self.answer_tokens is not None else self.window
        return prompt * asked + answer * answered if prompt is not None and answer is not None else None


def model_limits(project: Project, settings: ModelSettings) -> ModelLimits:
    """What one call of a model can take at most, as far as its family tells; else nothing is known.

    Args:
        project: The project.
        settings: The model's.

    Raises:
        ProjectError: Nothing that is installed serves it.
    """
    tell = find_family(project, settings.model).limits
    return tell(settings) if tell is not None else ModelLimits()
