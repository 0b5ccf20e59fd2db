"""From a model's last words to the exit it chose and the value it leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import attrs

from tuvl_models import distinct_objects, find_objects, read_list, without_reasoning

__all__ = ["RESERVED_EXITS", "Answer", "NoAnswer", "read_answer"]

RESERVED_EXITS: Final = ("max_iterations", "budget_exceeded", "error", "aborted")
"""Exits that the engine alone decides; no model can choose them."""

_PREVIEW: Final = 80


@attrs.frozen
class Answer:
    """How the model ended its work.

    Attributes:
        signal: The exit it chose; `default` where none is declared.
        value: What goes to the output key.
    """

    signal: str
    value: Any


class NoAnswer(Exception):
    """The text holds no answer, several, or one that names no declared exit."""


def read_answer(text: str, exits: Sequence[str]) -> Answer:
    """Read a final answer.

    Args:
        text: What the model wrote.
        exits: The exits it may choose from; none: it just answers.

    Raises:
        NoAnswer: With what is wrong, for people.
    """
    return _chosen(text, exits) if exits else _free(text)


def _chosen(text: str, exits: Sequence[str]) -> Answer:
    answers = distinct_objects(item for item in find_objects(text) if "outcome" in item)
    allowed = ", ".join(exits)
    if not answers:
        raise NoAnswer(f"the final answer holds no complete JSON object with an outcome (one of: {allowed})")
    if len(answers) > 1:
        raise NoAnswer(f"the final answer holds {len(answers)} answers that contradict each other")
    answer = answers[0]
    outcome = answer["outcome"]
    signal = outcome.strip() if isinstance(outcome, str) else None
    if signal is None or signal not in exits or signal in RESERVED_EXITS:
        raise NoAnswer(f"the outcome {_preview(outcome)} is none of the declared ones: {allowed}")
    return Answer(signal, answer.get("result", answer))


def _free(text: str) -> Answer:
    """Without declared exits text is an answer too; one object in it is the answer itself."""
    objects = find_objects(text)
    answers = distinct_objects(item for item in objects if "result" in item or "outcome" in item)
    if len(answers) > 1:
        raise NoAnswer(f"the final answer holds {len(answers)} answers that contradict each other")
    if not answers and len(objects) == 1:
        answers = objects
    if answers:
        return Answer("default", answers[0].get("result", answers[0]))
    shown = without_reasoning(text)
    listed = read_list(shown)
    return Answer("default", shown if listed is None else listed)


def _preview(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= _PREVIEW else f"{shown[:_PREVIEW]}…"
