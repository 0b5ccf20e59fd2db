"""What SQLite needs while tables are copied: it alters little, so Alembic makes a new table in place of one."""

from __future__ import annotations

from typing import Any, Final

import sqlalchemy as sa

from tuvl_kinds_modelop.db.plain import escaped

__all__ = ["dangling", "prepare_copies"]

_RENAMES: Final = ("ALTER TABLE _alembic_tmp_", 'ALTER TABLE "_alembic_tmp_')


class _Inspector(sa.Inspector):
    """Gives CHECK constraints as `sqlalchemy.text` takes them, for a copied table gets them that way."""

    def get_multi_check_constraints(self, *arguments: Any, **options: Any) -> Any:
        found = super().get_multi_check_constraints(*arguments, **options)
        for constraint in (item for items in found.values() for item in items):
            constraint["sqltext"] = escaped(constraint["sqltext"])
        return found


def prepare_copies(connection: sa.Connection) -> None:
    """Make a connection that has no transaction yet ready for copied tables, until it is closed."""
    # Others refer to the table that goes; inside a transaction this would have no effect.
    _pragma(connection, "foreign_keys=OFF")
    connection.dialect.inspector = _Inspector  # type: ignore[attr-defined]
    sa.event.listen(connection, "before_cursor_execute", _before)
    sa.event.listen(connection, "after_cursor_execute", _after)


def dangling(connection: sa.Connection) -> set[tuple[str, str]]:
    """Tables with rows that refer to none, and the table they refer to: what was switched off is looked up here."""
    if connection.dialect.name != "sqlite":
        return set()
    return {(str(row[0]), str(row[2])) for row in connection.exec_driver_sql("PRAGMA foreign_key_check")}


def _before(connection: sa.Connection, _cursor: Any, statement: str, *_: Any) -> None:
    # Views name the table that is not there for a moment. Other renames have the views and references follow.
    if statement.startswith(_RENAMES):
        _pragma(connection, "legacy_alter_table=ON")


def _after(connection: sa.Connection, _cursor: Any, statement: str, *_: Any) -> None:
    if statement.startswith(_RENAMES):
        _pragma(connection, "legacy_alter_table=OFF")


def _pragma(connection: sa.Connection, text: str) -> None:
    cursor = connection.connection.cursor()
    cursor.execute(f"PRAGMA {text}")
    cursor.close()
