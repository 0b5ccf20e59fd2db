"""What is wrong with models and data sources, whatever uses them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote

from tuvl_core import Code, Definition, Diagnostic, PlanView, Project, did_you_mean
from tuvl_kinds_modelop import codes
from tuvl_kinds_modelop.documents import DataSourceSpec, FieldBody, ModelDefinitionSpec, RelationBody, context_pins
from tuvl_kinds_modelop.fields import Field, ValueRefusedError
from tuvl_kinds_modelop.models import (
    DATA_SOURCE,
    MODEL,
    URL_PARAMETERS,
    Model,
    Models,
    advice,
    field_bodies,
    fields_of,
    relation_bodies,
)

__all__ = ["check_documents", "check_models"]

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
_NO_KEYS: Final = frozenset({"jsonb", "bytea", "float", "boolean"})
_TENANT: Final = frozenset({"string", "varchar", "text", "uuid", "integer", "bigint"})
_KEYWORDS: Final[Mapping[str, frozenset[str]]] = {
    "uuid4": frozenset({"uuid"}),
    "now": frozenset({"timestamp", "timestamptz", "date"}),
}
_OWN: Final[Mapping[str, frozenset[str]]] = {
    "length": frozenset({"string", "varchar"}),
    "precision": frozenset({"numeric"}),
    "scale": frozenset({"numeric"}),
    "enum_values": frozenset({"enum"}),
}


def check_documents(plan: PlanView) -> Iterator[Diagnostic]:
    """Every finding about models and data sources, and about the models that a workflow names."""
    yield from check_models(plan.project)
    yield from _context(plan)


def check_models(project: Project) -> list[Diagnostic]:
    """Every finding about models and data sources; made once."""
    found: list[Diagnostic] | None = project.kept.get(check_models)
    if found is None:
        found = project.kept[check_models] = [*_models(project), *_sources(project)]
    return found


def _context(plan: PlanView) -> Iterator[Diagnostic]:
    definition: Definition[Any] = plan.definition  # type: ignore[attr-defined]
    versions = {(item.name, item.schema_version) for item in plan.project.versions(MODEL)}
    names = {name for name, _ in versions}
    for name, version in context_pins(definition.spec.sections.get("context")).items():
        if name in names and (version is None or (name, version) in versions):
            continue
        known = sorted(other for model, other in versions if model == name)
        message = (
            f"no {MODEL} is named {name!r}{advice(name, names)}"
            if name not in names
            else f"{MODEL} {name!r} has no enabled version {version!r}; it has: {', '.join(known)}"
        )
        yield Diagnostic.of(
            codes.UNKNOWN_MODEL,
            message,
            location=definition.locate("spec", "context"),
            workflow=plan.workflow,
        )


def _models(project: Project) -> Iterator[Diagnostic]:
    models = Models.of(project)
    for definition in project.versions(MODEL):
        yield from _fields(definition)
        yield from _keys(definition)
        yield from _tenant(definition)
        yield from _source_of(definition, models)
        yield from _relations(definition, project)
    yield from _shared(models)


def _fields(definition: Definition[ModelDefinitionSpec]) -> Iterator[Diagnostic]:
    seen: set[str] = set()
    listed = not isinstance(definition.spec.fields, dict)
    for number, (name, body) in enumerate(field_bodies(definition.spec)):
        place = ("spec", "fields", number if listed else name)
        if name in seen:
            yield _finding(codes.BAD_FIELD, definition, place, f"the field {name!r} is there twice")
        seen.add(name)
        if not _NAME.fullmatch(name):
            message = f"{name!r} is no name of a field: letters, digits and `_`, at most 63, no digit first"
            yield _finding(codes.BAD_FIELD, definition, place, message)
        for key, message in _contradictions(name, body):
            yield _finding(codes.BAD_FIELD, definition, (*place, key), f"field {name!r}: {message}")


def _contradictions(name: str, body: FieldBody) -> Iterator[tuple[str, str]]:
    for key, types in _OWN.items():
        if getattr(body, key) and body.type not in types:
            yield key, f"`{key}` means nothing for the type {body.type}"
    if body.type == "enum":
        if not body.enum_values:
            yield "type", "an enum lists its values: `enum_values: [open, closed]`"
        if len(set(body.enum_values)) < len(body.enum_values):
            yield "enum_values", "a value is there twice"
    if body.precision is not None and (body.scale or 0) > body.precision:
        yield "scale", "`scale` is larger than `precision`"
    if body.primary_key and body.type in _NO_KEYS:
        yield "type", f"a primary key cannot be {body.type}"
    yield from _key_contradictions(body)
    if body.default is not None and (problem := _default_problem(name, body)):
        yield "default", problem


def _key_contradictions(body: FieldBody) -> Iterator[tuple[str, str]]:
    if body.type == "numeric" and (body.unique or body.primary_key) and body.scale is None:
        yield "type", "to be unique a numeric needs `precision` and `scale`: 1.5 and 1.50 are one number"
    if body.primary_key and body.secure:
        yield "secure", "a primary key cannot be secure: it names the record"


def _default_problem(name: str, body: FieldBody) -> str | None:
    types = _KEYWORDS.get(body.default) if isinstance(body.default, str) else None
    if types is not None and body.type in types:
        return None
    try:
        Field(name=name, body=body, takes_input=True).take(body.default)
    except ValueRefusedError as error:
        return f"its default does not fit: {error}"
    return None


def _keys(definition: Definition[ModelDefinitionSpec]) -> Iterator[Diagnostic]:
    keys = [name for name, body in field_bodies(definition.spec) if body.primary_key]
    if not keys:
        hint = "add a field such as `{ name: id, type: uuid, primary_key: true }`"
        message = f"{MODEL} {definition.name!r} has no primary key"
        yield _finding(codes.NO_KEY, definition, ("spec", "fields"), message, hint)
    elif len(keys) > 1:
        message = f"{MODEL} {definition.name!r} has several primary keys: {', '.join(keys)}; one names a record"
        yield _finding(codes.NO_KEY, definition, ("spec", "fields"), message)


def _tenant(definition: Definition[ModelDefinitionSpec]) -> Iterator[Diagnostic]:
    name = definition.spec.tenant_field
    if name is None:
        return
    place = ("spec", "tenant_field")
    field = fields_of(definition.spec).get(name)
    if field is None:
        hint = did_you_mean(name, fields_of(definition.spec))
        yield _finding(codes.BAD_FIELD, definition, place, f"`tenant_field` names no field: {name!r}", hint)
    elif field.type not in _TENANT or field.secure or field.nullable:
        message = f"the tenant's field {name!r} is `required`, not secure, and one of {', '.join(sorted(_TENANT))}"
        yield _finding(codes.BAD_FIELD, definition, place, message)


def _source_of(definition: Definition[ModelDefinitionSpec], models: Models) -> Iterator[Diagnostic]:
    name = definition.spec.datasource
    if name is not None and name not in models.sources:
        message = f"no {DATA_SOURCE} is named {name!r}{advice(name, models.sources)}"
        yield _finding(codes.NO_SOURCE, definition, ("spec", "datasource"), message)
    elif name is None and not any(source.primary for source in models.sources.values()) and models.primary is None:
        message = f"{MODEL} {definition.name!r} names no `datasource`, and of {len(models.sources)} none is primary"
        hint = "set `primary: true` on one DataSource, or `datasource:` here"
        yield _finding(codes.NO_SOURCE, definition, ("spec",), message, hint)


def _relations(definition: Definition[ModelDefinitionSpec], project: Project) -> Iterator[Diagnostic]:
    own = fields_of(definition.spec)
    listed = not isinstance(definition.spec.relations, dict)
    seen: set[str] = set()
    for number, (name, body) in enumerate(relation_bodies(definition.spec)):
        problem = _relation_problem(name, body, own, definition, project)
        if name in seen:
            problem = "it is there twice"
        seen.add(name)
        if problem is not None:
            place = ("spec", "relations", number if listed else name)
            yield _finding(codes.BAD_RELATION, definition, place, f"relation {name!r}: {problem}")


def _relation_problem(
    name: str,
    body: RelationBody,
    own: Mapping[str, Field],
    definition: Definition[ModelDefinitionSpec],
    project: Project,
) -> str | None:
    if name in own:
        return "a field has this name already"
    found = project.definitions(MODEL).get(body.model)
    if found is None:
        return f"no {MODEL} is named {body.model!r}{advice(body.model, project.definitions(MODEL))}"
    other = fields_of(found.spec)
    many = body.type == "one_to_many"
    holder: Mapping[str, Field] = other if many else own
    owner = body.model if many else definition.name
    field = holder.get(body.foreign_key)
    if field is None:
        return f"{owner} has no field {body.foreign_key!r}{advice(body.foreign_key, holder)}"
    if field.secure:
        return f"the field {body.foreign_key!r} is secure, and cannot lead to a record"
    models = Models.of(project)
    if models.source_of(definition) is not models.source_of(found):
        return f"{body.model} lies in another data source, and no query reaches both"
    keyed = own if many else other
    target = next((item for item in keyed.values() if item.body.primary_key), None)
    if target is not None and target.type != field.type:
        return f"{owner}.{body.foreign_key} is {field.type}, but the key it holds is {target.type}"
    return None


def _shared(models: Models) -> Iterator[Diagnostic]:
    first: dict[tuple[str, str], Model] = {}
    for model in models.all():
        other = first.setdefault((model.source, model.table), model)
        if other is not model and other.column_specs != model.column_specs:
            names = (f"{item.name} ({item.version})" for item in (other, model))
            message = f"{' and '.join(names)} share the table {model.table!r}, and their fields differ"
            hint = "disable one with `enabled: false`, or give it a `tablename` of its own"
            yield _finding(codes.SHARED_TABLE, model.definition, ("spec",), message, hint)


def _sources(project: Project) -> Iterator[Diagnostic]:
    models = Models.of(project)
    primary = [source for source in models.sources.values() if source.primary]
    for source in primary[1:]:
        if source.definition is not None:
            message = f"{primary[0].name!r} and {source.name!r} are both primary"
            yield _finding(codes.NO_SOURCE, source.definition, ("spec",), message)
    for source in models.sources.values():
        if source.definition is not None:
            for key, message in _source_problems(source.spec):
                yield _finding(codes.BAD_SOURCE, source.definition, ("spec", key), message)


def _source_problems(spec: DataSourceSpec) -> Iterator[tuple[str, str]]:
    sqlite = spec.type == "sqlite"
    idle = ("connection", "isolation") if sqlite else ("path",)
    for key in idle:
        if getattr(spec, key) is not None:
            yield key, f"`{key}` means nothing for {spec.type}"
    if not sqlite and spec.connection is None and spec.url is None:
        yield "type", "a postgresql source has `connection: { host, port, database, username, password }`, or `url`"
    if spec.url is not None and (spec.connection is not None or spec.path is not None):
        yield "url", "`url` is the whole address: remove `connection` and `path`"
    if spec.driver is not None and spec.driver != ("aiosqlite" if sqlite else "asyncpg"):
        yield "driver", f"the driver of {spec.type} is {'aiosqlite' if sqlite else 'asyncpg'}"
    if spec.url is not None and (problem := _url_problem(str(spec.url.reveal()), spec.type)):
        yield "url", problem
    if spec.path in ("", ":memory:"):
        yield "path", "a SQLite source needs a file: a database in memory is another one in each connection"
    if spec.pooling.min_size > spec.pooling.max_size:
        yield "pooling", "`min_size` is larger than `max_size`"


def _url_problem(url: str, type: str) -> str | None:
    scheme = re.match(r"(sqlite|postgres(?:ql)?)(?:\+\w+)?:", url)
    if scheme is None:
        return "it is no address such as postgresql://user:password@host/name or sqlite:///data.db"
    if scheme[1][:6] != type[:6]:
        return f"it is the address of another type of database than {type}"
    names = {unquote(part.partition("=")[0]) for part in url.partition("?")[2].split("&") if part}
    unknown = sorted(names - URL_PARAMETERS) if type == "postgresql" else []
    return (
        f"its driver knows no parameter {', '.join(unknown)}; it knows: {', '.join(sorted(URL_PARAMETERS))}"
        if unknown
        else None
    )


def _finding(
    code: Code, definition: Definition[Any], place: tuple[Any, ...], message: str, hint: str | None = None
) -> Diagnostic:
    return Diagnostic.of(code, message, location=definition.locate(*place), hint=hint)
