"""What a model may pass to an MCP step that is its tool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tuvl_core import Template, check_parameters, parameters_of
from tuvl_kinds_mcp.definitions import ToolDefinition

__all__ = ["parameters_for"]

_OPEN: Final[Mapping[str, Any]] = {"type": "object", "properties": {}, "additionalProperties": True}
_NOT_AT_ROOT: Final = ("oneOf", "anyOf", "allOf", "not", "enum", "const", "if", "then", "else")
"""What providers refuse at the root of parameters; the server itself still checks it."""
_NOT_SENT: Final = ("$schema", "$id", "$comment", "$anchor", "$dynamicAnchor", "$vocabulary")
_TYPES: Final = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_DEFINITIONS: Final = ("$defs", "definitions")
_MAX_DEPTH: Final = 50


def parameters_for(arguments: Mapping[str, Template[Any]] | None, tool: ToolDefinition | None) -> dict[str, Any]:
    """Give the JSON Schema of a step's arguments as a tool.

    Args:
        arguments: The step's `mcp.arguments`; None: a model fills the server's own schema.
        tool: The server's definition, where it is known.
    """
    schema = tool.schema if tool is not None else None
    if arguments is None:
        return dict(_OPEN) if schema is None else _passed_through(schema)
    return _of_variables(arguments, schema or {})


def _passed_through(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A server's schema in a form that every provider takes."""
    kept = {key: value for key, value in schema.items() if key not in (*_NOT_AT_ROOT, *_NOT_SENT)}
    kept["type"] = "object"
    if not isinstance(kept.get("properties"), Mapping):
        kept["properties"] = {}
        if "additionalProperties" not in kept:
            kept["additionalProperties"] = not isinstance(schema.get("properties"), Mapping)
    # Names with a leading `_` never come from a model.
    kept["properties"] = {name: found for name, found in kept["properties"].items() if name[:1] != "_"}
    if check_parameters(kept) is None and _closed(kept, kept):
        return kept
    plain = {name: _plain(found) for name, found in kept["properties"].items()}
    required = kept.get("required")
    names = [name for name in required if name in plain] if isinstance(required, list) else []
    return {"type": "object", "properties": plain, **({"required": names} if names else {})}


def _of_variables(arguments: Mapping[str, Template[Any]], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The variables inside `arguments`, each typed by the property that it fills alone."""
    wanted: dict[int, Mapping[str, Any]] = {}
    leaves = []
    for template, found in _leaves(arguments, schema, schema):
        leaves.append(template)  # kept, so that no two have the same id
        if found is not None:
            wanted[id(template)] = _self_contained(found, schema)
    derived = parameters_of(leaves, lambda template: wanted.get(id(template)))
    used = {key: schema[key] for key in _DEFINITIONS if key in schema} if _refers(derived) else {}
    derived.update(used)
    if check_parameters(derived) is None:
        return derived
    return parameters_of(leaves, lambda template: _plain(wanted.get(id(template))))


def _leaves(
    value: Any, schema: Mapping[str, Any] | None, root: Mapping[str, Any]
) -> Iterator[tuple[Template[Any], Mapping[str, Any] | None]]:
    """Every text inside arguments as a template, with the schema of its place where that is known."""
    if isinstance(value, Template):
        if value.parts:
            yield value, schema
            return
        value = value.source
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, _below(schema, key, root), root)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item, _items(schema, root), root)
    elif value is not None:
        yield Template.of(value), schema


def _below(schema: Mapping[str, Any] | None, key: Any, root: Mapping[str, Any]) -> Mapping[str, Any] | None:
    properties = (_resolved(schema, root) or {}).get("properties")
    found = properties.get(key) if isinstance(properties, Mapping) else None
    return found if isinstance(found, Mapping) else None


def _items(schema: Mapping[str, Any] | None, root: Mapping[str, Any]) -> Mapping[str, Any] | None:
    found = (_resolved(schema, root) or {}).get("items")
    return found if isinstance(found, Mapping) else None


def _resolved(schema: Mapping[str, Any] | None, root: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Follow local references."""
    for _ in range(_MAX_DEPTH):
        if schema is None or "$ref" not in schema:
            return schema
        schema = _target(schema["$ref"], root)
    return None


def _target(ref: Any, root: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What a reference into the definitions of a schema points at."""
    parts = ref.split("/") if isinstance(ref, str) else []
    if len(parts) != 3 or parts[0] != "#" or parts[1] not in _DEFINITIONS:
        return None
    definitions = root.get(parts[1])
    name = parts[2].replace("~1", "/").replace("~0", "~")
    found = definitions.get(name) if isinstance(definitions, Mapping) else None
    return found if isinstance(found, Mapping) else None


def _self_contained(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """A property's schema where all it refers to lies in the definitions; else what is plain about it."""
    return schema if _closed(schema, root) else _plain(schema)


def _closed(schema: Any, root: Mapping[str, Any]) -> bool:
    """Whether every reference leads into the definitions, and there to something."""
    return all(_target(ref, root) is not None for ref in _references(schema))


def _refers(schema: Any) -> bool:
    return any(True for _ in _references(schema))


def _references(value: Any) -> Iterator[Any]:
    """Every reference in a schema, what is only an example or a default included: too careful harms nobody."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Mapping):
            yield from (item[key] for key in ("$ref", "$dynamicRef", "$recursiveRef") if key in item)
            waiting.extend(item.values())
        elif isinstance(item, (list, tuple)):
            waiting.extend(item)


def _plain(schema: Any) -> dict[str, Any]:
    """Type and description of a schema, and nothing that could refer to anything."""
    found: dict[str, Any] = {}
    if isinstance(schema, Mapping):
        kind = schema.get("type")
        if isinstance(kind, str) and kind in _TYPES:
            found["type"] = kind
        if isinstance(schema.get("description"), str):
            found["description"] = schema["description"]
    return found
