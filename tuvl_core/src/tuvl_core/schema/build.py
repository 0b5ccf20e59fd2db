"""From attrs classes to JSON Schema (2020-12)."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from itertools import chain, count
from typing import Any, Final, Literal, get_args, get_origin

import attrs

from tuvl_core.documents import ScalarError, plain_value
from tuvl_core.schema.descriptions import class_description, key_descriptions
from tuvl_core.structure import Key, keys_of
from tuvl_core.structure.containers import is_list_type, is_mapping_type, members
from tuvl_core.structure.unions import unwrapped
from tuvl_core.templates import Condition, Expression, Path, Template
from tuvl_core.views import Secret

__all__ = ["json_schema"]

Schema = dict[str, Any]

REFERS: Final = "x-tuvl-refers"
"""A keyword of ours, that validators pass over: of what a value is the name."""

_REFERENCE: Final = r"\$\{"
_TEMPLATE: Final = r"\{\{"
_TEXTS: Final = (str, Secret, Path, Expression, Condition)
_ANY_SCALAR: Final = ["string", "number", "boolean", "null"]
_TYPES: Final = {int: "integer", float: "number", bool: "boolean", type(None): "null"}


def json_schema(cls: Any) -> Schema:
    """Give the JSON Schema of what may be written for a class, or any type a field may have.

    It accepts what the loader accepts, as far as a schema can say it. Classes inside it stand under
    `$defs`; descriptions come from docstrings.
    """
    builder = _Builder()
    schema = builder.of(cls, _Text())
    root = unwrapped(cls)
    name = _name(get_origin(root) or root)
    if schema == {"$ref": f"#/$defs/{name}"} and not builder.refers_to(name):
        schema = builder.definitions.pop(name)
    if builder.definitions:
        schema = {**schema, "$defs": dict(sorted(builder.definitions.items()))}
    return schema


@attrs.frozen
class _Text:
    """How text counts where a type stands: whether `${…}` and `{{ }}` may take its place."""

    prose: bool = False
    template: bool = False
    source: bool = False

    def pattern(self) -> str | None:
        patterns = [] if self.prose else [_REFERENCE]
        return "|".join([*patterns, *([_TEMPLATE] if self.template else [])]) or None


class _Builder:
    def __init__(self) -> None:
        self.definitions: dict[str, Schema] = {}
        self._names: dict[Any, str] = {}

    def of(self, cls: Any, text: _Text) -> Schema:
        cls = unwrapped(cls)
        origin = get_origin(cls) or cls
        if joined := members(cls):
            return _any_of(self.of(member, text) for member in joined)
        if origin is Template:
            return self.of((*get_args(cls), Any)[0], attrs.evolve(text, template=True))
        if cls in _TEXTS:
            return {"type": _ANY_SCALAR if text.source else "string"}
        if cls in _TYPES:
            return _scalar(_TYPES[cls], text)
        if origin is Literal:
            return _choices(get_args(cls), text)
        if isinstance(cls, type) and issubclass(cls, enum.Enum):
            return _choices((member.value for member in cls), text)
        return self._composed(cls, origin, text)

    def _composed(self, cls: Any, origin: Any, text: _Text) -> Schema:
        if attrs.has(origin):
            return self._reference(origin)
        inner = attrs.evolve(text, template=False)
        arguments = get_args(cls)
        if is_list_type(cls):
            schema = self._list(origin, arguments, inner)
        elif is_mapping_type(cls):
            schema = {"type": "object"}
            if len(arguments) > 1 and (values := self.of(arguments[1], inner)):
                schema["additionalProperties"] = values
        else:
            return {}
        if text.template:
            return _any_of((schema, {"type": "string", "pattern": _TEMPLATE}))
        return schema

    def _list(self, origin: Any, arguments: tuple[Any, ...], text: _Text) -> Schema:
        schema: Schema = {"type": "array"}
        if issubclass(origin, tuple) and arguments and arguments[-1] is not ...:
            length = len(arguments)
            schema["prefixItems"] = [self.of(argument, text) for argument in arguments]
            return {**schema, "minItems": length, "maxItems": length}
        if arguments and (items := self.of(arguments[0], text)):
            schema["items"] = items
        return schema

    def _reference(self, cls: type) -> Schema:
        name = self._names.get(cls)
        if name is None:
            name = _free(_name(cls), self.definitions)
            self._names[cls] = name
            self.definitions[name] = {}  # A class may hold itself.
            self.definitions[name] = self._object(cls)
        return {"$ref": f"#/$defs/{name}"}

    def _object(self, cls: type) -> Schema:
        said = key_descriptions(cls)
        schema: Schema = {"type": "object", "additionalProperties": False}
        if description := class_description(cls):
            schema["description"] = description
        keys = keys_of(cls)
        schema["properties"] = {key.name: self._property(key, said.get(key.attribute, "")) for key in keys}
        if required := [key.name for key in keys if key.required]:
            schema["required"] = required
        return schema

    def _property(self, key: Key, description: str) -> Schema:
        meaning = key.meaning
        text = _Text(prose=meaning.prose, source=meaning.source_text)
        schema = self.of(key.type, text)
        if meaning.choices:
            schema = _chosen(key, text)
        schema = _bounded(schema, _bounds(key), text)
        if description:
            schema["description"] = description
        if meaning.refers:
            schema[REFERS] = meaning.refers
        default = key.default
        if isinstance(default, (str, int, float, bool)):
            schema["default"] = default
        return schema

    def refers_to(self, name: str) -> bool:
        """Whether a definition is used inside the definitions themselves."""
        return f"'#/$defs/{name}'" in repr(self.definitions)


def _name(cls: Any) -> str:
    return str(getattr(cls, "__name__", cls))


def _free(name: str, taken: Iterable[str]) -> str:
    """A name for a class: two plugins, or two modules of one, may call different classes the same."""
    numbered = (f"{name}{number}" for number in count(2))
    return next(item for item in chain((name,), numbered) if item not in taken)


def _scalar(kind: str, text: _Text) -> Schema:
    pattern = text.pattern()
    if kind == "null" or pattern is None:
        return {"type": kind}
    return {"type": [kind, "string"], "pattern": pattern}


def _choices(choices: Iterable[Any], text: _Text) -> Schema:
    allowed = list(choices)
    if text.source:
        # `yes` and `1.10` are what was written; an editor may read them as something else.
        allowed += [value for item in allowed if not isinstance(value := _as_read(item), str)]
    schema: Schema = {"enum": allowed}
    pattern = text.pattern()
    if pattern is None:
        return schema
    return _any_of((schema, {"type": "string", "pattern": pattern}))


def _as_read(choice: Any) -> Any:
    try:
        return plain_value(choice) if isinstance(choice, str) else ""
    except ScalarError:
        return ""


def _chosen(key: Key, text: _Text) -> Schema:
    """The schema of a key with `choices`: they hold for a list's items, for a template's constant, and not for null."""
    kinds = [unwrapped(kind) for kind in members(unwrapped(key.type)) or (key.type,)]
    if any(map(_is_template, kinds)):
        text = attrs.evolve(text, template=True)
    options = [_choices(key.meaning.choices, text)]
    if all(map(is_list_type, (kind for kind in kinds if kind is not type(None)))):
        options = [{"type": "array", "items": options[0]}]
    return _any_of([*options, *({"type": "null"} for kind in kinds if kind is type(None))])


def _any_of(schemas: Iterable[Schema]) -> Schema:
    options: list[Schema] = []
    for schema in schemas:
        if schema not in options:
            options.append(schema)
    if {} in options:
        return {}
    return options[0] if len(options) == 1 else {"anyOf": options}


def _bounded(schema: Schema, bounds: Schema, text: _Text) -> Schema:
    """Bound a schema. A reference has a length of its own, which says nothing of what it stands for."""
    pattern = text.pattern()
    if pattern is None or not bounds.keys() & {"minLength", "maxLength"}:
        return {**schema, **bounds}
    return _any_of(({**schema, **bounds}, {"type": "string", "pattern": pattern}))


def _bounds(key: Key) -> Schema:
    """`min` and `max` in the words of JSON Schema; each word counts for its own type only."""
    inner = unwrapped(key.type)
    kinds = [unwrapped(member) for member in members(inner) or (inner,)]
    kinds = [(*get_args(kind), Any)[0] if _is_template(kind) else kind for kind in kinds]
    schema: Schema = {}
    meaning = key.meaning
    for bound, words in ((meaning.min, _LOW), (meaning.above, _ABOVE), (meaning.max, _HIGH)):
        if bound is not None:
            groups = [group for kind in kinds if (group := _group(kind)) in words]
            schema.update((words[group], bound) for group in groups)
    return schema


_LOW: Final = {
    "number": "minimum",
    "text": "minLength",
    "list": "minItems",
    "map": "minProperties",
}
_ABOVE: Final = {"number": "exclusiveMinimum"}
_HIGH: Final = {group: word.replace("min", "max") for group, word in _LOW.items()}


def _group(kind: Any) -> str:
    if kind in (int, float):
        return "number"
    if kind in (str, Secret):
        return "text"
    if is_list_type(kind):
        return "list"
    return "map" if is_mapping_type(kind) else ""


def _is_template(kind: Any) -> bool:
    return (get_origin(kind) or kind) is Template
