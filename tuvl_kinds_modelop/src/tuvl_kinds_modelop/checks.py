"""What is wrong with a ModelOp step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tuvl_core import Code, Diagnostic, PlanView, ProjectError, StepError, StepView, Template
from tuvl_kinds_modelop import codes
from tuvl_kinds_modelop.as_tool import check_reveal, check_tool
from tuvl_kinds_modelop.config import MAX_LIMIT, ModelOpConfig
from tuvl_kinds_modelop.documents import ContextSpec, context_pins
from tuvl_kinds_modelop.literals import filter_problem, payload_problems, record_id_problem
from tuvl_kinds_modelop.models import MODEL, Model, Models, advice
from tuvl_kinds_modelop.operators import LIKEABLE, NAMES, UNCOMPARABLE
from tuvl_kinds_modelop.ordering import read_order
from tuvl_kinds_modelop.parameters import model_of
from tuvl_kinds_modelop.prepared import filter_templates

__all__ = ["check_step"]

_USES: Final[Mapping[str, tuple[str, ...]]] = {
    "payload": ("create", "update"),
    "record_id": ("read", "update", "delete"),
    "filters": ("read", "list", "update", "delete"),
    "order_by": ("list",),
    "include": ("read", "list"),
    "all_rows": ("update", "delete"),
}
Place = tuple[str | int, ...]
Finding = tuple[Code, str, Place, str | None]


def check_step(step: StepView, plan: PlanView) -> Iterator[Diagnostic]:
    """Every finding about one ModelOp step."""
    for code, message, place, hint in _findings(step, plan):
        if code is codes.BAD_VALUE and _is_brought_in(step, place):
            # What a variable holds may be for nobody's eyes.
            message, hint = f"the field does not take what `${{…}}` brings in at `{'.'.join(map(str, place))}`", None
        yield Diagnostic.of(
            code, message, location=step.locate(*place), workflow=plan.workflow, step=step.id, hint=hint
        )
    yield from check_tool(step, plan)
    model = model_of(step, plan)
    if model is not None:
        yield from check_reveal(step, plan, Models.of(plan.project), model)


def _is_brought_in(step: StepView, place: Place) -> bool:
    """Whether a value comes from the environment, wholly or in part."""
    definition = step.definition  # type: ignore[attr-defined]
    try:
        return "${" in repr(definition.document.get((*definition.path, *place)))
    except KeyError:
        return False


def _findings(step: StepView, plan: PlanView) -> Iterator[Finding]:
    config: ModelOpConfig = step.config
    yield from _idle(config)
    if getattr(step, "on_spine", True):
        yield from _open(config)
    yield from _destructive(config)
    yield from _output(config)
    models = Models.of(plan.project)
    pins = context_pins(_section(plan))
    known = {definition.name for definition in plan.project.versions(MODEL)}
    if config.model not in known:
        yield (
            codes.UNKNOWN_MODEL,
            f"no {MODEL} is named {config.model!r}{advice(config.model, known)}",
            ("model",),
            None,
        )
        return
    # A mistyped name there is told of itself, and so is a context that cannot be read.
    if config.model not in pins and pins.keys() <= known and _readable_context(plan):
        message = f"model {config.model!r} is outside the workflow's `spec.context`"
        yield codes.OUTSIDE_CONTEXT, message, ("model",), _context_hint(plan, config.model)
    try:
        model = models.find(config.model, pins.get(config.model))
    except ProjectError:
        return  # said of the model itself
    yield from _payload(config, model)
    yield from _literals(config, model)
    yield from _filters(config, model)
    yield from _order(config, model)
    yield from _includes(config, model, pins, plan)


def _idle(config: ModelOpConfig) -> Iterator[Finding]:
    for key, operations in _USES.items():
        if getattr(config, key) not in (None, (), False) and config.operation not in operations:
            message = f"`{key}` means nothing for {config.operation}; it is for {', '.join(operations)}"
            yield codes.IDLE_KEY, message, (key,), None


def _open(config: ModelOpConfig) -> Iterator[Finding]:
    """What only a model could give, on the spine where no model is asked."""
    if config.operation in ("create", "update") and config.payload is None:
        message = f"{config.operation} needs `payload`: values by field"
        yield codes.NO_PAYLOAD, message, ("operation",), "only as a tool may a step leave it open"
    if config.operation == "read" and config.record_id is None and config.filters is None:
        yield codes.NOT_NAMED, "read needs `record_id`", ("operation",), "only as a tool may a step leave it open"
    named = config.record_id is not None or config.filters is not None or config.all_rows
    if config.operation in ("update", "delete") and not named:
        message = f"{config.operation} does not say which records it means"
        hint = "give `record_id` or `filters`; to mean every record, say `all_rows: true`"
        yield codes.NOT_NAMED, message, ("operation",), hint


def _destructive(config: ModelOpConfig) -> Iterator[Finding]:
    if config.operation not in ("update", "delete"):
        return
    if config.all_rows and (config.record_id is not None or config.filters is not None):
        yield codes.NOT_NAMED, "`all_rows` beside `record_id` or `filters`: it is one or the other", ("all_rows",), None
    if config.filters is None:
        return
    if not isinstance(config.filters.source, Mapping):
        message = f"the filters of an {config.operation} are written out, field by field; a value may not choose them"
        yield codes.NOT_NAMED, message, ("filters",), 'write `filters: { status: "{{ status }}" }`'
    elif not config.filters.source:
        yield codes.NOT_NAMED, "the filters are empty", ("filters",), "to mean every record, say `all_rows: true`"


def _output(config: ModelOpConfig) -> Iterator[Finding]:
    if config.output is not None and (not config.output.strip() or config.output.startswith("_")):
        message = f"`output` is a context key, which {config.output!r} is not: names with `_` are the engine's"
        yield codes.IDLE_KEY, message, ("output",), None
    limit: Any = config.limit.source if isinstance(config.limit, Template) else config.limit
    if isinstance(limit, int) and not 1 <= limit <= MAX_LIMIT:
        yield codes.IDLE_KEY, f"`limit` is from 1 to {MAX_LIMIT}", ("limit",), None


def _payload(config: ModelOpConfig, model: Model) -> Iterator[Finding]:
    if config.payload is None or not isinstance(config.payload.source, Mapping):
        return
    given = config.payload.source
    for name in given:
        if name not in model.fields:
            message = f"{model.name} has no field {name!r}{advice(name, model.fields)}"
            yield codes.UNKNOWN_FIELD, message, ("payload", name), None
        elif name == model.tenant_field:
            message = f"{name!r} holds the tenant, which is the run's own"
            yield codes.UNKNOWN_FIELD, message, ("payload", name), "remove it"
        elif config.operation == "update" and name == model.key.name:
            yield codes.UNKNOWN_FIELD, f"{name!r} names the record, and does not change", ("payload", name), None
    if config.operation == "create":
        missing = [
            field.name
            for field in model.fields.values()
            if not field.nullable and not field.has_default and field.name not in (*given, model.tenant_field)
        ]
        if missing:
            yield codes.NO_PAYLOAD, f"{model.name} also needs {', '.join(missing)}", ("payload",), None


def _literals(config: ModelOpConfig, model: Model) -> Iterator[Finding]:
    if config.operation in _USES["payload"]:
        for message, place, hint in payload_problems(config, model):
            yield codes.BAD_VALUE, message, place, hint
    if config.operation in _USES["record_id"] and (problem := record_id_problem(config, model)) is not None:
        yield codes.BAD_VALUE, problem, ("record_id",), None


def _filters(config: ModelOpConfig, model: Model) -> Iterator[Finding]:
    if config.filters is None:
        return
    for item in filter_templates(config.filters, model.fields):
        field = model.fields.get(item.field)
        place: Place = ("filters", item.field)
        if field is None:
            message = f"{model.name} has no field {item.field!r}{advice(item.field, model.fields)}"
            yield codes.UNKNOWN_FIELD, message, place, None
        elif item.operator not in NAMES:
            message = f"there is no operator {item.operator!r}{advice(item.operator, NAMES)}"
            yield codes.UNKNOWN_FIELD, message, (*place, item.operator), None
        elif field.type in UNCOMPARABLE and item.operator != "is_null":
            yield codes.UNKNOWN_FIELD, f"of {field.type} only `is_null` can be asked", place, None
        elif item.operator == "like" and (field.type not in LIKEABLE or field.secure):
            yield codes.UNKNOWN_FIELD, "`like` looks at text that is not secure", (*place, "like"), None
        elif (problem := _empty(config, item.value, item.operator)) is not None:
            yield codes.NOT_NAMED, f"the filter on {item.field!r} {problem}", place, None
        elif item.field == model.tenant_field:
            message = f"{item.field!r} holds the tenant: a run finds and changes records of its own tenant only"
            yield codes.TENANT_FILTER, message, place, "remove the filter"
        elif (found := filter_problem(item, field)) is not None:
            yield codes.BAD_VALUE, found[0], place, found[1]


def _empty(config: ModelOpConfig, value: Template[Any], operator: str) -> str | None:
    """What is wrong with a filter of an update or delete that can be seen in the file."""
    if config.operation not in ("update", "delete") or not value.constant or operator == "is_null":
        return None
    return "is null or empty" if value.source in (None, "", [], ()) else None


def _order(config: ModelOpConfig, model: Model) -> Iterator[Finding]:
    if config.order_by is None or not config.order_by.constant:
        return
    try:
        read_order(model, config.order_by.source)
    except StepError as error:
        yield codes.UNKNOWN_FIELD, str(error), ("order_by",), None


def _includes(config: ModelOpConfig, model: Model, pins: Mapping[str, str | None], plan: PlanView) -> Iterator[Finding]:
    for number, name in enumerate(config.include):
        relation = model.relations.get(name)
        place: Place = ("include", number)
        if relation is None:
            message = f"{model.name} has no relation {name!r}{advice(name, model.relations)}"
            yield codes.UNKNOWN_FIELD, message, place, None
        elif relation.model not in pins:
            message = f"relation {name!r} leads to {relation.model!r}, which is outside `spec.context`"
            yield codes.OUTSIDE_CONTEXT, message, place, _context_hint(plan, relation.model)


def _section(plan: PlanView) -> Any:
    return plan.definition.spec.sections.get("context")  # type: ignore[attr-defined]


def _readable_context(plan: PlanView) -> bool:
    """Whether `spec.context` is absent, or could be read."""
    if _section(plan) is not None:
        return True
    try:
        return plan.definition.document.get(("spec", "context")) is None  # type: ignore[attr-defined]
    except KeyError:
        return True


def _context_hint(plan: PlanView, name: str) -> str:
    """What to write so that a workflow may touch a model, beside the models that it names already."""
    section = _section(plan)
    if isinstance(section, ContextSpec):
        return f"add `{name}` to `spec.context.models`"
    if any(version is not None for version in context_pins(section).values()):
        return f"add `{name}` to the list at `spec.context`"
    return f"write `context: [{', '.join([*context_pins(section), name])}]` under `spec`"
