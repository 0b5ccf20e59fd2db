"""The records of one model: what ModelOp steps do, and nodes can do too."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from tuvl_core import StepError
from tuvl_kinds_modelop.access import Verb
from tuvl_kinds_modelop.includes import include_into
from tuvl_kinds_modelop.models import Model
from tuvl_kinds_modelop.ordering import read_order
from tuvl_kinds_modelop.statements import Condition, clause, conditions_of, field_named, order_clauses, taken

if TYPE_CHECKING:
    from tuvl_kinds_modelop.database import Database

__all__ = ["Repository"]

Record = dict[str, Any]
Records = list[Record]  # `Repository.list` hides the type of this name inside the class
Clauses = list[sa.ColumnElement[bool]]
Filters = Mapping[str, Any] | Sequence[Condition]

DEFAULT_LIMIT: Final = 100
T = TypeVar("T")


class Repository:
    """The records of one model, as one run may see them.

    Records are dicts by field, with Python's own types: `Decimal`, `datetime`, `UUID`; values of secure fields
    are `Secret`s. Every call checks the run's scopes, binds every value, and sees the rows of the run's tenant
    only.

    Args:
        database: The run's databases.
        model: Name of the model.
        guarded: Whether the caller may go on after a failure.
    """

    def __init__(self, database: Database, model: str, *, guarded: bool = True) -> None:
        self._database = database
        self._name = model
        self._guarded = guarded

    async def get(self, id: Any, *, filters: Filters = (), include: Iterable[str] = ()) -> Record | None:
        """Read one record.

        Args:
            id: Its primary key, or text or a number that is one.
            filters: What must hold of it besides.
            include: Relations to bring along, one further query each.

        Returns:
            The record; None if there is none.

        Raises:
            AccessError: The run may not.
            StepError: The id or a relation does not fit, or the statement failed.
        """
        model = self._database.require(self._name, "read")
        include = tuple(include)
        chosen = self._database.tables.by_key(model)
        if filters:
            chosen = chosen.where(*self._where(model, self._database.tables.table(model), filters))
        parameters = {"key": self._id(model, id)}
        if model.tenant_field is not None:
            parameters["tenant"] = taken(model.fields[model.tenant_field], self._database.tenant)

        async def work(connection: AsyncConnection) -> Record | None:
            row = (await connection.execute(chosen, parameters)).mappings().first()
            if row is None:
                return None
            records = [dict(row)]
            await include_into(self._database, connection, model, records, include)
            return records[0]

        return await self._do(model, "read", work, writes=False)

    async def list(
        self,
        filters: Filters = (),
        *,
        order_by: Any = None,
        include: Iterable[str] = (),
        limit: int | None = DEFAULT_LIMIT,
        offset: int = 0,
    ) -> Records:
        """Read records.

        Args:
            filters: `{field: value}`, or `{field: {operator: value}}` with `eq gt gte lt lte in like is_null`.
            order_by: A field, `-field` for descending, or a list of them; the primary key at last.
            include: Relations to bring along, one further query each.
            limit: The most records; None: all.
            offset: How many to pass over.

        Raises:
            AccessError: The run may not.
            StepError: A field, operator or value does not fit, or the statement failed.
        """
        model, table = self._may("read")
        include = tuple(include)
        orders = read_order(model, order_by)
        chosen = (
            sa.select(table)
            .where(*self._where(model, table, filters))
            .order_by(*order_clauses(table, orders, model.key))
            .limit(_count(limit, "limit"))
            .offset(_count(offset, "offset") or None)
        )

        async def work(connection: AsyncConnection) -> Records:
            records = [dict(row) for row in (await connection.execute(chosen)).mappings()]
            await include_into(self._database, connection, model, records, include)
            return records

        return await self._do(model, "list", work, writes=False)

    async def create(self, values: Mapping[str, Any]) -> Record:
        """Make a record.

        Returns:
            The record, with its defaults.

        Raises:
            AccessError: The run may not.
            StepError: A field is unknown or missing, a value does not fit, or the statement failed.
        """
        model, table = self._may("write")
        row = self._row(model, values, "create")
        for field in model.fields.values():
            if field.name not in row:
                default = field.default()
                if default is not None:
                    row[field.name] = default
        missing = [
            field.name
            for field in model.fields.values()
            if not field.nullable and field.name not in row and not field.generates
        ]
        if missing:
            raise StepError(f"create {model.name}: {', '.join(missing)} must be given", type="missing_field")
        made = sa.insert(table).values(row).returning(*table.c)

        async def work(connection: AsyncConnection) -> Record:
            return dict((await connection.execute(made)).mappings().one())

        return await self._do(model, "create", work, writes=True)

    async def update(self, id: Any, values: Mapping[str, Any], *, filters: Filters = ()) -> Record | None:
        """Change one record.

        Args:
            id: Its primary key.
            values: The fields that change.
            filters: What must hold of it besides.

        Returns:
            The record as it is now; None if there is none.

        Raises:
            AccessError: The run may not.
            StepError: A field or value does not fit, nothing would change, or the statement failed.
        """
        model, table = self._may("write")
        where = [*self._key(model, table, id), *self._where(model, table, filters)]
        changed = sa.update(table).where(*where).values(self._changes(model, values)).returning(*table.c)

        async def work(connection: AsyncConnection) -> Record | None:
            row = (await connection.execute(changed)).mappings().first()
            return None if row is None else dict(row)

        return await self._do(model, "update", work, writes=True)

    async def update_where(self, filters: Filters, values: Mapping[str, Any], *, all_rows: bool = False) -> int:
        """Change every record that filters name.

        Args:
            filters: Which; without any, `all_rows` must say that all are meant.
            values: The fields that change.
            all_rows: That all are meant.

        Returns:
            How many there were.

        Raises:
            AccessError: The run may not.
            StepError: As for `update`, or the filters do not name anything.
        """
        model, table = self._may("write")
        where = self._narrow(model, table, filters, all_rows, "update")
        changed = sa.update(table).where(*where).values(self._changes(model, values))
        return await self._count(model, "update", changed)

    async def delete(self, id: Any, *, filters: Filters = ()) -> bool:
        """Remove one record.

        Returns:
            Whether there was one.

        Raises:
            AccessError: The run may not.
            StepError: The id does not fit, others refer to it, or the statement failed.
        """
        model, table = self._may("delete")
        where = [*self._key(model, table, id), *self._where(model, table, filters)]
        return bool(await self._count(model, "delete", sa.delete(table).where(*where)))

    async def delete_where(self, filters: Filters, *, all_rows: bool = False) -> int:
        """Remove every record that filters name; arguments and errors as for `update_where`."""
        model, table = self._may("delete")
        where = self._narrow(model, table, filters, all_rows, "delete")
        return await self._count(model, "delete", sa.delete(table).where(*where))

    # --- parts --------------------------------------------------------------------------------

    def _may(self, verb: Verb) -> tuple[Model, sa.Table]:
        model = self._database.require(self._name, verb)
        return model, self._database.tables.table(model)

    async def _do(self, model: Model, what: str, work: Callable[[AsyncConnection], Awaitable[T]], *, writes: bool) -> T:
        label = f"{what} {model.name}"
        return await self._database.do(model.source, label, work, writes=writes, guarded=self._guarded)

    async def _count(self, model: Model, what: str, statement: sa.Update | sa.Delete) -> int:
        async def work(connection: AsyncConnection) -> int:
            return (await connection.execute(statement)).rowcount

        return await self._do(model, what, work, writes=True)

    def _id(self, model: Model, id: Any) -> Any:
        """A primary key in the form of its column."""
        if id is None or id == "":
            shown = "null" if id is None else "empty"
            raise StepError(f"{model.name}: the id ({model.key.name}) is {shown}", type="bad_filter")
        return taken(model.key, id)

    def _key(self, model: Model, table: sa.Table, id: Any) -> Clauses:
        return [clause(table, Condition(model.key, "eq", self._id(model, id)))]

    def _tenant(self, model: Model, table: sa.Table) -> Clauses:
        if model.tenant_field is None:
            return []
        return [clause(table, Condition(model.fields[model.tenant_field], "eq", self._database.tenant))]

    def _where(self, model: Model, table: sa.Table, filters: Filters) -> Clauses:
        conditions = conditions_of(model, filters) if isinstance(filters, Mapping) else filters
        return [*(clause(table, item) for item in conditions), *self._tenant(model, table)]

    def _narrow(self, model: Model, table: sa.Table, filters: Filters, all_rows: bool, what: str) -> Clauses:
        """The rows that an update or delete is about: named by filters that cannot mean all by mistake."""
        conditions = conditions_of(model, filters) if isinstance(filters, Mapping) else list(filters)
        if not conditions and not all_rows:
            raise StepError(
                f"{what} {model.name}: no filter names the records; to {what} all of them, say `all_rows: true`",
                type="bad_filter",
            )
        for condition in conditions:
            problem = means_nothing(condition)
            if problem is not None:
                raise StepError(
                    f"{what} {model.name}: the filter on {condition.field.name!r} {problem}", type="bad_filter"
                )
        return self._where(model, table, conditions)

    def _changes(self, model: Model, values: Mapping[str, Any]) -> Record:
        row = self._row(model, values, "update", without=model.key.name)
        if not row:
            raise StepError(f"update {model.name}: no field is given, so nothing would change", type="missing_field")
        return row

    def _row(self, model: Model, values: Mapping[str, Any], what: str, without: str | None = None) -> Record:
        """Values by column, each in the form its column holds; the tenant is the run's own."""
        row: Record = {}
        known = [name for name in model.fields if name not in (without, model.tenant_field)]
        for name, value in values.items():
            field = field_named(model, name, f"{what} {model.name}", known)
            if name not in known:
                raise StepError(f"{what} {model.name}: {name!r} cannot be given", type="bad_field")
            row[name] = taken(field, value)
            if field.secure and isinstance(row[name], str):
                self._database.opened(row[name])
        if model.tenant_field is not None and what == "create":
            row[model.tenant_field] = taken(model.fields[model.tenant_field], self._database.tenant)
        return row


def means_nothing(condition: Condition) -> str | None:
    """What is wrong with a filter that would, or could, mean every record; None if it names some."""
    operator, value = condition.operator, condition.value
    if operator == "is_null":
        always = not condition.field.nullable and value in (False, "false")
        return "is true of every record" if always else None
    if value is None:
        return "is null"
    if isinstance(value, str) and not value.strip():
        return "is empty"
    if operator == "in" and not isinstance(value, (str, Mapping)) and not list(value):
        return "is an empty list"
    if operator == "like" and isinstance(value, str) and not value.strip("%_"):
        return "is true of records whatever they hold"
    return None


def _count(value: int | None, what: str) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31):
        raise StepError(f"{what} is a whole number from 0, not {str(value)[:40]}", type="bad_filter")
    return value
