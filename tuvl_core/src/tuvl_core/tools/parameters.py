"""Parameters of a step as a tool, derived from what the step declares."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import attrs

from tuvl_core.kinds import Keys, PlanView, StepKind, StepView, declared
from tuvl_core.templates import Condition, Expression, Path, Template, reads_of
from tuvl_core.tools.arguments import IDENTITY

__all__ = ["OPEN_PARAMETERS", "derive_parameters"]

OPEN_PARAMETERS: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {},
    "additionalProperties": True,
}
"""What stands where nothing is known: any names, except the run's own."""

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
    tree = _Tree()
    for path, required, wanted in _variables(step.config):
        if path[0][:1] != "_" and path[0] not in IDENTITY:
            tree.add(path, required, wanted)
    if tree.below:
        return {**tree.schema(), "additionalProperties": False}
    reads: Keys = declared(kind, "reads", step, plan)
    if not reads.open and not reads.names:
        return {"type": "object", "properties": {}, "additionalProperties": False}
    return dict(OPEN_PARAMETERS)


def _variables(config: Any) -> Iterator[tuple[tuple[str, ...], bool, str | None]]:
    """Every path that is read, whether it is required, and its type where that is known."""
    for part in _read_by(config):
        wanted = _type_of(part) if isinstance(part, Template) and part.lone else None
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


def _type_of(template: Template[Any]) -> str | None:
    """Give the JSON type of a lone variable: that of the field it fills."""
    expression = template.parts[0]
    if isinstance(expression, str) or expression.parts is None:
        return None
    wanted = template.type
    if typing.get_origin(wanted) in (typing.Union, types.UnionType):
        members = [item for item in typing.get_args(wanted) if item is not type(None)]
        wanted = members[0] if len(members) == 1 else None
    return _JSON_TYPES.get(wanted)


class _Tree:
    """Paths that are read, as a tree of names."""

    def __init__(self) -> None:
        self.below: dict[str, _Tree] = {}
        self.required = False
        self.type: str | None = None

    def add(self, path: Iterable[str], required: bool, wanted: str | None) -> None:
        """Take in one path; every name on a required one is required."""
        node = self
        for name in path:
            node = node.below.setdefault(name, _Tree())
            node.required = node.required or required
        node.type = node.type or wanted

    def schema(self) -> dict[str, Any]:
        """Give the schema of the values that make the paths lead somewhere."""
        if not self.below:
            return {"type": self.type or "string"}
        if all(name.isascii() and name.isdigit() for name in self.below):
            return self._list_schema()
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
        self.type = self.type or other.type
        for name, node in other.below.items():
            self.below.setdefault(name, _Tree()).merge(node)
