"""Operations as Python, and migration files of them."""

from __future__ import annotations

import datetime as dt
import re
import textwrap
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import attrs
import sqlalchemy as sa
from alembic.autogenerate import render_op_text
from alembic.autogenerate.api import AutogenContext
from alembic.operations import ops

from tuvl_core import TuvlError
from tuvl_kinds_modelop.db.changes import ByHand, Changes
from tuvl_kinds_modelop.db.filling import filling
from tuvl_kinds_modelop.db.plain import escaped
from tuvl_kinds_modelop.models import Model

__all__ = ["Script", "script_of", "write_file"]

_FILE: Final = '''\
"""{message}

Revision ID: {revision}
Revises: {previous}
Create Date: {date}
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
{imports}
revision = {revision!r}
down_revision = {down!r}
branch_labels = None
depends_on = None


def upgrade() -> None:
{upgrade}


def downgrade() -> None:
{downgrade}
'''


@attrs.frozen
class _Note:
    """A line for the person who reviews the file."""

    text: str


_Step = ops.MigrateOperation | _Note


@attrs.frozen(kw_only=True)
class Script:
    """What a migration does, as Python.

    Attributes:
        upgrade: The body of `upgrade`.
        downgrade: The body of `downgrade`.
        imports: Import lines beyond those that every file has.
        unfilled: Fields that become required, and whose rows somebody has to fill.
    """

    upgrade: str
    downgrade: str
    imports: tuple[str, ...]
    unfilled: tuple[str, ...]


def script_of(changes: Changes, models: Mapping[str, Model]) -> Script:
    """Write changes as Python.

    Args:
        changes: The changes.
        models: The models by table: what new fields of rows that are there get.
    """
    dialect = changes.context.dialect
    opts = {
        "sqlalchemy_module_prefix": "sa.",
        "alembic_module_prefix": "op.",
        "user_module_prefix": None,
        # Batch operations copy the table, for SQLite alters next to nothing.
        "render_as_batch": dialect.name == "sqlite",
    }
    context = AutogenContext(changes.context, opts=opts, autogenerate=False)
    unfilled: list[str] = []
    forth = list(_steps(changes.upgrade.ops, _Filler(models, dialect, unfilled)))
    back = list(_steps(changes.upgrade.reverse().ops, _Filler({}, dialect, [])))
    upgrade, downgrade = _body(forth, context), _body(back, context)
    return Script(
        upgrade=upgrade, downgrade=downgrade, imports=tuple(sorted(context.imports)), unfilled=tuple(unfilled)
    )


def write_file(folder: Path, message: str, previous: str | None, script: Script) -> Path:
    """Write a migration file.

    Raises:
        TuvlError: It cannot be written.
    """
    revision = uuid.uuid4().hex[:12]
    now = dt.datetime.now(dt.UTC)
    line = " ".join(message.split()).replace("\\", "/").replace('"', "'")
    slug = re.sub(r"[^a-z0-9]+", "_", line.lower()).strip("_")[:40].strip("_") or "migration"
    text = _FILE.format(
        message=line,
        revision=revision,
        previous=previous or "-",
        date=f"{now:%Y-%m-%d %H:%M} UTC",
        imports="".join(f"{item}\n" for item in script.imports),
        down=previous,
        upgrade=textwrap.indent(script.upgrade, "    "),
        downgrade=textwrap.indent(script.downgrade, "    "),
    )
    path = folder / f"{now:%Y%m%d}_{revision}_{slug}.py"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise TuvlError(f"{error.filename or path} cannot be written: {error.strerror}") from error
    return path


@attrs.frozen
class _Filler:
    """Says how rows that are there come to a value in a field that becomes required."""

    models: Mapping[str, Model]
    dialect: sa.Dialect
    unfilled: list[str]

    def step(self, table: str, column: str) -> _Step:
        model = self.models.get(table)
        field = model.fields.get(column) if model is not None else None
        sql = filling(field, self.dialect) if field is not None else None
        quote = self.dialect.identifier_preparer.quote
        if sql is not None:
            statement = f"UPDATE {quote(table)} SET {quote(column)} = {sql} WHERE {quote(column)} IS NULL"  # noqa: S608
            return ops.ExecuteSQLOp(escaped(statement))
        self.unfilled.append(f"{table}.{column}")
        return _Note(f"{table}.{column}: give rows that are there a value here, or the next step fails on them.")


def _steps(operations: list[ops.MigrateOperation], filler: _Filler) -> Iterator[_Step]:
    """Operations, with what becomes required filled first."""
    for operation in operations:
        if not isinstance(operation, ops.ModifyTableOps):
            yield operation
            continue
        before: list[ops.MigrateOperation] = []
        fills: list[_Step] = []
        after: list[ops.MigrateOperation] = []
        for part in operation.ops:
            column = _becomes_required(part)
            if column is not None:
                fills.append(filler.step(operation.table_name, column))
            first, then = _halves(part, column is not None)
            before += first
            after += then
        if not fills:
            before, after = list(operation.ops), []
        for half, rest in ((before, fills), (after, [])):
            if half:
                yield ops.ModifyTableOps(operation.table_name, half)
            yield from rest


def _becomes_required(part: ops.MigrateOperation) -> str | None:
    if isinstance(part, ops.AddColumnOp) and not part.column.nullable and part.column.server_default is None:
        return str(part.column.name)
    if isinstance(part, ops.AlterColumnOp) and part.modify_nullable is False:
        return part.column_name
    return None


def _halves(part: ops.MigrateOperation, filled: bool) -> tuple[list[ops.MigrateOperation], list[ops.MigrateOperation]]:
    """What of an operation comes before rows are filled, and what after."""
    if isinstance(part, (ops.AddConstraintOp, ops.CreateIndexOp)):
        return [], [part]
    if not filled:
        return [part], []
    if isinstance(part, ops.AddColumnOp):
        column = part.column._copy()
        column.nullable = True
        column.index = column.unique = None
        required = ops.AlterColumnOp(
            part.table_name, str(column.name), existing_type=column.type, modify_nullable=False
        )
        return [ops.AddColumnOp(part.table_name, column)], [required]
    assert isinstance(part, ops.AlterColumnOp)
    if part.modify_type is None:
        return [], [part]
    name, kind = part.column_name, part.modify_type
    retyped = ops.AlterColumnOp(
        part.table_name, name, existing_type=part.existing_type, existing_nullable=True, modify_type=kind
    )
    required = ops.AlterColumnOp(part.table_name, name, existing_type=kind, modify_nullable=False)
    return [retyped], [required]


def _body(steps: list[_Step], context: AutogenContext) -> str:
    lines = [line for step in steps for line in _lines(step, context)]
    if not any(not line.startswith("#") for line in lines):
        lines.append("pass")
    return "\n".join(lines)


def _lines(step: _Step, context: AutogenContext) -> Iterator[str]:
    if isinstance(step, _Note):
        yield f"# {step.text}"
        return
    if isinstance(step, ByHand):
        yield f"# {step.table_name}: {step.text}; nobody can write that down but you."
        return
    if isinstance(step, ops.DropColumnOp):
        yield _lost(step)
    if isinstance(step, ops.ModifyTableOps):
        if not context.opts["render_as_batch"]:
            for part in step.ops:
                yield from _lines(part, context)
            return
        yield from (_lost(part) for part in step.ops if isinstance(part, ops.DropColumnOp))
        first, *rest = render_op_text(context, step).rstrip().splitlines()
        yield first.replace(", schema=None", "")
        yield from textwrap.indent("\n".join(rest), "    ").splitlines()
        return
    text = render_op_text(context, step)
    if isinstance(step, ops.AlterColumnOp) and _needs_using(step):
        text = f"{text.removesuffix(')')},\n{_using(step, context)})"
    yield from text.splitlines()


def _lost(step: ops.DropColumnOp) -> str:
    return f"# {step.table_name}.{step.column_name}: what it holds is lost."


def _needs_using(step: ops.AlterColumnOp) -> bool:
    """Whether PostgreSQL has to be told; to a text it converts by itself, and then never cuts one off."""
    return step.modify_type is not None and not isinstance(step.modify_type, sa.String)


def _using(step: ops.AlterColumnOp, context: AutogenContext) -> str:
    """How PostgreSQL converts what is there; by itself it only does what loses nothing."""
    quote = context.dialect.identifier_preparer.quote
    kind: Any = step.modify_type
    spelled = context.dialect.type_compiler_instance.process(kind)
    return f"{' ' * 16}postgresql_using={f'{quote(step.column_name)}::{spelled}'!r}"
