"""Relations: what belongs to records, read with one further query each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from tuvl_core import StepError
from tuvl_kinds_modelop.columns import comparable
from tuvl_kinds_modelop.fields import Field
from tuvl_kinds_modelop.models import Model, Relation, advice

if TYPE_CHECKING:
    from tuvl_kinds_modelop.database import Database

__all__ = ["include_into", "relation_named"]

Records = list[dict[str, Any]]
_BATCH = 10_000
"""The most keys in one query; more records than that take a second one."""


def relation_named(model: Model, name: str) -> Relation:
    """Look a relation up.

    Raises:
        StepError: The model has none of that name.
    """
    relation = model.relations.get(name)
    if relation is None:
        raise StepError(
            f"include: {model.name} has no relation {name!r}{advice(name, model.relations)}", type="bad_include"
        )
    return relation


async def include_into(
    database: Database, connection: AsyncConnection, model: Model, records: Records, names: Sequence[str]
) -> None:
    """Put what belongs to each record under the relation's name: a record or null, or a list.

    Raises:
        AccessError: The run may not read the other model.
        StepError: A relation is not known, or lies in another data source.
    """
    for name in names:
        relation = relation_named(model, name)
        other = database.require(relation.model, "read")
        if other.source != model.source:
            raise StepError(
                f"include: {name!r} lies in the data source {other.source!r}, {model.name} in {model.source!r}; "
                "read it with a step of its own",
                type="bad_include",
            )
        if relation.many:
            await _many(database, connection, model, other, relation, records)
        else:
            await _one(database, connection, other, relation, records)


async def _one(
    database: Database, connection: AsyncConnection, other: Model, relation: Relation, records: Records
) -> None:
    wanted = {record[relation.foreign_key] for record in records} - {None}
    found = await _read(database, connection, other, other.key, wanted)
    by_key = {row[other.key.name]: row for row in found}
    for record in records:
        record[relation.name] = by_key.get(record[relation.foreign_key])


async def _many(
    database: Database, connection: AsyncConnection, model: Model, other: Model, relation: Relation, records: Records
) -> None:
    wanted = {record[model.key.name] for record in records}
    found = await _read(database, connection, other, other.fields[relation.foreign_key], wanted)
    grouped: dict[Any, Records] = {}
    for row in found:
        grouped.setdefault(row[relation.foreign_key], []).append(row)
    for record in records:
        record[relation.name] = grouped.get(record[model.key.name], [])


async def _read(
    database: Database, connection: AsyncConnection, other: Model, field: Field, wanted: set[Any]
) -> Records:
    """Rows whose field is one of some values, in the order of their keys."""
    table = database.tables.table(other)
    column = table.c[field.name]
    found: Records = []
    keys = list(wanted)
    for start in range(0, len(keys), _BATCH):
        values = [comparable(sa.bindparam(None, key, type_=column.type), field) for key in keys[start : start + _BATCH]]
        chosen = sa.select(table).where(comparable(column, field).in_(values))
        if other.tenant_field is not None:
            chosen = chosen.where(table.c[other.tenant_field] == database.tenant)
        chosen = chosen.order_by(comparable(table.c[other.key.name], other.key))
        found += [dict(row) for row in (await connection.execute(chosen)).mappings()]
    return found
