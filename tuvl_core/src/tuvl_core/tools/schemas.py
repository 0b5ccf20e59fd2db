"""JSON Schemas: whether one is valid, and a validator that never goes to the network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NoReturn

from tuvl_core.tools.plain_schemas import plainly_valid

__all__ = [
    "NOT_AN_OBJECT",
    "build_validator",
    "check_parameters",
    "check_schema",
    "declared_names",
    "is_open",
]

_BRANCHES: Final = ("allOf", "anyOf", "oneOf")
_SINGLE_BRANCHES: Final = ("if", "then", "else")
_MAX_EXCERPT: Final = 200
NOT_AN_OBJECT: Final = "its `type` has to be `object`, since arguments come by name"


def check_schema(schema: Any) -> str | None:
    """Say what is wrong with a JSON Schema; None if nothing is.

    References to other documents are refused: nothing is fetched.
    """
    if plainly_valid(schema):
        return None
    try:
        build_validator(schema)
    except ValueError as problem:
        return str(problem)
    return None


def check_parameters(schema: Any) -> str | None:
    """Say what is wrong with the parameters of a tool: the JSON Schema of an object."""
    problem = check_schema(schema)
    if problem is None and schema.get("type", "object") != "object":
        return NOT_AN_OBJECT
    return problem


def build_validator(schema: Any) -> Any:
    """Compile a schema.

    Raises:
        ValueError: It is no JSON Schema, or refers to another document.
    """
    if not isinstance(schema, Mapping):
        raise ValueError("it has to be a mapping")
    import jsonschema_rs

    try:
        return jsonschema_rs.validator_for(dict(schema), retriever=_refuse)
    except Exception as problem:  # the checker has several kinds of errors, all of them findings
        raise ValueError(_explain(problem)) from None


def _refuse(uri: str) -> NoReturn:
    raise ValueError(f"{uri} is another document, and nothing is fetched; put it under `$defs`")


def _explain(problem: Exception) -> str:
    """Give the first line of what the checker says, of bounded length, with the place."""
    message = str(getattr(problem, "message", problem)).split("\n")[0]
    message = message.removeprefix("ValueError: ").split(": ValueError: ")[-1]  # our own refusal
    if len(message) > _MAX_EXCERPT:
        message = message[:_MAX_EXCERPT] + "…"
    path = ".".join(str(part) for part in getattr(problem, "instance_path", ()))
    return f"{path}: {message}" if path else message


def declared_names(schema: Mapping[str, Any]) -> set[str]:
    """Give the names of properties that a schema declares, in its branches and references too."""
    names: set[str] = set()
    for part in _parts(schema):
        properties = part.get("properties")
        if isinstance(properties, Mapping):
            names.update(properties)
    return names


def is_open(schema: Mapping[str, Any]) -> bool:
    """Whether a schema says that names beyond its properties are welcome.

    Saying nothing does not: what is declared is all a model can fill.
    """
    for part in _parts(schema):
        for key in ("additionalProperties", "unevaluatedProperties", "patternProperties"):
            if part.get(key, False) is not False:
                return True
    return False


def _parts(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Give the schema and every other that applies to the same object."""
    seen: set[int] = set()
    waiting: list[Any] = [schema]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, Mapping) or id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        for key in _BRANCHES:
            branches = part.get(key)
            if isinstance(branches, (list, tuple)):
                waiting.extend(branches)
        waiting.extend(part.get(key) for key in _SINGLE_BRANCHES)
        dependent = part.get("dependentSchemas")
        if isinstance(dependent, Mapping):
            waiting.extend(dependent.values())
        waiting.append(_referred(schema, part.get("$ref")))


def _referred(schema: Any, ref: Any) -> Any:
    """Look up what a local reference such as `#/$defs/Order` points at."""
    if not isinstance(ref, str) or not ref.startswith("#/"):
        return None
    found = schema
    for part in ref[2:].split("/"):
        if not isinstance(found, Mapping):
            return None
        found = found.get(part.replace("~1", "/").replace("~0", "~"))
    return found
