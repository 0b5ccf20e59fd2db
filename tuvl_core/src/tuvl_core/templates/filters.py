"""The filters that expressions may use: plain functions of data, each with a bounded result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal
from typing import Any, Final

from tuvl_core.codec import wire_dumps
from tuvl_core.errors import StepError, UndefinedNameError
from tuvl_core.templates.arithmetic import MAX_TEXT, bounded, calculate, numeric, total_length
from tuvl_core.templates.paths import parse_path
from tuvl_core.templates.values import describe, number_from, number_in, text_of, truth
from tuvl_core.unset import UNSET

__all__ = ["FILTERS", "Filter"]

_MAX_PLACES: Final = 15
_MAX_EXPONENT: Final = 1_000


class Filter:
    """One filter: a function and the names of its arguments.

    Args:
        apply: The function; the first argument is the value in front of the bar.
        arguments: Names of the further arguments, in order; `*name` is given by name only.
        required: How many of them have to be given.
        structural: It moves values about without looking into them, so that a secret inside a list
            stays a secret of its own. Any other filter works on opened values and gives a secret.
    """

    __slots__ = ("apply", "arguments", "required", "structural")

    def __init__(
        self,
        apply: Callable[..., Any],
        *arguments: str,
        required: int = 0,
        structural: bool = False,
    ) -> None:
        self.apply = apply
        self.arguments = arguments
        self.required = required
        self.structural = structural


# --- what filters demand ----------------------------------------------------------------------


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise StepError(f"{describe(value)} stands where text is needed")
    return bounded(value)


def _whole(value: Any, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise StepError(f"an argument has to be a whole number from {least} to {most}")
    return value


def _items(value: Any) -> Sequence[Any]:
    if isinstance(value, (list, tuple)):
        return value
    if isinstance(value, AbstractSet):
        return list(value)
    raise StepError(f"{describe(value)} stands where a list is needed")


def _picked(value: Any, attribute: Any) -> Sequence[Any]:
    """Give the items of a list, or what lies under a path of each."""
    items = _items(value)
    if attribute is None:
        return items
    path = parse_path(_text(attribute))
    picked = []
    for item in items:
        found = path.get(item)
        if found is UNSET:
            raise UndefinedNameError(f"an item of the list has no {path.source!r}")
        picked.append(found)
    return picked


# --- text -----------------------------------------------------------------------------------


def _replace(value: Any, old: Any, new: Any, count: Any = None) -> str:
    text, old, new = _text(value), _text(old), _text(new)
    most = -1 if count is None else _whole(count, 0, MAX_TEXT)
    found = text.count(old)
    found = found if most < 0 else min(found, most)
    total_length(len(text) + found * (len(new) - len(old)))
    return text.replace(old, new, most)


def _truncate(value: Any, length: Any = 255, killwords: Any = False, end: Any = "...", leeway: Any = 5) -> str:
    text, end = _text(value), _text(end)
    length = _whole(length, len(end), MAX_TEXT)
    if len(text) <= length + _whole(leeway, 0, MAX_TEXT):
        return text
    head = text[: length - len(end)]
    if not truth(killwords):
        head = head.rsplit(" ", 1)[0]
    return f"{head}{end}"


def _trim(value: Any, chars: Any = None) -> str:
    return _text(value).strip(None if chars is None else _text(chars))


def _join(value: Any, d: Any = "", attribute: Any = None) -> str:
    separator = _text(d)
    texts: list[str] = []
    length = 0
    for item in _picked(value, attribute):
        text = text_of(item)
        length = total_length(length + len(text) + len(separator))
        texts.append(text)
    return separator.join(texts)


def _of_text(change: Callable[[str], str]) -> Filter:
    return Filter(lambda value: change(_text(value)))


# --- numbers --------------------------------------------------------------------------------


def _round(value: Any, precision: Any = 0) -> Any:
    return round(numeric(value), _whole(precision, 0, _MAX_PLACES))


def _number(value: Any, default: Any, convert: Callable[[Any], Any]) -> Any:
    number = number_from(value) if isinstance(value, str) else number_in(value)
    if number is None or (isinstance(number, Decimal) and number.adjusted() > _MAX_EXPONENT):
        if default is not UNSET:
            return default
        raise StepError(f"{describe(value)} is no number, and there is no default")
    return convert(numeric(number))


def _int(value: Any, default: Any = UNSET) -> Any:
    return _number(value, default, int)


def _float(value: Any, default: Any = UNSET) -> Any:
    return _number(value, default, float)


def _sum(value: Any, attribute: Any = None, start: Any = 0) -> Any:
    total = numeric(start)
    for item in _picked(value, attribute):
        total = calculate("+", total, numeric(item))
    return total


# --- lists ----------------------------------------------------------------------------------


def _ranks(values: Sequence[Any]) -> Sequence[Any]:
    """Give values what has one order: numbers if all are, else text, else what is of one type."""
    numbers = [number_in(value) for value in values]
    if all(number is not None for number in numbers):
        return numbers
    kinds = set(map(type, values))
    if len(kinds) > 1 or kinds & {dict, list, tuple, type(None)}:
        raise StepError(f"{' and '.join(sorted(set(map(describe, values))))} have no order")
    return values


def _sort(value: Any, reverse: Any = False, attribute: Any = None) -> list[Any]:
    items = _items(value)
    ranks = _ranks(_picked(items, attribute))
    order = sorted(range(len(items)), key=ranks.__getitem__, reverse=truth(reverse))
    return [items[index] for index in order]


def _edge(value: Any, index: int) -> Any:
    items = _items(value)
    if not items:
        raise UndefinedNameError("a list is empty, so it has no item to take")
    return items[index]


def _unique(value: Any) -> list[Any]:
    # By JSON text, since items need not be hashable; 1 and true differ in it.
    return list({wire_dumps(item): item for item in reversed(_items(value))}.values())[::-1]


def _length(value: Any) -> int:
    if isinstance(value, (str, list, tuple, Mapping, AbstractSet)):
        return len(value)
    raise StepError(f"{describe(value)} has no length")


def _map(value: Any, attribute: Any) -> list[Any]:
    return list(_picked(value, attribute))


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, Mapping) else list(_items(value))


FILTERS: Final[Mapping[str, Filter]] = {
    "abs": Filter(lambda value: abs(numeric(value))),
    "capitalize": _of_text(str.capitalize),
    "count": Filter(_length, structural=True),
    "first": Filter(lambda value: _edge(value, 0), structural=True),
    "float": Filter(_float, "default"),
    "int": Filter(_int, "default"),
    "join": Filter(_join, "d", "attribute"),
    "last": Filter(lambda value: _edge(value, -1), structural=True),
    "length": Filter(_length, structural=True),
    "list": Filter(_list, structural=True),
    "lower": _of_text(str.lower),
    "map": Filter(_map, "*attribute", required=1, structural=True),
    "max": Filter(lambda value: _edge(_sort(value), -1)),
    "min": Filter(lambda value: _edge(_sort(value), 0)),
    "replace": Filter(_replace, "old", "new", "count", required=2),
    "reverse": Filter(lambda value: list(_items(value))[::-1], structural=True),
    "round": Filter(_round, "precision"),
    "sort": Filter(_sort, "reverse", "attribute"),
    "string": Filter(text_of),
    "sum": Filter(_sum, "attribute", "start"),
    "title": _of_text(str.title),
    "tojson": Filter(wire_dumps),
    "trim": Filter(_trim, "chars"),
    "truncate": Filter(_truncate, "length", "killwords", "end", "leeway"),
    "unique": Filter(_unique),
    "upper": _of_text(str.upper),
}
"""The allow-list. `default` is not among them: it has to see what is undefined."""
