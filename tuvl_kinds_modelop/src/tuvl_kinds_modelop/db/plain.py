"""The tables of a data source in types that migration files can name, for one dialect; and whether types differ."""

from __future__ import annotations

import re
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeDecorator, TypeEngine

from tuvl_kinds_modelop.tables import NAMES

__all__ = ["differs", "escaped", "final_name", "literals", "plain_metadata", "plain_type", "values_check"]

_SYNONYMS: Final = (
    (re.compile(r"\bFLOAT\b|\bREAL\b|\bDOUBLE\b(?! PRECISION)"), "DOUBLE PRECISION"),
    (re.compile(r"\bDECIMAL\b"), "NUMERIC"),
    # How text sorts in a table that others made is theirs to say.
    (re.compile(r' COLLATE "\w+"'), ""),
    (re.compile(r"DOUBLE PRECISION\(\d+\)"), "DOUBLE PRECISION"),
    (re.compile(r"NUMERIC\((\d+)\)"), r"NUMERIC(\1, 0)"),
    (re.compile(r"TIMESTAMP(?! WITH)"), "TIMESTAMP WITHOUT TIME ZONE"),
)
_LITERAL: Final = re.compile(r"\b(E?)'((?:[^']|'')*)'|'((?:[^']|'')*)'", re.I)
_SHORTENED: Final = re.compile(r".{55}_[0-9a-f]{4}")
_BIND: Final = re.compile(r"(?<![:\w\\]):(?=\w)")


def plain_metadata(metadata: sa.MetaData, dialect: sa.Dialect) -> sa.MetaData:
    """A copy of tables in plain types; for comparing and for migration files, not for statements."""
    copied = sa.MetaData(naming_convention=NAMES)
    for table in metadata.tables.values():
        table.to_metadata(copied)
    for table in copied.tables.values():
        for column in table.columns:
            column.type = plain_type(column.type, dialect)
            if not column.primary_key:
                column.autoincrement = "auto"
        for constraint in table.constraints:
            if isinstance(constraint, sa.CheckConstraint):
                text = constraint.sqltext.compile(dialect=dialect, compile_kwargs={"literal_binds": True})
                constraint.info["sql"] = str(text)
                # Files hold it as text, in which a colon would begin a parameter.
                constraint.sqltext = sa.literal_column(escaped(str(text)))
    return copied


def plain_type(kind: TypeEngine[Any], dialect: sa.Dialect) -> TypeEngine[Any]:
    """What a type is on a dialect, as SQLAlchemy itself calls it."""
    while True:
        variant = kind._variant_mapping.get(dialect.name)
        if variant is not None:
            kind = variant
        elif isinstance(kind, TypeDecorator):
            kind = kind.load_dialect_impl(dialect)
        else:
            break
    if isinstance(kind, JSONB):
        return JSONB()
    if isinstance(kind, sa.JSON):
        return sa.JSON()
    if isinstance(kind, sa.Numeric) and not isinstance(kind, sa.Float):
        return sa.Numeric(kind.precision, kind.scale)  # not the driver's own
    return kind


def differs(context: Any, inspected: Any, defined: Any, there: TypeEngine[Any], wanted: TypeEngine[Any]) -> bool:
    """Alembic's `compare_type`: whether a column of the one type is not one of the other."""
    return _spelled(there, context.dialect) != _spelled(wanted, context.dialect)


def _spelled(kind: TypeEngine[Any], dialect: sa.Dialect) -> str:
    text = str(dialect.type_compiler_instance.process(kind)).upper()
    for pattern, word in _SYNONYMS:
        text = pattern.sub(word, text)
    return text


def values_check(table: str, name: str) -> bool:
    """Whether a CHECK constraint is one that an enum field brings; a long name ends in a checksum instead."""
    return name.startswith(f"ck_{table}_") and (name.endswith("_values") or _SHORTENED.fullmatch(name) is not None)


def final_name(constraint: sa.Constraint, dialect: sa.Dialect) -> str:
    """The name of a constraint in the database, which shortens long ones."""
    return str(dialect.identifier_preparer.format_constraint(constraint, _alembic_quote=False))


def literals(sql: str) -> frozenset[str]:
    """Every text literal of an expression, whatever the database made of the rest."""
    found = set()
    for match in _LITERAL.finditer(sql):
        text = (match[2] if match[2] is not None else match[3]).replace("''", "'")
        found.add(text.replace("\\\\", "\\") if match[1] else text)
    return frozenset(found)


def escaped(sql: str) -> str:
    """SQL as `sqlalchemy.text` takes it, which reads `:name` as a parameter."""
    return _BIND.sub(r"\\:", sql)
