"""Every model of a project, its data sources, and what is wrong between them.

Nothing here imports SQLAlchemy: `tuvl validate` reads models without waiting for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import attrs

from tuvl_core import Definition, PlanView, Project, ProjectError, did_you_mean
from tuvl_kinds_modelop.documents import (
    AccessSpec,
    DataSourceSpec,
    FieldBody,
    FieldSpec,
    ModelDefinitionSpec,
    RelationBody,
    RelationSpec,
    context_pins,
)
from tuvl_kinds_modelop.fields import Field

__all__ = ["DATA_SOURCE", "EMBEDDED", "MODEL", "URL_PARAMETERS", "Model", "Models", "Relation", "SourceDefinition"]

MODEL: Final = "ModelDefinition"
DATA_SOURCE: Final = "DataSource"
EMBEDDED: Final = "data"
"""The name of the database that is there where a project declares none."""
EMBEDDED_PATH: Final = ".tuvl/data.db"
URL_PARAMETERS: Final = frozenset(
    {"ssl", "sslmode", "host", "port", "target_session_attrs", "prepared_statement_cache_size", "krbsrvname", "gsslib"}
)
"""What may stand behind the `?` of a PostgreSQL address."""


@attrs.frozen(kw_only=True, eq=False)
class Relation:
    """Records of another model that belong to a record.

    Attributes:
        name: What `include` calls it.
        model: Name of the other model.
        foreign_key: The field that holds the other's primary key.
        many: Whether there are many on the other side (`one_to_many`).
    """

    name: str
    model: str
    foreign_key: str
    many: bool


@attrs.frozen(kw_only=True, eq=False)
class Model:
    """One version of a model.

    Attributes:
        name: Its name.
        version: Its `schema_version`.
        table: The table.
        source: Name of its data source.
        fields: Its fields by name, in order.
        key: The field that names a record.
        relations: What `include` can bring along, by name.
        access: What a caller needs.
        tenant_field: The field that holds the tenant, or None.
        definition: Its document.
    """

    name: str
    version: str
    table: str
    source: str
    fields: Mapping[str, Field]
    key: Field
    relations: Mapping[str, Relation]
    access: AccessSpec
    tenant_field: str | None
    definition: Definition[ModelDefinitionSpec] = attrs.field(repr=False)

    @property
    def inputs(self) -> tuple[Field, ...]:
        """The fields that data may fill."""
        return tuple(field for field in self.fields.values() if field.takes_input)

    @property
    def column_specs(self) -> tuple[tuple[Any, ...], ...]:
        """What makes its table: two versions that differ here cannot share one."""
        return (
            ("tenant_field", self.tenant_field),
            *(
                (
                    name,
                    *attrs.astuple(attrs.evolve(field.body, description="", default=None, input=None), recurse=False),
                )
                for name, field in sorted(self.fields.items())
            ),
        )


@attrs.frozen(kw_only=True, eq=False)
class SourceDefinition:
    """A data source.

    Attributes:
        name: Its name.
        spec: Its keys.
        definition: Its document; None for the one that is there by itself.
    """

    name: str
    spec: DataSourceSpec
    definition: Definition[DataSourceSpec] | None = attrs.field(default=None, repr=False)

    @property
    def primary(self) -> bool:
        """Whether models that name no source are here."""
        return self.spec.primary or bool(getattr(getattr(self.definition, "metadata", None), "primary", False))


class Models:
    """Every model and data source of a project.

    Attributes:
        project: The project.
        sources: Its data sources by name.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.sources = _sources(project)
        self._made: dict[tuple[str, str], Model | None] = {}

    @classmethod
    def of(cls, project: Project) -> Models:
        """The models of a project; made once."""
        found: Models | None = project.kept.get(cls)
        if found is None:
            found = project.kept[cls] = cls(project)
        return found

    @property
    def primary(self) -> SourceDefinition | None:
        """The source of models that name none; None where several are there and none is primary."""
        marked = [source for source in self.sources.values() if source.primary]
        if len(marked) == 1:
            return marked[0]
        return next(iter(self.sources.values())) if len(self.sources) == 1 else None

    def all(self) -> Iterator[Model]:
        """Every model that is in order, each version, in file order."""
        for definition in self.project.versions(MODEL):
            model = self.made(definition)
            if model is not None:
                yield model

    def names(self) -> list[str]:
        """Names of models that are in order."""
        return sorted({model.name for model in self.all()})

    def find(self, name: str, version: str | None = None) -> Model:
        """Give a model.

        Raises:
            ProjectError: There is none of that name and version, or it is not in order.
        """
        definition = self.project.find(MODEL, name, version)
        model = self.made(definition)
        if model is None:
            raise ProjectError(
                f"the {MODEL} `{name}` cannot be used: `tuvl validate` says what is wrong ({definition.locate('spec')})"
            )
        return model

    def made(self, definition: Definition[ModelDefinitionSpec]) -> Model | None:
        """The model of a document; None where it is not in order, which the checks tell."""
        key = (definition.name, definition.schema_version)
        if key not in self._made:
            self._made[key] = self._make(definition)
        return self._made[key]

    def source_of(self, definition: Definition[ModelDefinitionSpec]) -> SourceDefinition | None:
        """The data source of a model; None where it is not known."""
        name = definition.spec.datasource
        return self.primary if name is None else self.sources.get(name)

    def _make(self, definition: Definition[ModelDefinitionSpec]) -> Model | None:
        source = self.source_of(definition)
        fields = fields_of(definition.spec)
        keys = [field for field in fields.values() if field.body.primary_key]
        if source is None or len(keys) != 1:
            return None
        spec = definition.spec
        return Model(
            name=definition.name,
            version=definition.schema_version,
            table=spec.tablename or definition.name.lower(),
            source=source.name,
            fields=fields,
            key=keys[0],
            relations={name: _relation(name, body) for name, body in relation_bodies(spec)},
            access=spec.access,
            tenant_field=spec.tenant_field,
            definition=definition,
        )


def fields_of(spec: ModelDefinitionSpec) -> dict[str, Field]:
    """The fields of a model by name; of two of one name the last."""
    return {name: _field(name, body, spec) for name, body in field_bodies(spec)}


def field_bodies(spec: ModelDefinitionSpec) -> list[tuple[str, FieldBody]]:
    """The fields as the document has them, twins included."""
    if isinstance(spec.fields, dict):
        return list(spec.fields.items())
    return [(item.name, item) for item in spec.fields if isinstance(item, FieldSpec)]


def relation_bodies(spec: ModelDefinitionSpec) -> list[tuple[str, RelationBody]]:
    """The relations as the document has them, twins included."""
    if isinstance(spec.relations, dict):
        return list(spec.relations.items())
    return [(item.name, item) for item in spec.relations if isinstance(item, RelationSpec)]


def pinned(models: Models, plan: PlanView) -> dict[str, Model]:
    """The models that a workflow may touch, by name, each in the version it asks for.

    Raises:
        ProjectError: One of them does not exist, or is not in order.
    """
    sections: Mapping[str, Any] = plan.definition.spec.sections  # type: ignore[attr-defined]
    return {name: models.find(name, version) for name, version in context_pins(sections.get("context")).items()}


def advice(name: str, known: Any) -> str:
    """What to say of a name that is not known: the nearest one, or all."""
    hint = did_you_mean(name, known)
    return f"; {hint}" if hint is not None else f"; it has: {', '.join(sorted(known)) or 'none'}"


def _field(name: str, body: FieldBody, spec: ModelDefinitionSpec) -> Field:
    field = Field(name=name, body=body, takes_input=False)
    if name == spec.tenant_field:
        return field  # the run alone fills it
    by_itself = not (body.primary_key and field.has_default)
    return attrs.evolve(field, takes_input=by_itself if body.input is None else body.input)


def _relation(name: str, body: RelationBody) -> Relation:
    return Relation(name=name, model=body.model, foreign_key=body.foreign_key, many=body.type == "one_to_many")


def _sources(project: Project) -> dict[str, SourceDefinition]:
    declared = project.definitions(DATA_SOURCE)
    if declared:
        return {name: SourceDefinition(name=name, spec=item.spec, definition=item) for name, item in declared.items()}
    spec = DataSourceSpec(type="sqlite", path=EMBEDDED_PATH, create_tables=True)
    return {EMBEDDED: SourceDefinition(name=EMBEDDED, spec=spec)}
