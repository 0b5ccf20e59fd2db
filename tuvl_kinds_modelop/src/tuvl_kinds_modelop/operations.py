"""What a ModelOp step does, with the values of one call filled in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from tuvl_core import Secret, StepCall, StepError
from tuvl_kinds_modelop.config import MAX_LIMIT, ModelOpConfig
from tuvl_kinds_modelop.models import Model, advice
from tuvl_kinds_modelop.parameters import RECORD_ID
from tuvl_kinds_modelop.prepared import Prepared, wire_of
from tuvl_kinds_modelop.repository import Repository
from tuvl_kinds_modelop.statements import Condition, field_named

if TYPE_CHECKING:
    from tuvl_kinds_modelop.database import Database

__all__ = ["perform"]


class _Filled:
    """One call of a step: its configuration, with values where templates stood.

    What the step leaves open is taken from the arguments of a tool call, by the fields' names.
    """

    def __init__(self, call: StepCall, prepared: Prepared) -> None:
        self.call = call
        self.prepared = prepared
        self.config: ModelOpConfig = call.step.config
        self.model = prepared.model
        self.arguments: Mapping[str, Any] = call.arguments or {}

    @property
    def id(self) -> Any:
        """The record that is meant; `None` where filters say it."""
        if self.config.record_id is not None:
            return self.call.render(self.config.record_id)
        if self.by_filters:
            return None
        for name in (self.model.key.name, RECORD_ID):
            if name in self.arguments:
                return self.arguments[name]
        raise StepError(
            f"{self.config.operation} {self.model.name}: {self.model.key.name} must be given", type="bad_filter"
        )

    @property
    def by_filters(self) -> bool:
        """Whether filters, not an id, say which records are meant."""
        config = self.config
        return config.record_id is None and (config.filters is not None or config.all_rows)

    def filters(self) -> list[Condition]:
        """The conditions; of a list that leaves them open, those that the arguments make."""
        if self.prepared.filters is None:
            if self.config.operation != "list":
                return []
            return [Condition(self.model.fields[name], "eq", value) for name, value in self.given().items()]
        if self.config.filters is not None and not isinstance(self.config.filters.source, Mapping):
            return self._filters_of_data()
        return [
            Condition(field_named(self.model, item.field, "filter"), item.operator, self.call.render(item.value))
            for item in self.prepared.filters
        ]

    def _filters_of_data(self) -> list[Condition]:
        """Filters that a value holds: fields and values, never operators."""
        value = self.call.render(self.config.filters)
        if value is None:
            return []
        if not isinstance(value, Mapping):
            raise StepError("filters are values by field", type="bad_filter")
        return [Condition(field_named(self.model, name, "filter"), "eq", item) for name, item in value.items()]

    def payload(self) -> Mapping[str, Any]:
        """The values by field."""
        if self.config.payload is None:
            return self.given(without_key=self.config.operation == "update")
        value = self.call.render(self.config.payload)
        if isinstance(value, Secret) or not isinstance(value, Mapping):
            raise StepError(f"the payload is values by field, not {type(value).__name__}", type="bad_value")
        if not self.prepared.author_names:
            self._check_names(value, [field.name for field in self.model.inputs])
        return value

    def given(self, *, without_key: bool = False) -> dict[str, Any]:
        """The arguments that are fields; others have to be what a template reads."""
        open_names = {field.name for field in self.model.inputs}
        if self.config.operation == "list":
            open_names |= {name for name, field in self.model.fields.items() if name != self.model.tenant_field}
        key = {self.model.key.name, RECORD_ID} if without_key else set()
        self._check_names(self.arguments, open_names - key, also={*key, *self.prepared.read})
        return {name: value for name, value in self.arguments.items() if name in open_names - key}

    def _check_names(self, values: Mapping[str, Any], known: Any, also: Any = ()) -> None:
        surplus = [str(name) for name in values if name not in known and name not in also]
        if surplus:
            names = ", ".join(name[:80] for name in surplus[:5])
            nearest = advice(surplus[0], known) if len(surplus) == 1 else f"; it has: {', '.join(sorted(known))}"
            raise StepError(f"{self.config.operation} {self.model.name} takes no {names}{nearest}", type="bad_field")


async def perform(call: StepCall, prepared: Prepared, database: Database) -> Any:
    """Do the operation; give its result in the form that leaves.

    Raises:
        AccessError: The run may not.
        StepError: A value does not fit, or the database refused it.
    """
    filled = _Filled(call, prepared)
    # A tool call lies in a savepoint as a whole; on the spine a run goes on only where somebody routed the failure.
    guarded = call.arguments is None and "error" in call.step.routes
    repository = Repository(database, prepared.model.name, guarded=guarded)
    return await _OPERATIONS[filled.config.operation](filled, repository, database)


async def _create(filled: _Filled, records: Repository, database: Database) -> Any:
    return _leaving(await records.create(filled.payload()), filled, database)


async def _read(filled: _Filled, records: Repository, database: Database) -> Any:
    id = filled.id
    if id is None and not filled.by_filters:
        database.require(filled.model.name, "read")
        return None
    if filled.by_filters:
        conditions = filled.filters()
        if not conditions:
            raise StepError(f"read {filled.model.name}: no filter names the record", type="bad_filter")
        found = await records.list(conditions, include=filled.config.include, limit=1)
        return _leaving(found[0], filled, database) if found else None
    record = await records.get(id, filters=filled.filters(), include=filled.config.include)
    return None if record is None else _leaving(record, filled, database)


async def _list(filled: _Filled, records: Repository, database: Database) -> Any:
    call, config = filled.call, filled.config
    found = await records.list(
        filled.filters(),
        order_by=None if config.order_by is None else call.render(config.order_by),
        include=config.include,
        limit=_bounded(call.render(config.limit)),
        offset=call.render(config.offset),
    )
    return [_leaving(record, filled, database) for record in found]


async def _update(filled: _Filled, records: Repository, database: Database) -> Any:
    if filled.by_filters:
        count = await records.update_where(filled.filters(), filled.payload(), all_rows=filled.config.all_rows)
        return {"updated": count}
    record = await records.update(filled.id, filled.payload(), filters=filled.filters())
    return None if record is None else _leaving(record, filled, database)


async def _delete(filled: _Filled, records: Repository, database: Database) -> Any:
    if filled.by_filters:
        return {"deleted": await records.delete_where(filled.filters(), all_rows=filled.config.all_rows)}
    return {"deleted": await records.delete(filled.id, filters=filled.filters())}


_OPERATIONS: Final[Mapping[str, Callable[[_Filled, Repository, Database], Awaitable[Any]]]] = {
    "create": _create,
    "read": _read,
    "list": _list,
    "update": _update,
    "delete": _delete,
}


def _bounded(limit: Any) -> Any:
    if isinstance(limit, int) and not isinstance(limit, bool) and not 1 <= limit <= MAX_LIMIT:
        raise StepError(f"limit is a whole number from 1 to {MAX_LIMIT}, not {limit}", type="bad_filter")
    return limit


def _leaving(record: dict[str, Any], filled: _Filled, database: Database) -> dict[str, Any]:
    """Bring a record, and what was included in it, into the form that leaves."""
    _convert(record, filled.prepared.wire)
    for name in filled.config.include:
        relation = filled.model.relations[name]
        wire = wire_of(_other(database, relation.model))
        value = record[name]
        for item in value if isinstance(value, list) else [value] if value is not None else []:
            _convert(item, wire)
    return record


def _other(database: Database, name: str) -> Model:
    return database.require(name, "read")


def _convert(record: dict[str, Any], wire: tuple[tuple[str, Callable[[Any], Any]], ...]) -> None:
    for name, convert in wire:
        value = record[name]
        if value is not None:
            record[name] = convert(value)
