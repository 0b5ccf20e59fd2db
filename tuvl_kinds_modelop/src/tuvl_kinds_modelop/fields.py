"""The fields of a model: what values they take, from YAML, JSON, models and Python alike.

Both databases are held to the same: what PostgreSQL would refuse is refused before it is sent, and what
SQLite would bend is brought into one form first.
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import json
import math
import re
import uuid
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import attrs

from tuvl_core import CodecError, to_wire
from tuvl_kinds_modelop.documents import FieldBody

__all__ = ["INTEGER_RANGES", "Field", "ValueRefusedError"]

INTEGER_RANGES: Final[Mapping[str, tuple[int, int]]] = {
    "smallint": (-(2**15), 2**15 - 1),
    "integer": (-(2**31), 2**31 - 1),
    "bigint": (-(2**63), 2**63 - 1),
}
_MAX_DIGITS: Final = 1000
"""Of a numeric without a precision; PostgreSQL has room for more, nobody for a text without end."""
_MAX_SHOWN: Final = 40
_TOO_FINE: Final = re.compile(r"[.,]\d{6}\d*[1-9]")
"""A time with a digit beyond the microsecond, which would be lost."""


class ValueRefusedError(ValueError):
    """A value does not fit a field; the message says what would, never more of the value than its beginning."""


@attrs.frozen(kw_only=True, eq=False)
class Field:
    """One field of a model, ready for use.

    Attributes:
        name: Its name, and that of its column.
        body: What its document says.
        takes_input: Whether data may fill it, beside the workflow's author.
    """

    name: str
    body: FieldBody
    takes_input: bool

    @property
    def type(self) -> str:
        """What it holds."""
        return self.body.type

    @property
    def secure(self) -> bool:
        """Whether its values are secrets."""
        return self.body.secure

    @property
    def nullable(self) -> bool:
        """Whether it may have no value."""
        return not (self.body.required or self.body.primary_key)

    @property
    def generates(self) -> bool:
        """Whether the database makes its value: a whole number that names the record."""
        return self.body.primary_key and self.body.default is None and self.type in INTEGER_RANGES

    @property
    def has_default(self) -> bool:
        """Whether a record without a value for it gets one."""
        return self.body.default is not None or self.generates or (self.body.primary_key and self.type == "uuid")

    def default(self) -> Any:
        """The value of a record that is given none; None where there is none, or the database makes it."""
        given = self.body.default
        if given is None:
            return uuid.uuid4() if self.body.primary_key and self.type == "uuid" else None
        if self.type == "uuid" and given == "uuid4":
            return uuid.uuid4()
        if given == "now" and self.type in ("timestamp", "timestamptz", "date"):
            now = dt.datetime.now(dt.UTC)
            return {"timestamptz": now, "timestamp": now.replace(tzinfo=None), "date": now.date()}[self.type]
        return self.take(given)

    def take(self, value: Any) -> Any:
        """Bring a value into the form its column holds.

        Args:
            value: A value from YAML, JSON, a template or Python; secrets opened; not None.

        Raises:
            ValueRefusedError: It does not fit.
        """
        return _TAKERS[self.type](self, value)

    def refuse(self, value: Any, wanted: str) -> ValueRefusedError:
        """The error for a value that does not fit."""
        shown = "its value" if self.secure else _shown(value)
        return ValueRefusedError(f"field {self.name!r} takes {wanted}, not {shown}")

    def wire(self) -> Callable[[Any], Any] | None:
        """What brings a value of its column into the form that leaves; None where it is that already."""
        return None if self.type in _PLAIN else to_wire


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
    if isinstance(value, (Mapping, list, tuple, bytes)):
        return {dict: "a mapping", bytes: "bytes"}.get(type(value), f"a {type(value).__name__}")
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "…"


_PLAIN: Final = frozenset(
    {"string", "text", "varchar", "integer", "bigint", "smallint", "boolean", "enum", "jsonb", "float"}
)


def _text(field: Field, value: Any) -> str:
    if isinstance(value, (float, Decimal)) and not math.isfinite(value):
        raise field.refuse(value, "text")
    if isinstance(value, (int, float, Decimal, uuid.UUID, dt.date)) and not isinstance(value, bool):
        value = str(to_wire(value))  # what a lone template yields where a text is meant
    if not isinstance(value, str):
        raise field.refuse(value, "text")
    _check_text(field, value)
    length = field.body.length
    if length is not None and len(value) > length:
        raise ValueRefusedError(f"field {field.name!r} takes at most {length} characters, not {len(value)}")
    return value


def _check_text(field: Field, value: str) -> None:
    if "\0" in value:
        raise ValueRefusedError(f"field {field.name!r} takes no text with the character NUL in it")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ValueRefusedError(f"field {field.name!r} takes no text with half a character in it") from None


def _enum(field: Field, value: Any) -> str:
    values = field.body.enum_values
    text = _text(field, value) if isinstance(value, str) else value
    if text not in values:
        raise field.refuse(value, f"one of {', '.join(values)}")
    return str(text)


def _integer(field: Field, value: Any) -> int:
    low, high = INTEGER_RANGES[field.type]
    wanted = f"a whole number from {low} to {high}"
    written = isinstance(value, str) and re.fullmatch(r"\s*[+-]?\d{1,20}\s*", value, re.ASCII)
    if written or (isinstance(value, (float, Decimal)) and math.isfinite(value) and value == int(value)):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise field.refuse(value, wanted)
    return value


def _numeric(field: Field, value: Any) -> Decimal:
    wanted = "an exact number"
    if isinstance(value, bool) or not isinstance(value, (int, float, str, Decimal)):
        raise field.refuse(value, wanted)
    try:
        # A float is meant as it is written: 0.1 is 0.1.
        number = value if isinstance(value, Decimal) else Decimal(repr(value) if isinstance(value, float) else value)
    except (InvalidOperation, ValueError):
        raise field.refuse(value, wanted) from None
    if not number.is_finite():
        raise field.refuse(value, wanted)
    return _rounded(field, number if number else abs(number))  # there is one nought


def _rounded(field: Field, number: Decimal) -> Decimal:
    """Bring a number to the field's scale; digits that would be lost are an error, never rounded away."""
    precision, scale = field.body.precision, field.body.scale
    if precision is not None and scale is None:
        scale = 0
    digits, exponent = number.as_tuple().digits, int(number.as_tuple().exponent)
    before = max(len(digits) + exponent, 0) if number else 0
    if before > (precision - (scale or 0) if precision is not None else _MAX_DIGITS):
        raise ValueRefusedError(f"field {field.name!r} takes no number of {before} digits before the point")
    if scale is None:
        if -exponent > _MAX_DIGITS:
            raise ValueRefusedError(f"field {field.name!r} takes no number of {-exponent} digits after the point")
        return Decimal(format(number, "f"))
    fitting = Decimal((0, (1,), -scale))
    import decimal

    with decimal.localcontext(decimal.Context(prec=2 * _MAX_DIGITS + 2)):
        exact = number.quantize(fitting)
    if exact != number:
        raise ValueRefusedError(f"field {field.name!r} takes at most {scale} digits after the point")
    return exact


def _float(field: Field, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str, Decimal)):
        raise field.refuse(value, "a number")
    try:
        number = float(value)
    except (ValueError, OverflowError):
        raise field.refuse(value, "a number") from None
    if not math.isfinite(number):
        raise field.refuse(value, "a finite number")
    return number


def _boolean(field: Field, value: Any) -> bool:
    if isinstance(value, str) and value.strip() in ("true", "false"):
        return value.strip() == "true"
    if not isinstance(value, bool):
        raise field.refuse(value, "true or false")
    return value


def _uuid(field: Field, value: Any) -> uuid.UUID:
    if isinstance(value, uuid.UUID):
        return value
    try:
        return uuid.UUID(value.strip())
    except (ValueError, AttributeError):
        raise field.refuse(value, "a UUID") from None


def _date(field: Field, value: Any) -> dt.date:
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        return value
    try:
        return dt.date.fromisoformat(value.strip())
    except (ValueError, AttributeError):
        raise field.refuse(value, "a date such as 2026-01-31") from None


def _moment(field: Field, value: Any) -> dt.datetime:
    """A date and time; without an offset it is meant in UTC, and UTC is what is kept."""
    if isinstance(value, str):
        if _TOO_FINE.search(value):
            raise ValueRefusedError(f"field {field.name!r} takes a time to the microsecond, six digits after the point")
        try:
            value = dt.datetime.fromisoformat(value.strip())
        except ValueError:
            raise field.refuse(value, "a time such as 2026-01-31T12:00:00Z") from None
    elif isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        value = dt.datetime(value.year, value.month, value.day)  # noqa: DTZ001 - UTC comes below
    if not isinstance(value, dt.datetime):
        raise field.refuse(value, "a time such as 2026-01-31T12:00:00Z")
    try:
        moment = value.replace(tzinfo=dt.UTC) if value.tzinfo is None else value.astimezone(dt.UTC)
    except OverflowError:
        raise field.refuse(value, "a time of the years 1 to 9999") from None
    return moment if field.type == "timestamptz" else moment.replace(tzinfo=None)


def _json(field: Field, value: Any) -> Any:
    try:
        data = to_wire(value, field.name)
    except CodecError as error:
        raise ValueRefusedError(f"field {field.name!r} takes JSON: {error}") from None
    _check_json(field, data)
    return data


def _check_json(field: Field, data: Any) -> None:
    if isinstance(data, str):
        _check_text(field, data)
    elif isinstance(data, dict):
        for name, item in data.items():
            _check_text(field, name)
            _check_json(field, item)
    elif isinstance(data, list):
        for item in data:
            _check_json(field, item)


def _bytes(field: Field, value: Any) -> bytes:
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    wanted = 'bytes, as {"base64": "…"}'
    if not isinstance(value, Mapping) or set(value) != {"base64"} or not isinstance(value["base64"], str):
        raise field.refuse(value, wanted)
    try:
        return base64.b64decode(value["base64"], validate=True)
    except (binascii.Error, ValueError):
        raise field.refuse(value, wanted) from None


_TAKERS: Final[Mapping[str, Callable[[Field, Any], Any]]] = {
    "string": _text,
    "text": _text,
    "varchar": _text,
    "integer": _integer,
    "bigint": _integer,
    "smallint": _integer,
    "numeric": _numeric,
    "float": _float,
    "boolean": _boolean,
    "uuid": _uuid,
    "date": _date,
    "timestamp": _moment,
    "timestamptz": _moment,
    "jsonb": _json,
    "bytea": _bytes,
    "enum": _enum,
}
