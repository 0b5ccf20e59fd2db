"""Ranges and choices that a field declares beyond its type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tuvl_core.structure import codes
from tuvl_core.structure.problems import Problem, ProblemsError, shown
from tuvl_core.structure.scalars import not_allowed
from tuvl_core.templates import Template

if TYPE_CHECKING:
    from tuvl_core.structure.fields import Meaning

__all__ = ["check_value"]


def check_value(result: Any, written: Any, meaning: Meaning) -> None:
    """Check a value against its field's `min`, `max` and `choices`.

    Args:
        result: The typed value; a template is checked only if it is constant.
        written: What the file holds, for the message.
        meaning: What the field declares.

    Raises:
        ProblemsError: It is outside.
    """
    if isinstance(result, Template):
        if not result.constant:
            return
        result = result.render({})
    if result is None:
        return
    if meaning.choices:
        for item in result if isinstance(result, (list, tuple, set, frozenset)) else (result,):
            if item not in meaning.choices:
                raise not_allowed(item if item is not result else written, meaning.choices)
    _check_range(result, written, meaning)


def _check_range(result: Any, written: Any, meaning: Meaning) -> None:
    is_number = isinstance(result, (int, float)) and not isinstance(result, bool)
    if not is_number and not hasattr(result, "__len__"):
        return
    size = result if is_number else len(result)
    low, above, high = meaning.min, meaning.above, meaning.max
    if (low is None or size >= low) and (above is None or size > above) and (high is None or size <= high):
        return
    named = (("at least", low), ("more than", above), ("at most", high))
    bounds = " and ".join(f"{word} {bound:g}" for word, bound in named if bound is not None)
    what = shown(written) if is_number else f"a length of {size}"
    message = f"must be {bounds}, got {what}" if is_number else f"must have {bounds}, got {what}"
    raise ProblemsError(Problem(code=codes.BAD_VALUE, message=message))
