"""What values mean in expressions: their truth, their order, their text, and secrets among them.

These rules are the only ones: conditions, `and`, `or`, `not`, inline `if`, comparisons and filters
all follow them, and so does a kind that compares values by `compare`.

- **Truth.** The texts `true` and `false` count as booleans, so `"false"` is false. Any other text
  is true unless it is empty; numbers, lists, mappings and null as in Python.
- **Numbers in text.** A text that is written as a plain decimal number (`12`, `-0.5`; no leading
  zero, no exponent, no blanks) compares as that number. `007` is no number, it is text.
- **Booleans in text.** Beside a boolean, the texts `true` and `false` are equal to it.
- **Text.** null is `null`, booleans are `true` and `false`, mappings and lists are JSON, everything
  else is its wire form.
"""

from __future__ import annotations

import datetime as dt
import operator
import re
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from decimal import Decimal
from typing import Any, Final

from tuvl_core.codec import to_wire, wire_dumps
from tuvl_core.errors import CodecError, StepError
from tuvl_core.views import Secret, contains_secret, open_secrets

__all__ = [
    "compare",
    "contains",
    "describe",
    "equal",
    "is_empty",
    "number_from",
    "number_in",
    "opened",
    "ordered",
    "plain",
    "same_scale",
    "text_of",
    "truth",
]

Number = int | float | Decimal

_LEAVES: Final = frozenset({str, int, float, bool, type(None)})
_MAX_DIGITS: Final = 400
_FEW_BITS: Final = 1_000
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_ANY_NUMBER: Final = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?")
_BOOLEANS: Final = {"true": True, "false": False}
_MOMENTS: Final = (dt.datetime, dt.date, dt.time, dt.timedelta)


def truth(value: Any) -> bool:
    """Whether a value counts as true; of a secret, whether what it hides does."""
    value = plain(value)
    if isinstance(value, str):
        return _BOOLEANS.get(value, value != "")
    return bool(value)


def is_empty(value: Any) -> bool:
    """Whether a value is null, or a text, list or mapping with nothing in it."""
    value = plain(value)
    return value is None or (hasattr(value, "__len__") and len(value) == 0)


def plain(value: Any) -> Any:
    """Give what a secret hides; other values, and secrets inside them, stay as they are.

    Raises:
        StepError: The secret comes from a record, which does not hold its value.
    """
    if not isinstance(value, Secret):
        return value
    try:
        return value.reveal()
    except CodecError as problem:
        raise StepError(str(problem)) from None


def opened(value: Any) -> tuple[Any, bool]:
    """Open every secret in a value, and tell whether there was one.

    What is then computed from the value has to become a secret again.

    Raises:
        StepError: The value has no end.
    """
    if type(value) in _LEAVES:
        return value, False
    try:
        return (open_secrets(value), True) if contains_secret(value) else (value, False)
    except RecursionError:
        raise StepError(f"{describe(value)} is nested too deep, or holds itself") from None


def text_of(value: Any) -> str:
    """Give the text that a value has inside other text. A secret that was not opened gives `***`.

    Raises:
        CodecError: The value has no wire form.
    """
    if type(value) is str:
        return str(value)
    if type(value) is int and value.bit_length() < _FEW_BITS:
        return str(value)
    if type(value) is dict or type(value) is list:
        return wire_dumps(value)
    form = to_wire(value)
    return form if isinstance(form, str) else wire_dumps(form)


def describe(value: Any) -> str:
    """Name the kind of a value for an error message, which never shows the value itself."""
    value = plain(value)
    if value is None:
        return "null"
    for kinds, name in _DESCRIPTIONS:
        if isinstance(value, kinds):
            return name
    return f"a value of type {type(value).__name__}"


_DESCRIPTIONS: Final[tuple[tuple[type | tuple[type, ...], str], ...]] = (
    (bool, "a boolean"),
    ((int, float, Decimal), "a number"),
    (str, "text"),
    (Mapping, "a mapping"),
    ((list, tuple), "a list"),
    (AbstractSet, "a set"),
    (_MOMENTS, "a date or time"),
)


def number_in(value: Any) -> Number | None:
    """Give the number that a value is, or that a text is written as; None for anything else."""
    if isinstance(value, (int, float, Decimal)):
        return None if isinstance(value, bool) else value
    if isinstance(value, str) and len(value) <= _MAX_DIGITS and _NUMBER.fullmatch(value):
        return Decimal(value) if "." in value else int(value)
    return None


def number_from(text: str) -> Number | None:
    """Read a number from text on purpose, in any common spelling; None if it is none."""
    text = text.strip()
    if len(text) > _MAX_DIGITS or not _ANY_NUMBER.fullmatch(text):
        return None
    number = Decimal(text)
    return int(number) if text.lstrip("+-").isdigit() else number


def same_scale(left: Number, right: Number) -> tuple[Number, Number]:
    """Bring a float beside a Decimal to the decimal number that its text shows."""
    if isinstance(left, Decimal) and isinstance(right, float):
        return left, Decimal(repr(right))
    if isinstance(left, float) and isinstance(right, Decimal):
        return Decimal(repr(left)), right
    return left, right


def equal(left: Any, right: Any) -> bool:
    """Whether two values are equal by the rules of expressions."""
    left, right = plain(left), plain(right)
    if isinstance(left, str) and isinstance(right, str) and left == right:
        return True
    if isinstance(left, str) or isinstance(right, str):
        return _equal_with_text(left, right)
    if isinstance(left, (float, Decimal)) and isinstance(right, (float, Decimal)):
        left, right = same_scale(left, right)
    return bool(open_secrets(left) == open_secrets(right))


def _equal_with_text(left: Any, right: Any) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        flag, text = (left, right) if isinstance(left, bool) else (right, left)
        return _BOOLEANS.get(text) is flag
    first, second = number_in(left), number_in(right)
    if first is None or second is None:
        return False
    first, second = same_scale(first, second)
    return first == second


def ordered(left: Any, right: Any) -> tuple[Any, Any]:
    """Give two values in a form that has an order.

    Raises:
        StepError: They have none.
    """
    left, right = plain(left), plain(right)
    first, second = number_in(left), number_in(right)
    if first is not None and second is not None:
        return same_scale(first, second)
    if isinstance(left, str) and isinstance(right, str):
        return left, right
    if isinstance(left, _MOMENTS) and type(left) is type(right):
        return left, right
    raise StepError(f"{describe(left)} and {describe(right)} have no order")


def contains(container: Any, item: Any) -> bool:
    """Whether a list holds an equal item, a mapping such a key, or a text such a part.

    Raises:
        StepError: The container is nothing that holds something.
    """
    container, item = plain(container), plain(item)
    if isinstance(container, str):
        if not isinstance(item, str):
            raise StepError(f"text holds only text, not {describe(item)}")
        return item in container
    if isinstance(container, Mapping):
        return isinstance(item, str) and item in container
    if isinstance(container, (list, tuple, AbstractSet)):
        return any(equal(item, member) for member in container)
    raise StepError(f"{describe(container)} holds nothing to look for")


def _in_order(by: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda left, right: by(*ordered(left, right))


_COMPARISONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "eq": equal,
    "neq": lambda left, right: not equal(left, right),
    "gt": _in_order(operator.gt),
    "gte": _in_order(operator.ge),
    "lt": _in_order(operator.lt),
    "lte": _in_order(operator.le),
    "in": lambda left, right: contains(right, left),
    "contains": contains,
}


def compare(name: str, left: Any, right: Any) -> bool:
    """Compare two values by the rules of expressions; secrets by what they hide.

    Args:
        name: `eq neq gt gte lt lte in contains`.
        left: The value in question.
        right: What to compare it with.

    Raises:
        StepError: The two cannot be compared in that way.
    """
    try:
        return _COMPARISONS[name](left, right)
    except (ArithmeticError, TypeError, RecursionError) as problem:
        # Dates with and without a zone, NaN among decimals, data that is nested without end.
        raise StepError(
            f"{describe(left)} and {describe(right)} cannot be compared: {type(problem).__name__}"
        ) from None
