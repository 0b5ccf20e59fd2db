"""A ModelOp step as a tool: which arguments a model gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tuvl_core import PlanView, ProjectError, StepKind, StepView, Template, derive_parameters
from tuvl_kinds_modelop.config import ModelOpConfig
from tuvl_kinds_modelop.documents import context_pins
from tuvl_kinds_modelop.fields import INTEGER_RANGES, Field
from tuvl_kinds_modelop.models import Model, Models
from tuvl_kinds_modelop.operators import OPERATORS, UNCOMPARABLE
from tuvl_kinds_modelop.prepared import filter_templates

__all__ = ["RECORD_ID", "json_schema_of", "model_of", "parameters"]

RECORD_ID: Final = "record_id"
"""What a tool's author may call the id in `parameters` of their own."""

_FORMATS: Final[Mapping[str, Mapping[str, Any]]] = {
    "boolean": {"type": "boolean"},
    "float": {"type": "number"},
    "uuid": {"type": "string", "format": "uuid"},
    "date": {"type": "string", "format": "date"},
    "timestamp": {"type": "string", "format": "date-time"},
    "timestamptz": {"type": "string", "format": "date-time"},
}


def model_of(step: StepView, plan: PlanView) -> Model | None:
    """The model of a step, in the version that the workflow asks for; None where that is not known."""
    pins = context_pins(plan.definition.spec.sections.get("context"))  # type: ignore[attr-defined]
    name = step.config.model
    if name not in pins:
        return None
    try:
        return Models.of(plan.project).find(name, pins[name])
    except ProjectError:
        return None


def parameters(step: StepView, plan: PlanView) -> dict[str, Any]:
    """The JSON Schema of a step's arguments as a tool."""
    config: ModelOpConfig = step.config
    model = model_of(step, plan)
    if model is None:
        return _without_definition(config)
    schema = derive_parameters(step, plan, StepKind())
    properties: dict[str, Any] = dict(schema.get("properties", {}))
    required: list[str] = list(schema.get("required", ()))
    for name, wanted in _variables(config, model):
        if name in properties:
            properties[name] = wanted
    for field, needed in _open_fields(config, model):
        properties[field.name] = _schema_of(field)
        if needed and field.name not in required:
            required.append(field.name)
    result: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**result, "required": required} if required else result


def json_schema_of(field: Field) -> dict[str, Any]:
    """The JSON Schema of a field's values."""
    body = field.body
    if field.type in INTEGER_RANGES:
        low, high = INTEGER_RANGES[field.type]
        return {"type": "integer", "minimum": low, "maximum": high}
    if field.type == "numeric":
        return _numeric(body.precision, body.scale)
    if field.type == "enum":
        return {"type": "string", "enum": list(body.enum_values)}
    if field.type == "jsonb":
        kinds = ("object", "array", "string", "number", "boolean")
        return {"anyOf": [{"type": kind, **({"items": {}} if kind == "array" else {})} for kind in kinds]}
    if field.type == "bytea":
        content = {
            "base64": {"type": "string", "pattern": "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"}
        }
        return {"type": "object", "properties": content, "required": ["base64"], "additionalProperties": False}
    if field.type in _FORMATS:
        return dict(_FORMATS[field.type])
    return {"type": "string"} if body.length is None else {"type": "string", "maxLength": body.length}


def _numeric(precision: int | None, scale: int | None) -> dict[str, Any]:
    """Exact numbers are best as text, `19.90`; a plain number will do."""
    after = scale or 0 if precision is not None or scale is not None else 500
    before = max(precision - after, 1) if precision is not None else 500
    whole = "0" if precision is not None and precision == after else f"[0-9]{{1,{before}}}"
    fraction = rf"(\.[0-9]{{1,{after}}})?" if after else ""
    number: dict[str, Any] = {"type": "number"}
    if precision is not None:
        bound = 10 ** (precision - after)
        number |= {"exclusiveMinimum": -bound, "exclusiveMaximum": bound}
    return {"anyOf": [{"type": "string", "pattern": f"^-?{whole}{fraction}$"}, number]}


def _description(field: Field) -> dict[str, str]:
    text = field.body.description
    return {"description": text} if text else {}


def _open_fields(config: ModelOpConfig, model: Model) -> Iterator[tuple[Field, bool]]:
    """The fields that a model gives, and whether it has to."""
    operation = config.operation
    by_filters = config.filters is not None or config.all_rows
    if operation in ("read", "update", "delete") and config.record_id is None and not by_filters:
        yield model.key, True
    if operation in ("create", "update") and config.payload is None:
        for field in model.inputs:
            if operation == "create":
                yield field, not field.nullable and not field.has_default
            elif field is not model.key:
                yield field, False
    if operation == "list" and config.filters is None:
        for field in model.inputs:
            if not field.secure and field.type not in UNCOMPARABLE:
                yield field, False


def _variables(config: ModelOpConfig, model: Model) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names that stand alone in the place of a field's value, and so have its type."""
    if config.record_id is not None:
        yield from ((name, _schema_of(model.key)) for name in _lone(config.record_id))
    if config.payload is not None and isinstance(config.payload.source, Mapping):
        for name, value in config.payload.source.items():
            if name in model.fields:
                yield from ((found, _schema_of(model.fields[name])) for found in _lone(Template.of(value)))
    if config.filters is not None:
        yield from _compared(config.filters, model)


def _compared(filters: Template[Any], model: Model) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names that stand alone as what a filter compares with."""
    for item in filter_templates(filters, model.fields):
        field = model.fields.get(item.field)
        if field is None:
            continue
        for name in _lone(item.value):
            if item.operator in OPERATORS:
                yield name, _schema_of(field)
            elif item.operator == "in":
                yield name, {"type": "array", "items": _schema_of(field)}
            elif item.operator == "is_null":
                yield name, {"type": "boolean"}


def _schema_of(field: Field) -> dict[str, Any]:
    return {**json_schema_of(field), **_description(field)}


def _lone(template: Template[Any]) -> list[str]:
    """The name, where the template is one name and nothing else."""
    names = [read.path for read in template.reads]
    text = template.source if isinstance(template.source, str) else ""
    alone = template.lone and len(names) == 1 and len(names[0]) == 1 and text.strip("{} ") == names[0][0]
    return [names[0][0]] if alone else []


def _without_definition(config: ModelOpConfig) -> dict[str, Any]:
    """Nothing is known of the model: the whole payload is one argument."""
    names: dict[str, Any] = {}
    if config.operation in ("create", "update") and config.payload is None:
        names["payload"] = {"type": "object"}
    if config.operation in ("read", "update", "delete") and config.record_id is None and config.filters is None:
        names[RECORD_ID] = {"type": "string"}
    result = {"type": "object", "properties": names, "additionalProperties": False}
    return {**result, "required": list(names)} if names else result
