"""What lies between the tables of a database and the definitions, as Alembic's operations."""

from __future__ import annotations

import warnings
from typing import Any, Final

import attrs
import sqlalchemy as sa
from alembic.autogenerate import produce_migrations
from alembic.migration import MigrationContext
from alembic.operations import ops

from tuvl_kinds_modelop.db.plain import differs, escaped, final_name, literals, plain_metadata, values_check

__all__ = ["ByHand", "Changes", "find_changes"]


class ByHand(ops.MigrateOperation):
    """A change that nobody but a person can write down.

    Args:
        table_name: The table.
        text: What changes.
        back: What changes on the way back.
    """

    def __init__(self, table_name: str, text: str, back: str) -> None:
        self.table_name = table_name
        self.text = text
        self.back = back

    def reverse(self) -> ByHand:
        """The way back."""
        return ByHand(self.table_name, self.back, self.text)


_BECOMES: Final = "the primary key is {}, and becomes {}"


@attrs.frozen(kw_only=True, eq=False)
class Changes:
    """What makes a database fit the definitions.

    Attributes:
        upgrade: The operations, in order.
        context: What they are rendered with.
        unmanaged: Tables that no model defines.
        heads: The revisions that were applied last.
    """

    upgrade: ops.UpgradeOps
    context: MigrationContext
    unmanaged: tuple[str, ...]
    heads: tuple[str, ...]


def find_changes(connection: sa.Connection, metadata: sa.MetaData) -> Changes:
    """Compare a database with the tables that it should have."""
    plain = plain_metadata(metadata, connection.dialect)

    def managed(name: str | None, type: str, parents: Any) -> bool:
        return type != "table" or name in plain.tables

    context = MigrationContext.configure(
        connection, opts={"compare_type": differs, "include_name": managed, "target_metadata": plain}
    )
    with warnings.catch_warnings():
        # About tables that refer to each other, and about what others made in the database.
        warnings.simplefilter("ignore", sa.exc.SAWarning)
        upgrade = produce_migrations(context, plain).upgrade_ops or ops.UpgradeOps([])
        _add_unseen(upgrade, connection, plain)
        if connection.dialect.name != "sqlite":
            _untie(upgrade)
        there = set(sa.inspect(connection).get_table_names())
    unmanaged = sorted(there - set(plain.tables) - {context.version_table})
    return Changes(
        upgrade=upgrade, context=context, unmanaged=tuple(unmanaged), heads=tuple(context.get_current_heads())
    )


def _add_unseen(upgrade: ops.UpgradeOps, connection: sa.Connection, plain: sa.MetaData) -> None:
    """Add what changes about the values of enums, and about keys: Alembic does not look at either."""
    inspector = sa.inspect(connection)
    known = {item.table_name: item for item in upgrade.ops if isinstance(item, ops.ModifyTableOps)}
    for name in inspector.get_table_names():
        if name not in plain.tables:
            continue
        upgrade.ops += _key(inspector, plain.tables[name], connection.dialect)
        drops, adds = _checks(inspector, plain.tables[name], connection.dialect)
        if not drops and not adds:
            continue
        if name not in known:
            known[name] = ops.ModifyTableOps(name, [])
            upgrade.ops.append(known[name])
        known[name].ops[:] = [*drops, *known[name].ops, *adds]


def _key(inspector: sa.Inspector, table: sa.Table, dialect: sa.Dialect) -> list[ops.MigrateOperation]:
    there = ", ".join(inspector.get_pk_constraint(table.name)["constrained_columns"]) or "none"
    wanted = ", ".join(column.name for column in table.primary_key)
    if there != wanted:
        return [ByHand(table.name, _BECOMES.format(there, wanted), _BECOMES.format(wanted, there))]
    key = next((item for item in table.primary_key if item.autoincrement is True), None)
    if key is None or dialect.name == "sqlite":
        return []  # SQLite numbers every whole number that is a key
    column = next(item for item in inspector.get_columns(table.name) if item["name"] == key.name)
    if column.get("identity") or "nextval(" in str(column.get("default") or ""):
        return []
    text = f"the database does not number {key.name} by itself"
    return [ByHand(table.name, f"{text} yet, as the model has it", f"{text} any more")]


def _checks(
    inspector: sa.Inspector, table: sa.Table, dialect: sa.Dialect
) -> tuple[list[ops.MigrateOperation], list[ops.MigrateOperation]]:
    there = {
        str(item["name"]): item["sqltext"]
        for item in inspector.get_check_constraints(table.name)
        if values_check(table.name, str(item["name"]))
    }
    wanted = {final_name(item, dialect): item for item in table.constraints if isinstance(item, sa.CheckConstraint)}
    drops: list[ops.MigrateOperation] = []
    adds: list[ops.MigrateOperation] = []
    for name, sql in there.items():
        if name not in wanted or literals(sql) != literals(wanted[name].info["sql"]):
            old = ops.CreateCheckConstraintOp(name, table.name, sa.literal_column(escaped(sql)))
            drops.append(ops.DropConstraintOp(name, table.name, type_="check", _reverse=old))
    for name, constraint in wanted.items():
        if name not in there or literals(there[name]) != literals(constraint.info["sql"]):
            adds.append(ops.CreateCheckConstraintOp.from_constraint(constraint))
    return drops, adds


def _untie(upgrade: ops.UpgradeOps) -> None:
    """Make foreign keys of new tables that lead to tables made later only when both are there."""
    later = {item.table_name for item in upgrade.ops if isinstance(item, ops.CreateTableOp)}
    ties: list[ops.MigrateOperation] = []
    for item in upgrade.ops:
        if not isinstance(item, ops.CreateTableOp):
            continue
        later.discard(item.table_name)
        tied = [part for part in item.columns if _target(part) in later]
        if tied:
            item.columns = [part for part in item.columns if _target(part) not in later]
            created = [ops.CreateForeignKeyOp.from_constraint(part) for part in tied]  # type: ignore[arg-type]
            ties.append(ops.ModifyTableOps(item.table_name, created))
    upgrade.ops += ties


def _target(part: Any) -> str | None:
    return part.elements[0].target_fullname.rpartition(".")[0] if isinstance(part, sa.ForeignKeyConstraint) else None
