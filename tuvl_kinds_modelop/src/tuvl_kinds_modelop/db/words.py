"""Changes in plain words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import attrs
import sqlalchemy as sa
from alembic.operations import ops

from tuvl_kinds_modelop.db.changes import ByHand
from tuvl_kinds_modelop.db.plain import literals

__all__ = ["Change", "told"]

_LOST: Final = "what it holds is lost"


@attrs.frozen(kw_only=True)
class Change:
    """One change.

    Attributes:
        mark: `+` for what comes, `-` for what goes, `~` for what becomes something else.
        table: The table.
        text: What happens, to be read behind the table's name.
        warning: What is to be considered before it is done, or None.
    """

    mark: str
    table: str
    text: str
    warning: str | None = None

    def __str__(self) -> str:
        return f"{self.mark} {self.table}{self.text}"

    def to_json(self) -> dict[str, Any]:
        """As `--json` gives it."""
        words = {"+": "add", "-": "drop", "~": "alter"}
        return {"change": words[self.mark], "table": self.table, "text": str(self)[2:], "warning": self.warning}


def told(upgrade: ops.UpgradeOps, dialect: sa.Dialect) -> list[Change]:
    """Say what operations do."""
    return [change for operation in upgrade.ops for change in _of(operation, dialect)]


def _of(operation: ops.MigrateOperation, dialect: sa.Dialect) -> Iterator[Change]:
    if not isinstance(operation, ops.ModifyTableOps):
        yield from _told(operation, dialect)
        return
    gone = {part.constraint_name: part for part in operation.ops if isinstance(part, ops.DropConstraintOp)}
    made = {part.constraint_name for part in operation.ops if isinstance(part, ops.CreateCheckConstraintOp)}
    for part in operation.ops:
        if isinstance(part, ops.DropConstraintOp) and part.constraint_name in made:
            continue  # told with the one that takes its place
        if isinstance(part, ops.CreateCheckConstraintOp) and part.constraint_name in gone:
            yield _other_values(part, gone[part.constraint_name])
        else:
            yield from _told(part, dialect)


def _told(operation: ops.MigrateOperation, dialect: sa.Dialect) -> Iterator[Change]:
    for kind, tell in _TELLERS.items():
        if isinstance(operation, kind):
            yield from tell(operation, dialect)
            return
    table = getattr(operation, "table_name", "?")
    yield Change(mark="~", table=str(table), text=f": {type(operation).__name__}")


def _spelled(kind: Any, dialect: sa.Dialect) -> str:
    return str(dialect.type_compiler_instance.process(kind)).replace(' COLLATE "C"', "")


def _create_table(operation: Any, dialect: sa.Dialect) -> Iterator[Change]:
    names = ", ".join(item.name for item in operation.columns if isinstance(item, sa.Column))
    yield Change(mark="+", table=operation.table_name, text=f": new table with {names}")


def _add_column(operation: Any, dialect: sa.Dialect) -> Iterator[Change]:
    column = operation.column
    required = "" if column.nullable else ", required"
    text = f".{column.name}: new field, {_spelled(column.type, dialect)}{required}"
    yield Change(mark="+", table=operation.table_name, text=text)


def _drop_column(operation: Any, dialect: sa.Dialect) -> Iterator[Change]:
    name = operation.column_name
    warning = f"{operation.table_name}.{name} is dropped: {_LOST}"
    text = f".{name}: no model has this field"
    yield Change(mark="-", table=operation.table_name, text=text, warning=warning)


def _alter_column(operation: Any, dialect: sa.Dialect) -> Iterator[Change]:
    place = {"mark": "~", "table": operation.table_name}
    name = operation.column_name
    if operation.modify_type is not None:
        before, after = (_spelled(item, dialect) for item in (operation.existing_type, operation.modify_type))
        warning = f"{operation.table_name}.{name}: the database converts what is there from {before} to {after}"
        yield Change(**place, text=f".{name}: {before} becomes {after}", warning=warning)
    if operation.modify_nullable is True:
        yield Change(**place, text=f".{name}: is not required any more")
    elif operation.modify_nullable is False:
        yield Change(**place, text=f".{name}: becomes required")


def _create_index(operation: Any, dialect: sa.Dialect) -> Iterator[Change]:
    yield Change(mark="+", table=operation.table_name, text=f": new index on {_listed(operation.columns)}")


def _drop_index(operation: Any, dialect: sa.Dialect) -> Iterator[Change]:
    yield Change(mark="-", table=operation.table_name, text=f": index {operation.index_name} goes")


def _create_unique(operation: Any, dialect: sa.Dialect) -> Iterator[Change]:
    text = f": {_listed(operation.columns)} becomes unique"
    yield Change(mark="+", table=operation.table_name, text=text)


def _create_foreign_key(operation: Any, dialect: sa.Dialect) -> Iterator[Change]:
    text = f": {_listed(operation.local_cols)} refers to {operation.referent_table}"
    yield Change(mark="+", table=operation.source_table, text=text)


def _create_check(operation: Any, dialect: sa.Dialect) -> Iterator[Change]:
    text = f".{_field(operation)}: takes {', '.join(sorted(_values(operation)))}"
    yield Change(mark="+", table=operation.table_name, text=text)


def _other_values(operation: Any, before: Any) -> Change:
    now, then = _values(operation), _values(before.reverse())
    place, gone = f".{_field(operation)}", ", ".join(sorted(then - now))
    text = f"{place}: takes {', '.join(sorted(now))}; it was {', '.join(sorted(then))}"
    warning = f"{operation.table_name}{place}: rows must not hold {gone} any more; change them first" if gone else None
    return Change(mark="~", table=operation.table_name, text=text, warning=warning)


def _values(operation: Any) -> frozenset[str]:
    return literals(str(operation.to_constraint().sqltext).replace("\\:", ":"))


def _drop_constraint(operation: Any, dialect: sa.Dialect) -> Iterator[Change]:
    what = {
        "check": f".{_field(operation)}: its values as they were go",
        "unique": f": {operation.constraint_name} goes, and with it that values are unique",
        "foreignkey": f": foreign key {operation.constraint_name} goes",
    }
    text = what.get(operation.constraint_type, f": {operation.constraint_name} goes")
    yield Change(mark="-", table=operation.table_name, text=text)


def _by_hand(operation: ByHand, dialect: sa.Dialect) -> Iterator[Change]:
    warning = f"{operation.table_name}: {operation.text}: the migration file has no statement for it; write it by hand"
    yield Change(mark="~", table=operation.table_name, text=f": {operation.text}", warning=warning)


def _field(operation: Any) -> str:
    return str(operation.constraint_name).removeprefix(f"ck_{operation.table_name}_").removesuffix("_values")


def _listed(columns: Any) -> str:
    return ", ".join(str(getattr(item, "name", item)) for item in columns)


_TELLERS: Final[dict[type[ops.MigrateOperation], Any]] = {
    ByHand: _by_hand,
    ops.CreateTableOp: _create_table,
    ops.AddColumnOp: _add_column,
    ops.DropColumnOp: _drop_column,
    ops.AlterColumnOp: _alter_column,
    ops.CreateIndexOp: _create_index,
    ops.DropIndexOp: _drop_index,
    ops.CreateUniqueConstraintOp: _create_unique,
    ops.CreateForeignKeyOp: _create_foreign_key,
    ops.CreateCheckConstraintOp: _create_check,
    ops.DropConstraintOp: _drop_constraint,
}
