"""Column types that behave alike on SQLite and PostgreSQL.

SQLite has neither exact decimals nor moments with an offset. Decimals are kept as text there, compared by
the SQL function `decimal_key` that every connection gets; moments are kept in UTC.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import GenericFunction
from sqlalchemy.types import TypeDecorator, TypeEngine

from tuvl_core import Secret
from tuvl_kinds_modelop.fields import Field

__all__ = ["DECIMAL_KEY", "Hidden", "column_type", "comparable", "decimal_key"]

DECIMAL_KEY: Final = "decimal_key"
_EXPONENT_WIDTH: Final = 6


def decimal_key(text: str | None) -> str | None:
    """A text that sorts as the number does: sign, exponent, digits; of a negative one all turned around.

    Two texts of one number, `10.1` and `10.10`, have one key.
    """
    if text is None:
        return None
    number = Decimal(text)
    if not number:
        return "1"
    mantissa = "".join(map(str, number.as_tuple().digits)).rstrip("0")
    size = number.adjusted() + 10 ** (_EXPONENT_WIDTH - 1) * 5
    key = f"{size:0{_EXPONENT_WIDTH}d}{mantissa}"
    if number > 0:
        return "2" + key
    # A longer negative mantissa is the smaller number, so a mark that sorts last ends the shorter one.
    return "0" + key.translate(_TURNED) + "~"


_TURNED: Final = str.maketrans("0123456789", "9876543210")


class _DecimalKey(GenericFunction[Any]):
    """What a decimal is compared and sorted by."""

    name = DECIMAL_KEY
    type = sa.String()
    inherit_cache = True


@compiles(_DecimalKey)
def _itself(element: Any, compiler: Any, **options: Any) -> str:
    """Elsewhere a decimal is compared as it is."""
    return str(compiler.process(element.clauses.clauses[0], **options))


@compiles(_DecimalKey, "sqlite")
def _by_key(element: Any, compiler: Any, **options: Any) -> str:
    return f"{DECIMAL_KEY}({compiler.process(element.clauses.clauses[0], **options)})"


def comparable(column: sa.ColumnElement[Any], field: Field) -> sa.ColumnElement[Any]:
    """What a field is compared and sorted by, of its column or of a value that is bound."""
    return _DecimalKey(column) if field.type == "numeric" else column


class ExactNumeric(TypeDecorator[Decimal]):
    """A decimal that comes back as it went in."""

    impl = sa.Numeric
    cache_ok = True

    def load_dialect_impl(self, dialect: sa.Dialect) -> TypeEngine[Any]:
        """Text on SQLite, whose own numbers are floating-point ones."""
        return dialect.type_descriptor(sa.Text() if dialect.name == "sqlite" else self.impl_instance)

    def process_bind_param(self, value: Any, dialect: sa.Dialect) -> Any:
        return format(value, "f") if isinstance(value, Decimal) and dialect.name == "sqlite" else value

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> Any:
        if isinstance(value, Decimal):  # with the digits that it has, 100 and not 1E+2
            value = format(value, "f")
        return Decimal(value) if isinstance(value, str) else value


class PlainFloat(TypeDecorator[float]):
    """A floating-point number; SQLite gives whole ones back as integers."""

    impl = sa.Double
    cache_ok = True

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> Any:
        return float(value) if isinstance(value, int) else value


class PlainJson(TypeDecorator[Any]):
    """JSON; on SQLite as text, for a column of its own type JSON turns numbers into floating-point ones."""

    impl = sa.Text
    cache_ok = True

    def load_dialect_impl(self, dialect: sa.Dialect) -> TypeEngine[Any]:
        """JSONB, or text."""
        return dialect.type_descriptor(JSONB(none_as_null=True) if dialect.name == "postgresql" else sa.Text())

    def process_bind_param(self, value: Any, dialect: sa.Dialect) -> Any:
        return value if value is None or dialect.name == "postgresql" else json.dumps(value, ensure_ascii=False)

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> Any:
        return value if value is None or dialect.name == "postgresql" else json.loads(value)


class UtcDateTime(TypeDecorator[dt.datetime]):
    """A moment, in UTC on both databases."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: sa.Dialect) -> Any:
        if isinstance(value, dt.datetime) and dialect.name == "sqlite":
            return value.astimezone(dt.UTC).replace(tzinfo=None)
        return value

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> Any:
        if not isinstance(value, dt.datetime):
            return value
        return value.replace(tzinfo=dt.UTC) if value.tzinfo is None else value.astimezone(dt.UTC)


class Hidden(TypeDecorator[Any]):
    """A secure field: opened on its way in, a `Secret` on its way out, whoever reads it."""

    impl = sa.Text
    cache_ok = False

    def __init__(self, inner: TypeEngine[Any], wire: Callable[[Any], Any] | None) -> None:
        super().__init__()
        self.impl = inner  # type: ignore[assignment]
        self._wire = wire

    def copy(self, **options: Any) -> Hidden:
        return Hidden(self.impl_instance, self._wire)

    def process_bind_param(self, value: Any, dialect: sa.Dialect) -> Any:
        return value.reveal() if isinstance(value, Secret) else value

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> Any:
        if value is None:
            return None
        return Secret(value if self._wire is None else self._wire(value))


def column_type(field: Field) -> TypeEngine[Any]:
    """The type of a field's column."""
    body = field.body
    if field.type == "numeric":
        inner: TypeEngine[Any] = ExactNumeric(body.precision, body.scale if body.scale is not None else None)
    elif field.type in ("string", "varchar"):
        inner = _text(sa.String, body.length)
    elif field.type == "enum":
        inner = _text(sa.String, max(map(len, body.enum_values)))
    else:
        inner = _TYPES[field.type]()
    return Hidden(inner, field.wire()) if field.secure else inner


def _text(kind: type[sa.String], length: int | None = None) -> TypeEngine[Any]:
    """Text that sorts by its characters' numbers on both databases, whatever language a server speaks."""
    return kind(length).with_variant(kind(length, collation="C"), "postgresql")


_TYPES: Final[Mapping[str, Callable[[], TypeEngine[Any]]]] = {
    "text": lambda: _text(sa.Text),
    "integer": sa.Integer,
    # Only a column of the type INTEGER counts by itself on SQLite.
    "bigint": lambda: sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
    "smallint": lambda: sa.SmallInteger().with_variant(sa.Integer(), "sqlite"),
    "float": PlainFloat,
    "boolean": sa.Boolean,
    "uuid": sa.Uuid,
    "date": sa.Date,
    "timestamp": sa.DateTime,
    "timestamptz": UtcDateTime,
    "jsonb": PlainJson,
    "bytea": sa.LargeBinary,
}
