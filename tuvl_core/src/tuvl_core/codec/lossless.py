"""The lossless form: JSON from which the same values come back.

What JSON has is written as it is. Everything else is a tagged object, `{"$": tag, "v": …}`:

| tag | value |
|---|---|
| `map` | a mapping with a key that is not text, or with a key `$`: a list of pairs |
| `tuple` `set` `frozenset` | a list of members |
| `int` `float` | whole numbers too long for decimal digits, in hex; NaN and the infinities |
| `text` | text with half of a surrogate pair |
| `bytes` `bytearray` | base64 |
| `decimal` `uuid` `date` `timedelta` | their exact text or parts |
| `datetime` `time` | ISO 8601 text, with time zone and fold |
| `secret` | a keyed hash; comes back as a `SealedSecret` that knows no value |
| as registered | values of classes given to `register_lossless` |

An Enum that is not registered is kept as its value, and a subclass of a built-in type as that type.
"""

from __future__ import annotations

import base64
import datetime as dt
import enum
import functools
import json
import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final, TypeVar
from uuid import UUID

from tuvl_core.codec.secret import SealedSecret, Secret
from tuvl_core.codec.wire import below
from tuvl_core.errors import CodecError

__all__ = [
    "from_lossless",
    "lossless_dumps",
    "lossless_loads",
    "register_lossless",
    "to_lossless",
]

T = TypeVar("T")

_TAG: Final = "$"
_VALUE: Final = "v"
_MANY_BITS: Final = 10_000


def register_lossless(cls: type[T], tag: str, to_dict: Callable[[T], Any], from_dict: Callable[[Any], T]) -> None:
    """Teach the lossless form a class of your own.

    Args:
        cls: The class; only its direct instances are meant.
        tag: Its stable name in records, such as `acme.Money`.
        to_dict: Gives the parts of an instance; they are converted in turn.
        from_dict: Builds an instance from those parts.

    Raises:
        CodecError: The class or the tag is taken.
    """
    known = _REGISTERED.get(cls)
    if known is not None and known[0] != tag:
        raise CodecError(f"{cls.__name__} is already registered as {known[0]!r}")
    owner = next((taken for taken, (name, _) in _REGISTERED.items() if name == tag), cls)
    if tag in _BUILT_IN or owner is not cls:
        raise CodecError(f"the tag {tag!r} is taken; choose one with your own prefix")
    _REGISTERED[cls] = (tag, to_dict)
    _DECODERS[tag] = from_dict


def to_lossless(value: Any, path: str = "", *, secret_key: bytes | None = None) -> Any:
    """Convert a value to JSON data that `from_lossless` turns back into the same value.

    Args:
        value: What to convert.
        path: Where it lies, for error messages.
        secret_key: The key that secrets are hashed with; None: one that this process made up.

    Raises:
        CodecError: Something in it has no lossless form; `path` of the error names the key.
    """
    try:
        return _Encoder(secret_key).encode(value, path)
    except RecursionError:
        raise CodecError("is nested too deeply, or holds itself", path) from None


def from_lossless(data: Any) -> Any:
    """Convert JSON data made by `to_lossless` back.

    Raises:
        CodecError: A tag is unknown, or what stands under it does not fit.
    """
    try:
        return _decode(data)
    except RecursionError:
        raise CodecError("this record is nested too deeply") from None


def lossless_dumps(value: Any, path: str = "", *, secret_key: bytes | None = None) -> str:
    """Write a value in lossless form as JSON text; arguments as `to_lossless`."""
    try:
        return _write(to_lossless(value, path, secret_key=secret_key))
    except RecursionError:
        raise CodecError("is nested too deeply", path) from None


def lossless_loads(text: str) -> Any:
    """Read JSON text that `lossless_dumps` wrote.

    Raises:
        CodecError: It is not JSON, or not in lossless form.
    """
    try:
        return from_lossless(json.loads(text))
    except (ValueError, RecursionError) as problem:
        raise CodecError(f"this record is no JSON: {problem}") from None


_write: Final = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")
).encode


@functools.cache
def _process_key() -> bytes:
    import secrets

    return secrets.token_bytes(32)


def _tagged(tag: str, value: Any, **more: Any) -> dict[str, Any]:
    return {_TAG: tag, _VALUE: value, **more}


def _is_unicode(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class _Encoder:
    """One conversion: it knows the key that secrets are hashed with."""

    __slots__ = ("_secret_key",)

    def __init__(self, secret_key: bytes | None) -> None:
        self._secret_key = secret_key

    def encode(self, value: Any, path: str) -> Any:
        kind = type(value)
        if kind is str:
            return value if _is_unicode(value) else self._text(value)
        if kind is bool or value is None:
            return value
        if kind is int:
            return value if value.bit_length() < _MANY_BITS else _tagged("int", hex(value))
        if kind is float:
            return value if math.isfinite(value) else _tagged("float", repr(value))
        if kind is dict:
            return self._mapping(value, path)
        if kind is list:
            return self._items(value, path)
        registered = _REGISTERED.get(kind)
        if registered is not None:
            tag, to_dict = registered
            return _tagged(tag, self.encode(to_dict(value), path))
        return self._by_base(value, path)

    def _by_base(self, value: Any, path: str) -> Any:
        if isinstance(value, Secret):
            return _tagged("secret", self._digest(value))
        if isinstance(value, enum.Enum):
            return self.encode(value.value, path)
        for base, parts in _SCALARS:
            if isinstance(value, base):
                return parts(value)
        for base, tag in _COLLECTIONS:
            if isinstance(value, base):
                return self._collection(value, tag, path)
        for plain in _PLAIN:
            if isinstance(value, plain):
                return self.encode(plain(value), path)
        if isinstance(value, Mapping):
            return self._mapping(value, path)
        raise CodecError(
            f"a value of type {type(value).__name__} has no lossless form; register its class with register_lossless",
            path,
        )

    def _text(self, value: str) -> dict[str, Any]:
        return _tagged("text", _base64(value.encode("utf-8", "surrogatepass")))

    def _items(self, value: Any, path: str) -> list[Any]:
        return [self.encode(item, below(path, index)) for index, item in enumerate(value)]

    def _collection(self, value: Any, tag: str, path: str) -> dict[str, Any]:
        members = self._items(value, path)
        if tag != "tuple":
            members.sort(key=_write)  # sets have no order; a record should have one
        return _tagged(tag, members)

    def _mapping(self, value: Mapping[Any, Any], path: str) -> dict[str, Any]:
        if all(type(key) is str and key != _TAG and _is_unicode(key) for key in value):
            return {key: self.encode(item, below(path, key)) for key, item in value.items()}
        pairs = [[self.encode(key, path), self.encode(item, below(path, key))] for key, item in value.items()]
        return _tagged("map", pairs)

    def _digest(self, value: Secret) -> str:
        if isinstance(value, SealedSecret):
            return value.digest
        import hmac

        key = self._secret_key or _process_key()
        return hmac.new(key, _write(self.encode(value.reveal(), "")).encode(), "sha256").hexdigest()


def _base64(value: bytes | bytearray) -> str:
    return base64.b64encode(value).decode("ascii")


def _moment(tag: str) -> Callable[[Any], dict[str, Any]]:
    def parts(value: dt.datetime | dt.time) -> dict[str, Any]:
        more: dict[str, Any] = {"fold": 1} if value.fold else {}
        zone = getattr(value.tzinfo, "key", None)  # of a zoneinfo.ZoneInfo
        if zone:
            more["zone"] = zone
            value = value.replace(tzinfo=None)
        return _tagged(tag, value.isoformat(), **more)

    return parts


def _read_moment(kind: type[dt.datetime | dt.time]) -> Callable[[Mapping[str, Any]], Any]:
    def read(data: Mapping[str, Any]) -> Any:
        value = kind.fromisoformat(data[_VALUE]).replace(fold=data.get("fold", 0))
        zone = data.get("zone")
        if zone is None:
            return value
        from zoneinfo import ZoneInfo

        return value.replace(tzinfo=ZoneInfo(zone))

    return read


# Order matters: a subclass stands before its base.
_SCALARS: Final[tuple[tuple[type, Callable[[Any], dict[str, Any]]], ...]] = (
    (UUID, lambda value: _tagged("uuid", str(value))),
    (Decimal, lambda value: _tagged("decimal", str(value))),
    (dt.datetime, _moment("datetime")),
    (dt.date, lambda value: _tagged("date", value.isoformat())),
    (dt.time, _moment("time")),
    (
        dt.timedelta,
        lambda value: _tagged("timedelta", [value.days, value.seconds, value.microseconds]),
    ),
    (bytes, lambda value: _tagged("bytes", _base64(value))),
    (bytearray, lambda value: _tagged("bytearray", _base64(value))),
)
_PLAIN: Final[tuple[type[Any], ...]] = (str, int, float, list)
_COLLECTIONS: Final[tuple[tuple[type, str], ...]] = (
    (tuple, "tuple"),
    (set, "set"),
    (frozenset, "frozenset"),
)

_REGISTERED: Final[dict[type, tuple[str, Callable[[Any], Any]]]] = {}
_DECODERS: Final[dict[str, Callable[[Any], Any]]] = {
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "map": dict,
    "int": lambda value: int(value, 16),
    "float": float,
    "text": lambda value: base64.b64decode(value).decode("utf-8", "surrogatepass"),
    "bytes": base64.b64decode,
    "bytearray": lambda value: bytearray(base64.b64decode(value)),
    "decimal": Decimal,
    "uuid": UUID,
    "date": dt.date.fromisoformat,
    "timedelta": lambda value: dt.timedelta(*value),
    "secret": SealedSecret,
}
_MOMENTS: Final[dict[str, Callable[[Mapping[str, Any]], Any]]] = {
    "datetime": _read_moment(dt.datetime),
    "time": _read_moment(dt.time),
}
_BUILT_IN: Final = frozenset({*_DECODERS, *_MOMENTS})


def _decode(data: Any) -> Any:
    if isinstance(data, list):
        return [_decode(item) for item in data]
    if not isinstance(data, dict):
        return data
    tag = data.get(_TAG)
    if tag is None:
        return {key: _decode(item) for key, item in data.items()}
    try:
        if tag in _MOMENTS:
            return _MOMENTS[tag](data)
        decode = _DECODERS.get(tag)
        if decode is not None:
            return decode(_decode(data[_VALUE]))
    except CodecError:
        raise
    except (ArithmeticError, LookupError, TypeError, ValueError) as problem:
        raise CodecError(f"what a record holds under the tag {tag!r} does not fit: {problem}") from None
    raise CodecError(f"a record holds a value with the unknown tag {tag!r}; the plugin that registers it is not loaded")
