"""What may stand where, from the schema of everything installed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

__all__ = ["Knowledge"]

Schema = Mapping[str, Any]
Path = tuple[str | int, ...]

_REFERS: Final = "x-tuvl-refers"
_MAX_DEPTH: Final = 20


class Knowledge:
    """Looks through the composed schema of a project.

    Args:
        schema: What `project_schema` gives.
    """

    def __init__(self, schema: Schema) -> None:
        self._root = schema
        self._definitions: Mapping[str, Schema] = schema.get("$defs", {})

    def at(self, data: Any, path: Path) -> list[Schema]:
        """Every schema that applies at a path of a document; `data` chooses between kinds."""
        return [schema for schema, _ in self._walk(data, path)]

    def properties(self, data: Any, path: Path) -> dict[str, Schema]:
        """The keys that may stand in the mapping at a path."""
        found: dict[str, Schema] = {}
        for schema in self.at(data, path):
            for name, part in schema.get("properties", {}).items():
                found[name] = {**part, **found.get(name, {})}
        return found

    def refers(self, data: Any, path: Path) -> str | None:
        """Of what the value at a path is the name: `step`, a document kind, or nothing."""
        return next((refers for _, refers in self._walk(data, path) if refers), None)

    def description(self, data: Any, path: Path) -> str:
        """What is said about the value at a path, the nearest words first."""
        found = (str(schema["description"]) for schema in self.at(data, path) if schema.get("description"))
        return next(found, "")

    def choices(self, data: Any, path: Path) -> list[Any]:
        """The values that are listed for a path."""
        found: list[Any] = []
        for schema in self.at(data, path):
            found += schema.get("enum", ())
            found += [schema["const"]] if "const" in schema else []
            found += [True, False] if _takes(schema, "boolean") and "enum" not in schema else []
        return list(dict.fromkeys(item for item in found if item not in (None, "")))

    def default(self, data: Any, path: Path) -> Any:
        """The default of the value at a path; None where it has none."""
        return next((schema["default"] for schema in self.at(data, path) if "default" in schema), None)

    def _walk(self, data: Any, path: Path) -> list[tuple[Schema, str | None]]:
        here: list[tuple[Schema, str | None]] = [(item, None) for item in self._expand(self._root, data, 0)]
        for part in path:
            data = _below(data, part)
            here = [
                (item, refers)
                for schema, inherited in here
                for inner, refers in _step(schema, part, inherited)
                for item in self._expand(inner, data, 0)
            ]
        return here

    def _expand(self, schema: Any, data: Any, depth: int) -> Iterator[Schema]:
        """A schema and whatever applies with it: references, branches that fit, conditions that hold."""
        if not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
            return
        yield schema
        reference = schema.get("$ref")
        parts: list[Any] = [*schema.get("allOf", ()), *schema.get("anyOf", ())]
        if isinstance(reference, str):
            parts.append(self._definitions.get(reference.rpartition("/")[2]))
        if "if" in schema:
            parts.append(schema.get("then" if _holds(schema["if"], data) else "else"))
        for part in parts:
            yield from self._expand(part, data, depth + 1)


def _step(schema: Schema, part: str | int, inherited: str | None) -> Iterable[tuple[Any, str | None]]:
    refers = schema.get(_REFERS, inherited)
    if isinstance(part, int):
        if "items" in schema:
            yield schema["items"], refers
        prefix = schema.get("prefixItems", ())
        if part < len(prefix):
            yield prefix[part], refers
        return
    properties = schema.get("properties", {})
    if part in properties:
        yield properties[part], properties[part].get(_REFERS)
        return
    further = schema.get("additionalProperties")
    if isinstance(further, Mapping):
        yield further, refers
    elif further is None and refers is not None:
        yield {}, refers


def _below(data: Any, part: str | int) -> Any:
    try:
        return data[part]
    except (KeyError, IndexError, TypeError):
        return None


def _holds(condition: Schema, data: Any) -> bool:
    """Whether a condition of the composed schema holds: those only look at what some keys are."""
    if not isinstance(data, Mapping) or any(key not in data for key in condition.get("required", ())):
        return False
    return all(_is(data[key], part) for key, part in condition.get("properties", {}).items() if key in data)


def _is(value: Any, part: Schema) -> bool:
    allowed = [part["const"]] if "const" in part else part.get("enum", [value])
    return any(type(item) is type(value) and item == value for item in allowed)


def _takes(schema: Schema, kind: str) -> bool:
    """Whether a schema wants this type, references to variables aside; source text takes any, and wants none."""
    given = schema.get("type", ())
    return given == kind or (isinstance(given, list) and kind in given and "pattern" in schema and "null" not in given)
