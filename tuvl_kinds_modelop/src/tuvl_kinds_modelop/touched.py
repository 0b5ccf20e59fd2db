"""What a statement of SQLAlchemy Core touches, wherever in it that stands.

It keeps honest code within `spec.context`; Python in the same process is no prison.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from sqlalchemy.sql import visitors
from sqlalchemy.sql.elements import BinaryExpression, Cast, ColumnClause, TypeCoerce
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.sql.operators import custom_op

from tuvl_core import AccessError
from tuvl_kinds_modelop.access import Verb
from tuvl_kinds_modelop.columns import Hidden

__all__ = ["changes_of", "tables_of"]

_RAW = ("_prefixes", "_suffixes", "_hints", "_statement_hints")
"""Where a statement holds text of SQL as it is."""


def tables_of(statement: Any) -> Iterator[sa.Table]:
    """Every table of a statement.

    Raises:
        AccessError: It holds text of SQL, which may touch anything.
    """
    for element in visitors.iterate(statement):
        if _is_text(element):
            raise AccessError("text of SQL in a statement may touch anything; build it from `table(…)`")
        if isinstance(element, (FunctionElement, Cast, TypeCoerce)) and _hidden_in(element):
            raise AccessError("a secure column inside a function or cast would come out plain; select it as it is")
        if isinstance(element, sa.Table):
            yield element


def _hidden_in(element: Any) -> bool:
    return any(isinstance(getattr(part, "type", None), Hidden) for part in visitors.iterate(element))


def changes_of(statement: Any) -> dict[sa.Table, Verb]:
    """The tables that a statement changes, and how; common table expressions count too."""
    found: dict[sa.Table, Verb] = {}
    for element in visitors.iterate(statement):
        if isinstance(element, (sa.Insert, sa.Update, sa.Delete)) and isinstance(element.table, sa.Table):
            found[element.table] = "delete" if isinstance(element, sa.Delete) else "write"
    return found


def _is_text(element: Any) -> bool:
    if isinstance(element, sa.TextClause):
        return True
    if isinstance(element, ColumnClause) and element.is_literal and element.name != "*":  # that of count(*)
        return True
    if isinstance(element, BinaryExpression) and isinstance(element.operator, custom_op):
        return True
    # A table that is only named, `sqlalchemy.table("x")`, is of no definition.
    named = isinstance(element, sa.TableClause) and not isinstance(element, sa.Table)
    return named or any(bool(getattr(element, name, None)) for name in _RAW)
