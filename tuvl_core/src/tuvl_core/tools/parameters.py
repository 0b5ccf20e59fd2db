"""Parameters of a step as a tool, derived from what the step declares."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import attrs

from tuvl_core.kinds import Keys, PlanView, StepKind, StepView, declared
from tuvl_core.templates import Condition, Expression, Path, Template, reads_of
from tuvl_core.tools.arguments import IDENTITY

__all__ = ["OPEN_PARAMETERS", "derive_parameters", "parameters_of"]

OPEN_PARAMETERS: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {},
    "additionalProperties": True,
}
"""What stands where nothing is known: any names, except the run's own."""

_DEFAULTED: Final = re.compile(r"[\w.]+\s*\|\s*(?:d|default)\s*\([^|]*\)")
_JSON_TYPES: Final[Mapping[Any, str]] = {float: "number", int: "integer", bool: "boolean"}


def derive_parameters(step: StepView, plan: PlanView, kind: StepKind) -> dict[str, Any]:
    """Give the JSON Schema of a step's arguments as a tool.

    What the kind declares counts. Else it is made of the variables that the templates of the step's
    config read: strings, or what the field's type says where a variable stands alone; a variable
    that must not be missing is required. Names of the engine and of the run's identity are left
    out, for no model may fill them. Without any variable the schema is open, unless the kind
    declares that the step reads nothing.
    """
    own = declared(kind, "tool_parameters", step, plan)
    if own is not None:
        return dict(own)
    derived = parameters_of(step.config)
    if derived["properties"]:
        return derived
    reads: Keys = declared(kind, "reads", step, plan)
    if not reads.open and not reads.names:
        return derived
    return dict(OPEN_PARAMETERS)


def parameters_of(
    value: Any, schema_of: Callable[[Template[Any]], Mapping[str, Any] | None] | None = None
) -> dict[str, Any]:
    """Give the JSON Schema of the variables that the templates in a value read.

    For kinds that declare their own `tool_parameters` and know more than the types of their fields.
    Names of the engine and of the run's identity are left out. The schema is closed; of a value that
    reads nothing it has no properties.

    Args:
        value: A template, or mappings, lists and attrs instances that hold some.
        schema_of: Gives the JSON Schema of what a template that is one lone variable may be filled
            with; None leaves it to the type of its field.
    """
    tree = _Tree()
    for path, required, wanted in _variables(value, schema_of):
        if path[0][:1] != "_" and path[0] not in IDENTITY:
            tree.add(path, required, wanted)
    if not tree.below:
        return {"type": "object", "properties": {}, "additionalProperties": False}
    return {**tree.object_schema(), "additionalProperties": False}


def _variables(
    value: Any, schema_of: Callable[[Template[Any]], Mapping[str, Any] | None] | None
) -> Iterator[tuple[tuple[str, ...], bool, Mapping[str, Any] | None]]:
    """Every path that is read, whether it is required, and its schema where that is known."""
    for part in _read_by(value):
        wanted = None
        if isinstance(part, Template) and _is_variable(part):
            wanted = (schema_of(part) if schema_of is not None else None) or _schema_of(part)
        for path, required in reads_of(part):
            yield path, required, wanted


def _read_by(value: Any) -> Iterator[Any]:
    """Everything in a config that reads the context, one by one."""
    if isinstance(value, (Template, Expression, Condition, Path)):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _read_by(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _read_by(item)
    elif attrs.has(type(value)):
        for field in attrs.fields(type(value)):
            yield from _read_by(getattr(value, field.name))


def _is_variable(template: Template[Any]) -> bool:
    """Whether a template is one variable and nothing else, a default at the most."""
    if not template.lone or not isinstance(part := template.parts[0], Expression):
        return False
    return part.parts is not None or (len(part.reads) == 1 and bool(_DEFAULTED.fullmatch(part.source.strip())))


def _schema_of(template: Template[Any]) -> Mapping[str, Any] | None:
    """Give the schema of a lone variable: the type of the field it fills."""
    wanted = template.type
    if typing.get_origin(wanted) in (typing.Union, types.UnionType):
        members = [item for item in typing.get_args(wanted) if item is not type(None)]
        wanted = members[0] if len(members) == 1 else None
    name = _JSON_TYPES.get(wanted)
    return {"type": name} if name is not None else None


class _Tree:
    """Paths that are read, as a tree of names."""

    def __init__(self) -> None:
        self.below: dict[str, _Tree] = {}
        self.required = False
        self.wanted: Mapping[str, Any] | None = None

    def add(self, path: Iterable[str], required: bool, wanted: Mapping[str, Any] | None) -> None:
        """Take in one path; every name on a required one is required."""
        node = self
        for name in path:
            node = node.below.setdefault(name, _Tree())
            node.required = node.required or required
        node.wanted = node.wanted or wanted

    def schema(self) -> dict[str, Any]:
        """Give the schema of the values that make the paths lead somewhere."""
        if not self.below:
            return dict(self.wanted) if self.wanted is not None else {"type": "string"}
        if all(name.isascii() and name.isdigit() for name in self.below):
            return self._list_schema()
        return self.object_schema()

    def object_schema(self) -> dict[str, Any]:
        """Give the schema of a mapping with these names."""
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {name: node.schema() for name, node in self.below.items()},
        }
        required = [name for name, node in self.below.items() if node.required]
        if required:
            schema["required"] = required
        return schema

    def _list_schema(self) -> dict[str, Any]:
        merged = _Tree()
        for node in self.below.values():
            merged.merge(node)
        last = max((int(name) for name, node in self.below.items() if node.required), default=-1)
        return {"type": "array", "items": merged.schema(), "minItems": last + 1}

    def merge(self, other: _Tree) -> None:
        """Take in another tree; a name is required if it is in one of the two."""
        self.required = self.required or other.required
        self.wanted = self.wanted or other.wanted
        for name, node in other.below.items():
            self.below.setdefault(name, _Tree()).merge(node)
