"""What a rendered value must be to stand in a typed config field."""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from tuvl_core.templates.values import number_from, opened, text_of
from tuvl_core.unset import UNSET
from tuvl_core.views import Secret

__all__ = ["Converter", "converter_for"]


class Converter:
    """Turns a value into one of a type.

    Args:
        needs: What it gives, in words: `a number`.
        convert: The function; UNSET when the value does not fit.
    """

    __slots__ = ("_convert", "needs")

    def __init__(self, needs: str, convert: Callable[[Any], Any]) -> None:
        self.needs = needs
        self._convert = convert

    def __call__(self, value: Any) -> Any:
        """Give the value in its new type, or UNSET; of a secret, a secret."""
        if not isinstance(value, Secret):
            return self._convert(value)
        inner = self._convert(value.reveal())
        return inner if inner is UNSET else Secret(inner)


def _to_text(value: Any) -> Any:
    if value is None:
        return UNSET
    value, hidden = opened(value)
    return Secret(text_of(value)) if hidden else text_of(value)


def _to_bool(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(value, UNSET) if isinstance(value, str) else UNSET


def _to_number(value: Any) -> Any:
    if isinstance(value, str):
        value = number_from(value)
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return UNSET
    return value


def _to_float(value: Any) -> Any:
    number = _to_number(value)
    if number is UNSET:
        return UNSET
    try:
        return float(number)
    except OverflowError:
        return UNSET


def _to_int(value: Any) -> Any:
    number = _to_number(value)
    if number is UNSET or isinstance(number, int):
        return number
    # 3.0 is a whole number, as JSON sees it; 3.5 and infinity are not.
    return int(number) if abs(number) < 2**63 and number == int(number) else UNSET


def _to_decimal(value: Any) -> Any:
    number = _to_number(value)
    if number is UNSET:
        return UNSET
    return Decimal(repr(number)) if isinstance(number, float) else Decimal(number)


_SCALARS: Final[Mapping[Any, Converter]] = {
    str: Converter("text", _to_text),
    bool: Converter("a boolean", _to_bool),
    int: Converter("a whole number", _to_int),
    float: Converter("a number", _to_float),
    Decimal: Converter("a number", _to_decimal),
    type(None): Converter("null", lambda value: None if value is None else UNSET),
}


@functools.lru_cache(maxsize=256)
def converter_for(wanted: Any) -> Converter | None:
    """Give the converter to a type, or None where any value will do.

    Text that is written as a number or a boolean becomes one; nothing else changes its type, except
    that everything but null has a text.

    Args:
        wanted: `str`, `bool`, `int`, `float`, `Decimal`, a class, a `Literal`, a union, or a list
            or mapping of such.
    """
    if wanted is Any or wanted is object or isinstance(wanted, typing.TypeVar):
        return None
    if wanted is None:
        wanted = type(None)
    if wanted in _SCALARS:
        return _SCALARS[wanted]
    origin = typing.get_origin(wanted) or wanted
    arguments = typing.get_args(wanted)
    if origin is typing.Union or origin is types.UnionType:
        return _union(arguments)
    if origin is typing.Literal:
        return _literal(arguments)
    if isinstance(origin, type) and issubclass(origin, (list, tuple, Sequence)):
        return _sequence(arguments)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(arguments)
    return _instance(origin)


def _union(members: tuple[Any, ...]) -> Converter | None:
    found = [converter_for(member) for member in members]
    converters = [converter for converter in found if converter is not None]
    if len(converters) < len(found):
        return None
    exact = tuple(member for member in members if isinstance(member, type))

    def convert(value: Any) -> Any:
        if type(value) in exact:
            return value
        # Text comes last: everything has one.
        for converter in sorted(converters, key=lambda item: item.needs == "text"):
            result = converter(value)
            if result is not UNSET:
                return result
        return UNSET

    return Converter(" or ".join(dict.fromkeys(item.needs for item in converters)), convert)


def _literal(choices: tuple[Any, ...]) -> Converter:
    def convert(value: Any) -> Any:
        for choice in choices:
            if type(choice) is type(value) and choice == value:
                return value
        return UNSET

    return Converter("one of " + ", ".join(map(repr, choices)), convert)


def _sequence(arguments: tuple[Any, ...]) -> Converter:
    item = converter_for(arguments[0]) if arguments else None

    def convert(value: Any) -> Any:
        if not isinstance(value, (list, tuple)):
            return UNSET
        if item is None:
            return value
        items = [item(member) for member in value]
        return UNSET if any(entry is UNSET for entry in items) else items

    return Converter("a list" if item is None else f"a list of {item.needs}", convert)


def _mapping(arguments: tuple[Any, ...]) -> Converter:
    item = converter_for(arguments[1]) if len(arguments) == 2 else None

    def convert(value: Any) -> Any:
        if not isinstance(value, Mapping):
            return UNSET
        if item is None:
            return value
        entries = {key: item(member) for key, member in value.items()}
        return UNSET if any(entry is UNSET for entry in entries.values()) else entries

    return Converter("a mapping" if item is None else f"a mapping to {item.needs}", convert)


def _instance(wanted: Any) -> Converter | None:
    if not isinstance(wanted, type):
        return None
    return Converter(f"a {wanted.__name__}", lambda value: value if isinstance(value, wanted) else UNSET)
