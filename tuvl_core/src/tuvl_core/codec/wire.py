"""The wire form: strict JSON for whatever leaves the process.

| value | form |
|---|---|
| text, whole numbers, true, false, null | themselves |
| floating-point number | itself; NaN and the infinities are `null`, as are those of Decimal |
| Decimal, UUID | text, exactly |
| date, time | ISO 8601 text |
| datetime | RFC 3339 text; one without a zone stays without an offset, none is invented |
| timedelta | ISO 8601 duration, such as `P1DT3600.5S` |
| Enum | the form of its value |
| list, tuple | list |
| set, frozenset | sorted list: in natural order where all members are numbers or all of one type that has an order, else by their JSON text |
| bytes | `{"base64": "…"}` |
| mapping | object; keys that are not text become the text of their wire form, and two keys with the same text are an error |
| Secret | `"***"` |

Anything else is a `CodecError` that names the key. Text that holds half of a surrogate pair is escaped.
"""  # noqa: E501 - a table row is one line

from __future__ import annotations

import contextlib
import datetime as dt
import enum
import json
import math
import re
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from tuvl_core.codec.secret import MASK, Secret
from tuvl_core.errors import CodecError

__all__ = ["MAX_DEPTH", "below", "to_wire", "too_deep", "wire_dumps"]

MAX_DEPTH: Final = 200
"""How deep what comes from outside may be nested; that much surely has a wire form, wherever it is written."""

_Form = Callable[[Any, str], Any]

_LEAVES: Final = frozenset({str, int, float, bool, type(None)})
_NUMBERS: Final = frozenset({int, float, bool})
_ORDERED: Final = frozenset({str, Decimal, UUID, dt.date, dt.datetime, dt.time, dt.timedelta})
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_MANY_BITS: Final = 10_000
"""Whole numbers below this surely convert to text within Python's limit of digits."""


def below(path: str, key: object) -> str:
    """Extend a dotted path by one key or index."""
    return f"{path}.{key}" if path else str(key)


def to_wire(value: Any, path: str = "") -> Any:
    """Convert a value to its wire form: fresh data that any JSON encoder writes the same way.

    Args:
        value: What to convert.
        path: Where the value lies, for error messages.

    Raises:
        CodecError: Something in it has no wire form; `path` of the error names the key.
    """
    try:
        return _wire(value, path)
    except RecursionError:
        raise CodecError("is nested too deeply, or holds itself", _deep_key(value, path)) from None


def wire_dumps(value: Any, path: str = "") -> str:
    """Write a value in wire form as JSON text: compact, strict, always encodable as UTF-8.

    Args:
        value: What to write.
        path: Where the value lies, for error messages.

    Raises:
        CodecError: Something in it has no wire form; `path` of the error names the key.
    """
    text: str | None = None
    try:
        # Ordinary data goes through the C encoder in one piece; what it cannot do, or would do
        # differently, shows as an exception and is walked.
        if _has_text_keys(value):
            text = _encode(value)
    except (TypeError, ValueError, RecursionError, CodecError):
        pass
    if text is None:
        text = _encode(to_wire(value, path))
    return text if text.isascii() else _SURROGATE.sub(_escape, text)


def too_deep(value: Any) -> bool:
    """Whether lists and mappings in a value are nested deeper than `MAX_DEPTH`.

    For what comes from outside, such as an answer of a server, before a step leaves with it: later on it
    would fail the whole run.
    """
    level = {id(value): value}
    for _ in range(MAX_DEPTH):
        deeper: dict[int, Any] = {}
        for item in level.values():
            children = item.values() if isinstance(item, Mapping) else item
            if isinstance(item, (Mapping, list, tuple)):
                deeper.update((id(child), child) for child in children if type(child) not in _LEAVES)
        if not deeper:
            return False
        level = deeper
    return True


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def _has_text_keys(value: Any) -> bool:
    """Whether mappings have only text for keys: the C encoder writes `1` and `"1"` alike."""
    if isinstance(value, dict):
        try:
            "".join(value)  # the fastest test that every key is text
        except TypeError:
            return False
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return True
    for child in value:  # noqa: SIM110 - twice as fast as all() of a generator
        if type(child) not in _LEAVES and not _has_text_keys(child):
            return False
    return True


def _wire(value: Any, path: str) -> Any:
    form = _FORMS.get(type(value))
    if form is None:
        form = _form_of(value, path)
    return form(value, path)


def _form_of(value: Any, path: str) -> _Form:
    for base, form in _BASES:
        if isinstance(value, base):
            return form
    raise CodecError(
        f"a value of type {type(value).__name__} has no wire form; turn it into text, numbers, lists or mappings first",
        path,
    )


def _text(value: str, path: str) -> str:
    return str.__str__(value)


def _itself(value: Any, path: str) -> Any:
    return value


def _int(value: int, path: str) -> int:
    if value.bit_length() > _MANY_BITS:
        try:
            str(int(value))
        except ValueError:
            raise CodecError("a whole number with too many digits has no wire form", path) from None
    return int(value)


def _float(value: float, path: str) -> float | None:
    return float(value) if math.isfinite(value) else None


def _decimal(value: Decimal, path: str) -> str | None:
    return str(value) if value.is_finite() else None


def _plain(value: Any, path: str) -> str:
    return str(value)


def _iso(value: dt.date | dt.time, path: str) -> str:
    return value.isoformat()


def _datetime(value: dt.datetime, path: str) -> str:
    offset = value.utcoffset()
    if offset is not None and offset % dt.timedelta(minutes=1):
        # RFC 3339 knows no seconds in an offset, as local mean time has; the instant counts.
        with contextlib.suppress(OverflowError):
            value = value.astimezone(dt.UTC)
    return value.isoformat()


def _duration(value: dt.timedelta, path: str) -> str:
    sign, span = ("-", -value) if value < dt.timedelta(0) else ("", value)
    fraction = f".{span.microseconds:06d}".rstrip("0") if span.microseconds else ""
    return f"{sign}P{span.days}DT{span.seconds}{fraction}S"


def _bytes(value: bytes | bytearray | memoryview, path: str) -> dict[str, str]:
    import base64

    return {"base64": base64.b64encode(value).decode("ascii")}


def _enum(value: enum.Enum, path: str) -> Any:
    return _wire(value.value, path)


def _mask(value: Secret, path: str) -> str:
    return MASK


def _sequence(value: list[Any] | tuple[Any, ...], path: str) -> list[Any]:
    return [_wire(item, below(path, index)) for index, item in enumerate(value)]


def _set(value: AbstractSet[Any], path: str) -> list[Any]:
    # As masked views show them, so that the order is the same with and without the secrets.
    members = [MASK if isinstance(member, Secret) else member for member in value]
    kinds = set(map(type, members))
    if kinds <= _NUMBERS or (len(kinds) == 1 and kinds <= _ORDERED):
        try:
            if not any(map(_is_nan, members)):
                return [_wire(member, path) for member in sorted(members)]
        except TypeError:  # datetimes with and without a zone
            pass
    return sorted((_wire(member, path) for member in members), key=_encode)


def _is_nan(member: Any) -> bool:
    """Whether it has no place in an order; by its text it has one."""
    return bool(member != member)


def _mapping(value: Mapping[Any, Any], path: str) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, item in value.items():
        text = key if type(key) is str else _key(key, path)
        if text in out:
            raise CodecError(f"two keys of this mapping have the same text {text!r}", path)
        out[text] = _wire(item, below(path, text))
    return out


def _key(key: Any, path: str) -> str:
    try:
        form = _wire(key, path)
    except CodecError:
        form = ()
    if isinstance(form, str):
        return form
    if isinstance(form, (bool, int, float)) or key is None:
        return _encode(form)
    raise CodecError(f"a key of type {type(key).__name__} has no wire form", path)


_FORMS: Final[dict[type, _Form]] = {
    str: _itself,
    bool: _itself,
    type(None): _itself,
    int: _int,
    float: _float,
    dict: _mapping,
    list: _sequence,
    tuple: _sequence,
    set: _set,
    frozenset: _set,
}

# Order matters: a subclass stands before its base.
_BASES: Final[tuple[tuple[type | tuple[type, ...], _Form], ...]] = (
    (Secret, _mask),
    (enum.Enum, _enum),
    (UUID, _plain),
    (Decimal, _decimal),
    (dt.datetime, _datetime),
    ((dt.date, dt.time), _iso),
    (dt.timedelta, _duration),
    ((bytes, bytearray, memoryview), _bytes),
    (str, _text),
    (int, _int),
    (float, _float),
    (Mapping, _mapping),
    ((list, tuple), _sequence),
    (AbstractSet, _set),
)


def _make_encode() -> Callable[[Any], str]:
    """Give the function that writes JSON text.

    `JSONEncoder.encode` builds its C encoder anew on each call, which costs as much as a small
    value does; where the C encoder is there, it is built once.
    """

    def convert(value: Any) -> Any:
        return _wire(value, "")

    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return json.JSONEncoder(
            ensure_ascii=False,
            check_circular=False,
            allow_nan=False,
            separators=(",", ":"),
            default=convert,
        ).encode
    text_of = json.encoder.encode_basestring
    # markers, default, encoder, indent, separators, sort_keys, skipkeys, allow_nan
    chunks = make(None, convert, text_of, None, ":", ",", False, False, False)

    def encode(value: Any) -> str:
        return text_of(value) if type(value) is str else "".join(chunks(value, 0))

    return encode


_encode: Final = _make_encode()


def _deep_key(value: Any, path: str) -> str:
    """Name the entry of a mapping that cannot be walked to its end."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            try:
                _wire(item, "")
            except RecursionError:
                return below(path, key)
            except CodecError:
                continue
    return path
