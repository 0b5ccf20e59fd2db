"""From what a server sent to a value: nothing is lost, nothing large and binary is pasted.

Works on the plain data of the protocol (`structuredContent`, `content`), so that a server which sends
more, less or other than the protocol says cannot break it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn

__all__ = ["read_strictly", "result_text", "result_value"]

_BINARY: Final = ("data", "blob")
_RESOURCE: Final = "resource"


def result_value(result: Mapping[str, Any]) -> Any:
    """Give the value of a result.

    Structured content stands for the texts beside it, which only repeat it. One part gives its value,
    several give a list, none gives None.

    Args:
        result: A `tools/call` result as plain data, with the names of the wire.
    """
    parts = _parts(result)
    structured = result.get("structuredContent")
    if structured is None:
        values = [_value(part) for part in parts]
    else:
        values = [structured, *(_value(part) for part in parts if _type(part) != "text")]
    if len(values) <= 1:
        return values[0] if values else None
    return values


def result_text(result: Mapping[str, Any]) -> str:
    """Give what a result says in words: its texts, or else its value as JSON."""
    texts = [part["text"] for part in _parts(result) if _type(part) == "text" and isinstance(part.get("text"), str)]
    if any(text.strip() for text in texts):
        return "\n".join(texts)
    value = result_value(result)
    return "" if value is None or value == "" else json.dumps(value, ensure_ascii=False, default=str)


def _parts(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = result.get("content")
    if not isinstance(content, Sequence) or isinstance(content, (str, bytes)):
        return []
    return [part for part in content if isinstance(part, Mapping)]


def _type(part: Mapping[str, Any]) -> Any:
    return part.get("type")


def _value(part: Mapping[str, Any]) -> Any:
    if _type(part) == "text" and isinstance(part.get("text"), str):
        return _read(part["text"])
    return _described(part)


def _described(part: Mapping[str, Any]) -> dict[str, Any]:
    """Everything but text: its own fields, with the number of bytes in the place of the bytes."""
    inner = part.get("resource")
    if _type(part) == _RESOURCE and isinstance(inner, Mapping):
        part = {"type": _RESOURCE, **inner}
    found: dict[str, Any] = {"type": part.get("type", "unknown")}
    for name, value in part.items():
        if name in _BINARY and isinstance(value, str):
            found["bytes"] = _decoded_length(value)
        elif name not in ("type", "annotations", "_meta", "icons") and value is not None:
            found[name] = value
    return found


def _decoded_length(text: str) -> int:
    """How many bytes a text in base64 stands for, without making them."""
    digits = sum(not char.isspace() for char in text) if any(map(str.isspace, text)) else len(text)
    padding = len(text.rstrip()) - len(text.rstrip().rstrip("="))
    return max(0, (digits - padding) * 3 // 4)


def _read(text: str) -> Any:
    """The value of a text that is JSON; any other text as it is."""
    try:
        value = _decode(text)
    except (ValueError, RecursionError):
        return text
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _read_float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {text[:40]} is out of reach")
    return number


def read_strictly(text: str) -> Any:
    """Read what a person wrote as JSON, where nothing may be lost without a word.

    Raises:
        ValueError: It is no JSON, a number in it is out of reach, or a key is given twice.
        RecursionError: It is nested too deeply.
    """
    return _decode_strictly(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} is given twice")
    return found


_decode: Final = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_read_float).decode
_decode_strictly: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=_refuse_constant, parse_float=_read_float
).decode
