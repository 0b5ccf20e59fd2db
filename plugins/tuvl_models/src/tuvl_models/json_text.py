"""Find the JSON objects that a model wrote, whatever it wrote around them.

The text is read once, from left to right. A JSON value is taken as a whole, so nothing inside its strings
is ever looked at: not a fence, not a mark, not another object. What looks like JSON and is broken is
passed over with everything inside it: half an object never yields an answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Final

import attrs

__all__ = ["BROKEN", "Piece", "distinct_objects", "find_objects", "find_pieces", "read_list", "without_reasoning"]

BROKEN: Final = object()
"""Stands for a value that looks like JSON and is none, or is nested too deeply."""

MAX_DEPTH: Final = 64
"""How deeply an answer may be nested; nobody means more, and walks over values have to end."""

MAX_BROKEN: Final = 500
"""After so many starts that lead nowhere a text is not read further: each failure costs its length."""

_TAG: Final = "(?:think|thinking|thought|reasoning|reflection|scratchpad)"
_CLOSE: Final = rf"</{_TAG}>|\[/THINK\]"
_OPEN: Final = rf"<{_TAG}>|\[THINK\]"
_MARK: Final = re.compile(rf"(?P<close>{_CLOSE})|(?P<open>{_OPEN})|[{{\[]", re.IGNORECASE)
_END_OF_REASONING: Final = re.compile(_CLOSE, re.IGNORECASE)
_LEADING_REASONING: Final = re.compile(rf"\s*(?:{_OPEN})", re.IGNORECASE)
_MAYBE_JSON: Final = re.compile(r'\{\s*["}]|\[\s*(?:[\[\]{"]|-?\d|(?:true|false|null)\b)')
_LIKE_JSON: Final = re.compile(r'\{\s*"|\[\s*[\[{"]')
_BRACKET: Final = re.compile(r"[{}\[\]]")
_FENCE: Final = re.compile(r"\A\s*```[^\n`]*\n(.*?)\n?[ \t]*```\s*\Z", re.DOTALL)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


_DECODER: Final = json.JSONDecoder(parse_constant=_no_constant)


@attrs.frozen
class Piece:
    """A JSON value in a text.

    Attributes:
        start: Where it begins.
        end: Where it ends; for a broken one, where its brackets close, or the text ends.
        value: A mapping or a list; `BROKEN` if it cannot be read.
    """

    start: int
    end: int
    value: Any


def find_objects(text: str) -> list[dict[str, Any]]:
    """Give the JSON objects of a text that are not inside another value, in order.

    What a model wrote while it reasoned does not count, whether its reasoning is marked at both ends or
    only where it ends.
    """
    return [piece.value for piece in find_pieces(text) if isinstance(piece.value, dict)]


def find_pieces(text: str) -> list[Piece]:
    """Give the JSON objects and lists of a text, the broken ones too, that are not inside another, in order."""
    found: list[Piece] = []
    at = broken = 0
    while (mark := _MARK.search(text, at)) is not None:
        if mark["close"]:
            found.clear()  # everything before was reasoning whose start was not marked
            at = mark.end()
        elif mark["open"]:
            end = _END_OF_REASONING.search(text, mark.end())
            at = end.end() if end is not None else len(text)
        else:
            at = mark.end()
            start = mark.start()
            if _MAYBE_JSON.match(text, start) is None:
                continue  # as in `{x | x > 0}` and `[link](…)`
            value, at = _value_at(text, start)
            found.append(Piece(start, at, value))
            if value is BROKEN:
                broken += 1
                if broken > MAX_BROKEN:
                    return []
    return found


def distinct_objects(objects: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out objects that say the same as one before: repeating an answer is no contradiction."""
    kept: list[dict[str, Any]] = []
    for item in objects:
        if not any(_same(item, other) for other in kept):
            kept.append(item)
    return kept


def read_list(text: str) -> Any:
    """Give the list that the text is, inside a fence or not; None if it is anything else."""
    fence = _FENCE.match(text)
    inner = (fence[1] if fence else text).strip()
    if not inner.startswith("["):
        return None
    value, end = _value_at(inner, 0)
    return value if isinstance(value, list) and end == len(inner) else None


def without_reasoning(text: str) -> str:
    """Cut the reasoning off that a text begins with; the rest stays as it is."""
    start = _LEADING_REASONING.match(text)
    if start is None:
        return text
    end = _END_OF_REASONING.search(text, start.end())
    return text[end.end() :].lstrip() if end is not None else ""


def _value_at(text: str, start: int) -> tuple[Any, int]:
    """The JSON value that starts here, or `BROKEN`, and where it ends."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        # `[1, or so]` in prose is only characters; broken JSON is skipped to its end.
        broken = _LIKE_JSON.match(text, start)
        return BROKEN, _end_of_broken(text, start) if broken else start + 1
    return (value if _is_shallow(value) else BROKEN), end


def _end_of_broken(text: str, start: int) -> int:
    depth = 0
    for bracket in _BRACKET.finditer(text, start):
        depth += 1 if bracket[0] in "{[" else -1
        if depth == 0:
            return bracket.end()
    return len(text)


def _is_shallow(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for item in level
            for child in (item.values() if isinstance(item, dict) else item)
            if isinstance(child, (dict, list))
        ]
        if not level:
            return True
    return False


def _same(a: Any, b: Any) -> bool:
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)
