"""The documents ModelDefinition and DataSource, and the section `spec.context` of a workflow."""

from __future__ import annotations

from typing import Any, Final, Literal

import attrs

from tuvl_core import Metadata, Secret
from tuvl_core import field as key

__all__ = [
    "FIELD_TYPES",
    "AccessSpec",
    "ConnectionSpec",
    "ContextSpec",
    "ContextValue",
    "DataSourceMetadata",
    "DataSourceSpec",
    "FieldBody",
    "FieldSpec",
    "ModelDefinitionSpec",
    "ModelPin",
    "PoolSpec",
    "RelationBody",
    "RelationSpec",
    "context_pins",
]

FIELD_TYPES: Final = (
    *("string", "text", "varchar", "integer", "bigint", "smallint", "numeric", "float", "boolean"),
    *("uuid", "date", "timestamp", "timestamptz", "jsonb", "bytea", "enum"),
)


@attrs.frozen(kw_only=True)
class FieldBody:
    """One field of a model."""

    type: str = key(choices=FIELD_TYPES, doc="What it holds.")
    primary_key: bool = key(default=False, doc="It names the record; a model has one such field.")
    required: bool = key(default=False, doc="It always has a value.")
    unique: bool = key(default=False, doc="No two records share a value; with `tenant_field`: of one tenant.")
    index: bool = key(default=False, doc="Finding records by it is fast.")
    default: Any = key(default=None, doc="The value where none is given: `uuid4`, `now`, or the value itself.")
    input: bool | None = key(
        default=None,
        doc="Whether data may fill it. Off: only the workflow's author, by name, or its default. By itself on, "
        "but for a primary key that makes itself.",
    )
    secure: bool = key(default=False, doc="It is a secret: masked on every way out unless `reveal` names it.")
    enum_values: tuple[str, ...] = key(default=(), source_text=True, doc="For `enum`: its values.")
    description: str = key(default="", prose=True, doc="What a model reads when it fills the field.")
    length: int | None = key(default=None, min=1, doc="For `string` and `varchar`: the most characters.")
    precision: int | None = key(default=None, min=1, max=1000, doc="For `numeric`: the most digits together.")
    scale: int | None = key(default=None, min=0, max=1000, doc="For `numeric`: digits after the point.")


@attrs.frozen(kw_only=True)
class FieldSpec(FieldBody):
    """One field of a model, in a list."""

    name: str = key(source_text=True, min=1, doc="Its name, and that of its column.")


@attrs.frozen(kw_only=True)
class RelationBody:
    """Records of another model that belong to a record."""

    model: str = key(source_text=True, min=1, refers="ModelDefinition", doc="The other ModelDefinition.")
    foreign_key: str = key(
        source_text=True,
        min=1,
        doc="The field that holds a primary key: for `many_to_one` one of this model, for `one_to_many` of the other.",
    )
    type: Literal["many_to_one", "one_to_many"] = key(doc="How many there are on this side and on the other.")


@attrs.frozen(kw_only=True)
class RelationSpec(RelationBody):
    """Records of another model that belong to a record, in a list."""

    name: str = key(source_text=True, min=1, doc="What `include` calls it, and where it lies in a record.")


@attrs.frozen(kw_only=True)
class AccessSpec:
    """What a caller needs; what is left out is `<model>:read`, `<model>:write`, `<model>:delete`."""

    read_scope: str | None = key(default=None, doc="Scope to read and list.")
    write_scope: str | None = key(default=None, doc="Scope to create and update.")
    delete_scope: str | None = key(default=None, doc="Scope to delete.")
    read_group: str | None = key(default=None, doc="Group to read and list.")
    write_group: str | None = key(default=None, doc="Group to create and update.")
    delete_group: str | None = key(default=None, doc="Group to delete.")


@attrs.frozen(kw_only=True)
class ModelDefinitionSpec:
    """A table: its fields, its relations, who may use it."""

    fields: tuple[FieldSpec, ...] | dict[str, FieldBody] = key(
        min=1, doc="The fields: a list with `name`, or a mapping by name."
    )
    tablename: str | None = key(
        default=None, source_text=True, lookalikes=("table", "table_name"), doc="The table; the name in small letters."
    )
    datasource: str | None = key(
        default=None, source_text=True, refers="DataSource", doc="Its DataSource; the primary one by itself."
    )
    relations: tuple[RelationSpec, ...] | dict[str, RelationBody] = key(
        default=(), doc="What `include` can bring along: a list with `name`, or a mapping by name."
    )
    access: AccessSpec = key(factory=AccessSpec, doc="What a caller needs.")
    tenant_field: str | None = key(
        default=None,
        source_text=True,
        doc="The field that holds the tenant; a run sees rows of its own only.",
    )


@attrs.frozen(kw_only=True)
class DataSourceMetadata(Metadata):
    """What a DataSource says about itself."""

    primary: bool = key(default=False, doc="Models that name no DataSource are here.")


@attrs.frozen(kw_only=True)
class ConnectionSpec:
    """Where a PostgreSQL server is."""

    host: str = key(default="localhost", doc="Its host, or the folder of its socket.")
    port: int = key(default=5432, min=1, max=65535, doc="Its port.")
    database: str = key(default="postgres", doc="The database.")
    username: str | None = key(default=None, lookalikes=("user",), doc="Who connects.")
    password: Secret | None = key(default=None, doc="The password.")


@attrs.frozen(kw_only=True)
class PoolSpec:
    """How many connections a process keeps."""

    min_size: int = key(default=0, min=0, doc="Connections opened before they are needed.")
    max_size: int = key(default=10, min=1, lookalikes=("size",), doc="The most at once; further runs wait.")


@attrs.frozen(kw_only=True)
class DataSourceSpec:
    """A database."""

    type: Literal["sqlite", "postgresql"] = key(doc="What kind of database it is.")
    driver: Literal["aiosqlite", "asyncpg"] | None = key(default=None, doc="The driver; there is one for each type.")
    path: str | None = key(
        default=None, lookalikes=("file", "filename"), doc="For `sqlite`: the file, from the project."
    )
    url: Secret | None = key(default=None, doc="The whole address, in place of `connection` or `path`.")
    connection: ConnectionSpec | None = key(default=None, doc="For `postgresql`: where it is.")
    pooling: PoolSpec = key(factory=PoolSpec, lookalikes=("pool",), doc="How many connections a process keeps.")
    primary: bool = key(default=False, doc="Models that name no DataSource are here; as `metadata.primary`.")
    transaction: Literal["run", "step"] = key(
        default="run", doc="`run`: committed when the run completes; `step`: each step commits by itself."
    )
    isolation: Literal["read_committed", "repeatable_read", "serializable"] | None = key(
        default=None, doc="For `postgresql`: the isolation level; the server's own by itself."
    )
    create_tables: bool = key(default=False, doc="Create tables that are missing, on first use. Not for production.")


@attrs.frozen(kw_only=True)
class ModelPin:
    """One model, in one of its versions."""

    name: str = key(source_text=True, min=1, refers="ModelDefinition", doc="The ModelDefinition.")
    version: str | None = key(default=None, source_text=True, doc="Its `schema_version`; the newest by itself.")


@attrs.frozen(kw_only=True)
class ContextSpec:
    """The models that a run may touch."""

    models: tuple[str | ModelPin, ...] = key(default=(), refers="ModelDefinition", doc="Names, or `{name, version}`.")


ContextValue = str | tuple[str | ModelPin, ...] | ContextSpec
"""What `spec.context` may be."""


def context_pins(value: Any) -> dict[str, str | None]:
    """The models that a `spec.context` names, each with the version it asks for; None: the newest."""
    if value is None:
        return {}
    if isinstance(value, str):
        return {value: None}
    entries = value.models if isinstance(value, ContextSpec) else value
    return {
        (entry if isinstance(entry, str) else entry.name): (None if isinstance(entry, str) else entry.version)
        for entry in entries
    }
