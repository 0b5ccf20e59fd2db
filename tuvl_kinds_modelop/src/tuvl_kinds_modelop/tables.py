"""From models to tables: one `MetaData` for each data source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from tuvl_core import Project
from tuvl_kinds_modelop.columns import column_type, comparable
from tuvl_kinds_modelop.fields import Field
from tuvl_kinds_modelop.models import Model, Models

__all__ = ["Tables"]

NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
"""Every constraint has a name that migrations and error messages can use."""


class Tables:
    """The tables of a project.

    Attributes:
        models: The models they are made of.
    """

    def __init__(self, models: Models) -> None:
        self.models = models
        self._metadata: dict[str, sa.MetaData] = {}
        self._by_key: dict[Model, sa.Select[Any]] = {}
        newest = list(models.all())
        for model in newest:
            self._add(model)
        for model in newest:
            self._refer(model)

    @classmethod
    def of(cls, project: Project) -> Tables:
        """The tables of a project; made once."""
        found: Tables | None = project.kept.get(cls)
        if found is None:
            found = project.kept[cls] = cls(Models.of(project))
        return found

    def metadata(self, source: str) -> sa.MetaData:
        """Every table of a data source."""
        return self._metadata.setdefault(source, sa.MetaData(naming_convention=NAMES))

    def table(self, model: Model) -> sa.Table:
        """The table of a model."""
        return self.metadata(model.source).tables[model.table]

    def by_key(self, model: Model) -> sa.Select[Any]:
        """Select the record that the parameters `key` and, for a model bound to tenants, `tenant` name.

        Built once: SQLAlchemy then finds its compiled form at once.
        """
        found = self._by_key.get(model)
        if found is None:
            table = self.table(model)
            column = table.c[model.key.name]
            where = [comparable(column, model.key) == comparable(sa.bindparam("key", type_=column.type), model.key)]
            if model.tenant_field is not None:
                where.append(table.c[model.tenant_field] == sa.bindparam("tenant"))
            found = self._by_key[model] = sa.select(table).where(*where)
        return found

    def _add(self, model: Model) -> None:
        metadata = self.metadata(model.source)
        if model.table in metadata.tables:
            return  # another version, or model, with the same columns: the checks see to that
        sa.Table(model.table, metadata, *_columns(model), *_constraints(model))

    def _refer(self, model: Model) -> None:
        """Add the foreign keys that relations stand for."""
        for relation in model.relations.values():
            try:
                other = self.models.find(relation.model)
            except Exception:  # noqa: S112 - the checks tell what is wrong with it
                continue
            holder, target = (other, model) if relation.many else (model, other)
            if holder.source != target.source or relation.foreign_key not in holder.fields:
                continue
            table, column = self.table(holder), relation.foreign_key
            if any(column in item.column_keys for item in table.foreign_key_constraints):
                continue
            columns, places = [column], [target.key.name]
            if target.tenant_field is not None:
                if holder.tenant_field is None:
                    continue  # a record of no tenant cannot say whose record it means
                columns, places = [holder.tenant_field, column], [target.tenant_field, target.key.name]
            foreign = sa.ForeignKeyConstraint(columns, [f"{target.table}.{place}" for place in places])
            table.append_constraint(foreign)


def _columns(model: Model) -> Iterator[sa.Column[Any]]:
    for field in model.fields.values():
        body = field.body
        yield sa.Column(
            field.name,
            column_type(field),
            primary_key=body.primary_key or (field.name == model.tenant_field and keyed_by_tenant(model)),
            nullable=field.nullable,
            autoincrement=True if field.generates else False,  # noqa: SIM210 - it also takes "auto"
            index=body.index or field.name == model.tenant_field or None,
        )


def keyed_by_tenant(model: Model) -> bool:
    """Whether each tenant has keys of its own: two tenants may then use one, and neither feels the other.

    Keys that make themselves differ anyway.
    """
    return model.tenant_field is not None and not (model.key.generates or model.key.type == "uuid")


def _constraints(model: Model) -> Iterator[sa.Constraint]:
    if model.tenant_field is not None and not keyed_by_tenant(model):
        # What records of a tenant refer to: records of the same tenant.
        yield sa.UniqueConstraint(model.tenant_field, model.key.name)
    for field in model.fields.values():
        if field.body.unique and not field.body.primary_key:
            # What is unique is so among the rows of one tenant: another's must not even be felt.
            tenant = [model.tenant_field] if model.tenant_field not in (None, field.name) else []
            yield sa.UniqueConstraint(*tenant, field.name)
        if field.type == "enum":
            yield _one_of(field)


def _one_of(field: Field) -> sa.CheckConstraint:
    values = [sa.literal(value, sa.String()) for value in field.body.enum_values]
    return sa.CheckConstraint(sa.column(field.name, sa.String()).in_(values), name=f"{field.name}_values")
