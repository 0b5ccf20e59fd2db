"""Plain scalars by the core schema of YAML 1.2: what is not null, boolean or number is text."""

from __future__ import annotations

import math
import re
from typing import Final

__all__ = ["MAX_DIGITS", "ScalarError", "plain_value", "tagged_value"]

MAX_DIGITS: Final = 400
"""Longer numbers are refused: turning them into integers takes quadratic time."""

Plain = bool | int | float | str | None

_WORDS: Final[dict[str, bool | None]] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_FIRST: Final = frozenset("0123456789+-.")
_INT: Final = re.compile(r"[-+]?[0-9]+\Z")
_BASED: Final = re.compile(r"0o[0-7]+\Z|0x[0-9a-fA-F]+\Z")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_INFINITE: Final = re.compile(r"([-+]?)\.(?:inf|Inf|INF)\Z")
_NAN: Final = re.compile(r"\.(?:nan|NaN|NAN)\Z")

PREFIX: Final = "tag:yaml.org,2002:"
_TAGGED: Final[dict[str, tuple[type, ...]]] = {
    f"{PREFIX}null": (type(None),),
    f"{PREFIX}bool": (bool,),
    f"{PREFIX}int": (int,),
    f"{PREFIX}float": (float, int),
}


class ScalarError(ValueError):
    """A scalar that is no value: an endless number, or text that does not fit its tag."""


def plain_value(text: str) -> Plain:
    """Resolve a plain scalar.

    Raises:
        ScalarError: It is a number beyond any use.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _FIRST:
        return text
    if _INT.match(text):
        return _integer(text, 10)
    if _BASED.match(text):
        return _integer(text[2:], 8 if text[1] == "o" else 16)
    if _FLOAT.match(text):
        return _float(text)
    if (match := _INFINITE.match(text)) is not None:
        return -math.inf if match[1] == "-" else math.inf
    return math.nan if _NAN.match(text) else text


def tagged_value(tag: str, text: str) -> Plain:
    """Resolve a scalar that carries one of the core schema's own tags.

    Raises:
        KeyError: The tag is not one of them.
        ScalarError: The text does not fit the tag.
    """
    if tag == f"{PREFIX}str":
        return text
    wanted = _TAGGED[tag]
    value = plain_value(text)
    if type(value) not in wanted:
        raise ScalarError(f"{text[:40]!r} is no {tag.removeprefix(PREFIX)}")
    return float(value) if tag.endswith("float") and isinstance(value, int) else value


def _integer(digits: str, base: int) -> int:
    if len(digits) > MAX_DIGITS:
        raise ScalarError(f"a number of {len(digits)} digits (at most {MAX_DIGITS} are read)")
    return int(digits, base)


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ScalarError(f"{text[:40]} is larger than any number that can be kept")
    return value
