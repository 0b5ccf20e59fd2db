"""Calculation within bounds: what an expression computes stays small, whatever it is made of."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from tuvl_core.errors import StepError
from tuvl_core.templates.values import describe, same_scale

__all__ = [
    "MAX_ITEMS",
    "MAX_TEXT",
    "bounded",
    "calculate",
    "negate",
    "numeric",
    "total_length",
]

MAX_TEXT: Final = 1_000_000
"""The most characters that an expression, or a rendered template, produces."""
MAX_ITEMS: Final = 100_000
"""The most items of a list that an expression puts together."""
_MAX_BITS: Final = 10_000

_OPERATIONS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
}


def total_length(count: int) -> int:
    """Refuse a length beyond the limit, before text of that length is made."""
    if count > MAX_TEXT:
        raise StepError(f"the text would be {count} characters long; the limit is {MAX_TEXT}")
    return count


def bounded(text: str) -> str:
    """Refuse text beyond the limit."""
    total_length(len(text))
    return text


def numeric(value: Any) -> Any:
    """Demand a number of a size that is of use."""
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        raise StepError(f"{describe(value)} stands where a number is needed")
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        raise StepError("a whole number is too large to calculate with")
    return value


def calculate(sign: str, left: Any, right: Any) -> Any:
    """Apply an operator. Numbers only, except that `+` also joins two texts or two lists.

    Repeating and formatting text, which could make anything of any size, are thereby out.
    """
    if sign == "+":
        if isinstance(left, str) and isinstance(right, str):
            total_length(len(left) + len(right))
            return left + right
        if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
            return _joined(left, right)
    if _is_number(left) and _is_number(right):
        first, second = same_scale(numeric(left), numeric(right))
        if not second and sign in ("/", "//", "%"):
            raise StepError("a division by zero")
        return numeric(_OPERATIONS[sign](first, second))
    raise StepError(f"`{sign}` has no meaning between {describe(left)} and {describe(right)}")


def negate(value: Any) -> Any:
    """Change a number's sign."""
    return -numeric(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def _joined(left: list[Any] | tuple[Any, ...], right: list[Any] | tuple[Any, ...]) -> list[Any]:
    count = len(left) + len(right)
    if count > MAX_ITEMS:
        raise StepError(f"the list would have {count} items; the limit is {MAX_ITEMS}")
    return [*left, *right]
