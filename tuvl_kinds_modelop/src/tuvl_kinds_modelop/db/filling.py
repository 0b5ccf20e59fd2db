"""What rows that are there get in a field that becomes required, as SQL."""

from __future__ import annotations

import json
from typing import Any, Final

import sqlalchemy as sa

from tuvl_core import Secret
from tuvl_kinds_modelop.columns import Hidden, column_type
from tuvl_kinds_modelop.fields import Field

__all__ = ["filling"]

_NOW: Final = {
    "sqlite": {
        "date": "date('now')",
        # As many digits as SQLAlchemy writes, so that they sort together.
        "timestamp": "strftime('%Y-%m-%d %H:%M:%f000', 'now')",
        "timestamptz": "strftime('%Y-%m-%d %H:%M:%f000', 'now')",
    },
    "postgresql": {
        "date": "CAST(now() AT TIME ZONE 'utc' AS DATE)",
        "timestamp": "now() AT TIME ZONE 'utc'",
        "timestamptz": "now()",
    },
}
_UUID4: Final = {
    "sqlite": "lower(hex(randomblob(6)) || '4' || substr(hex(randomblob(2)), 2) || "
    "substr('89AB', 1 + (abs(random()) % 4), 1) || substr(hex(randomblob(8)), 2))",
    "postgresql": "gen_random_uuid()",
}


def filling(field: Field, dialect: sa.Dialect) -> str | None:
    """The SQL of a field's default; None where it has none, or it is a secret."""
    given = field.body.default
    if given is None or isinstance(given, Secret):
        return None
    if given == "now" and field.type in _NOW[dialect.name]:
        return _NOW[dialect.name][field.type]
    if given == "uuid4" and field.type == "uuid":
        return _UUID4[dialect.name]
    return _literal(field.take(given), field, dialect)


def _literal(value: Any, field: Field, dialect: sa.Dialect) -> str:
    if isinstance(value, bytes):
        return f"X'{value.hex()}'" if dialect.name == "sqlite" else f"'\\x{value.hex()}'"
    kind: Any = column_type(field)
    if isinstance(kind, Hidden):
        kind = kind.impl_instance
    if field.type == "jsonb":
        value, kind = json.dumps(value, ensure_ascii=False), sa.String()
    return str(sa.literal(value, kind).compile(dialect=dialect, compile_kwargs={"literal_binds": True}))
