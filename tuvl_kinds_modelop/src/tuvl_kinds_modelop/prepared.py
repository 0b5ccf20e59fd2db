"""What is known of a ModelOp step before it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs

from tuvl_core import StepView, Template, reads_of
from tuvl_kinds_modelop.config import ModelOpConfig
from tuvl_kinds_modelop.fields import Field
from tuvl_kinds_modelop.models import Model
from tuvl_kinds_modelop.operators import NAMES, UNCOMPARABLE

__all__ = ["FilterTemplate", "Prepared", "filter_templates", "output_key", "read_names"]


@attrs.frozen
class FilterTemplate:
    """A filter as the author wrote it: which field, which operator, and the template of its value."""

    field: str
    operator: str
    value: Template[Any]


@attrs.frozen(kw_only=True, eq=False)
class Prepared:
    """A step, ready to run.

    Attributes:
        model: Its model.
        filters: What the author filters by, or None where a model gives it.
        author_names: Whether the author wrote the payload's names, and may fill fields that data may not.
        read: Names that the step's templates read.
        wire: What brings a field's value into the form that leaves, for fields that need it.
        output: The context key of the result.
    """

    model: Model
    filters: tuple[FilterTemplate, ...] | None
    author_names: bool
    read: frozenset[str]
    wire: tuple[tuple[str, Callable[[Any], Any]], ...]
    output: str

    @classmethod
    def of(cls, step: StepView, model: Model) -> Prepared:
        """Prepare a step whose model is known."""
        config: ModelOpConfig = step.config
        return cls(
            model=model,
            filters=None if config.filters is None else tuple(filter_templates(config.filters, model.fields)),
            author_names=config.payload is not None and isinstance(config.payload.source, Mapping),
            read=frozenset(read_names(config)),
            wire=wire_of(model),
            output=output_key(step),
        )


def wire_of(model: Model) -> tuple[tuple[str, Callable[[Any], Any]], ...]:
    """The fields whose values change when they leave; secure ones did so where they were read."""
    return tuple(
        (field.name, convert)
        for field in model.fields.values()
        if not field.secure and (convert := field.wire()) is not None
    )


def output_key(step: StepView) -> str:
    """The context key of the result."""
    key: str | None = step.config.output
    return key if key is not None else f"{step.id}_result"


def read_names(config: ModelOpConfig) -> Iterator[str]:
    """Names of the context, or of arguments, that the step's templates read."""
    return (read.path[0] for read in reads_of(config))


def filter_templates(filters: Template[Any], fields: Mapping[str, Field]) -> Iterator[FilterTemplate]:
    """Take filters apart as they stand in the file: operators are the author's words, never a value's."""
    if not isinstance(filters.source, Mapping):
        return
    for name, given in filters.source.items():
        field = fields.get(name)
        operators = isinstance(given, Mapping) and bool(given)
        if operators and field is not None and field.type in UNCOMPARABLE:
            operators = set(given) <= {"is_null"}
        if operators:
            for operator, value in given.items():
                yield FilterTemplate(name, operator if operator in NAMES else str(operator), Template.of(value))
        else:
            yield FilterTemplate(name, "eq", Template.of(given))
