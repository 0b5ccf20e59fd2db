"""One JSON Schema of everything that may stand in a project's files, with what is installed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from tuvl_core.project.workflow import END, WORKFLOW, Metadata, StepHead, WorkflowBody, WorkflowMetadata
from tuvl_core.schema import class_description, json_schema

if TYPE_CHECKING:
    from tuvl_core.plugins import Plugins

__all__ = ["project_schema"]

Schema = dict[str, Any]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
ID_PATTERN: Final = r"^[A-Za-z_][A-Za-z0-9_-]{0,63}$"
_SAYS_SOMETHING: Final = r"\S"
_PREFIX: Final = "#/$defs/"


def project_schema(plugins: Plugins, *, default_kind: str, kind: str | None = None) -> Schema:
    """Give the JSON Schema (2020-12) of a project's documents, or of one kind of step or document.

    It says what the loader says about keys, types, ranges and choices. What a schema cannot know is left
    to `tuvl validate`: references between documents, and what `${…}` and `{{ }}` stand for.

    Args:
        plugins: What is installed.
        default_kind: The kind of a step that names none.
        kind: A kind of step or document; None: every document.

    Raises:
        KeyError: Nothing installed knows the kind.
    """
    composer = _Composer(plugins, default_kind)
    if kind is None:
        root = composer.root()
    else:
        found = [composer.reference(what, kind) for what in ("step", "document") if (what, kind) in composer.names]
        if not found:
            raise KeyError(kind)
        root = found[0] if len(found) == 1 else {"anyOf": found}
    used = _reachable(root, composer.definitions)
    return {"$schema": DIALECT, **root, "$defs": {name: composer.definitions[name] for name in used}}


class _Composer:
    """Puts every class's schema into one set of definitions, under names that say whose it is."""

    def __init__(self, plugins: Plugins, default_kind: str) -> None:
        self.definitions: dict[str, Schema] = {}
        self.names: dict[tuple[str, str], str] = {}
        self._plugins = plugins
        self._default_kind = default_kind
        self._head = self._of(StepHead, "step")
        for name, section in plugins.step_sections.items():
            self._head["properties"][name] = self._of(section.spec, f"step.{name}")
        self._head["properties"]["id"] |= {
            "type": ["string", "boolean", "null"],  # a number begins like no id
            "pattern": ID_PATTERN,
            "not": {"const": END},
        }
        for name, entry in plugins.kinds.items():
            self._add("step", name, self._step(name, entry.kind))
        self._add("document", WORKFLOW, self._document(WORKFLOW, WorkflowMetadata, self._workflow()))
        for name, document in plugins.document_kinds.items():
            spec = self._of(document.spec, f"document.{name}")
            self._add("document", name, self._document(name, document.metadata or Metadata, spec))

    def root(self) -> Schema:
        """Any document."""
        kinds = [name for what, name in self.names if what == "document"]
        return {
            "title": "A document of a tuvl project",
            "type": "object",
            "properties": {"kind": {"enum": kinds, "description": "What the document is."}},
            "required": ["kind"],
            "allOf": list(self._by_kind("document", kinds)),
        }

    def reference(self, what: str, name: str) -> Schema:
        """Refer to the definition of a kind."""
        return {"$ref": f"{_PREFIX}{self.names[what, name]}"}

    def _add(self, what: str, name: str, schema: Schema) -> None:
        self.names[what, name] = self._define(f"{what}.{name}", schema)

    def _define(self, name: str, schema: Schema) -> str:
        """Add a definition under a name that needs no escapes in a reference."""
        name = re.sub(r"[^A-Za-z0-9_.-]", "_", name)
        while name in self.definitions:
            name += "_"
        self.definitions[name] = schema
        return name

    def _by_kind(self, what: str, names: Iterable[str]) -> Iterator[Schema]:
        for name in names:
            test = {"properties": {"kind": {"const": name}}, "required": ["kind"]}
            yield {"if": test, "then": self.reference(what, name)}

    def _of(self, cls: Any, owner: str) -> Schema:
        """The schema of a class, its definitions moved to ours; of an unusable class, one that takes anything."""
        try:
            schema = json_schema(cls)
        except Exception:
            return {}  # a stranger's mistake; `tuvl validate` names it where it is used
        own = schema.pop("$defs", {})
        moved = {name: self._define(f"{owner}.{name}", {}) for name in own}
        for name, definition in own.items():
            self.definitions[moved[name]] = _moved(definition, moved)
        changed: Schema = _moved(schema, moved)
        return changed

    def _step(self, name: str, kind: Any) -> Schema:
        own = self._of(kind.Config, f"step.{name}")
        own = self.definitions.get(own.get("$ref", "").removeprefix(_PREFIX), own)  # a class that holds itself
        head = self._head
        # What all steps have comes first, and wins.
        properties = {**head["properties"], **own.get("properties", {}), **head["properties"]}
        properties["kind"] = {"description": properties["kind"]["description"], **self._kind_of_step(name)}
        schema = {
            "type": "object",
            "title": f"{name} step",
            "description": class_description(type(kind)) or own.get("description", ""),
            "properties": properties,
            "required": [*self._required_kind(name), *head["required"], *own.get("required", ())],
        }
        # Without a schema of its own keys, no key can be called unknown.
        return {**schema, "additionalProperties": False} if own else schema

    def _kind_of_step(self, name: str) -> Schema:
        if name != self._default_kind:
            return {"type": "string", "const": name}
        return {"type": ["string", "null"], "enum": [name, "", None], "default": name}

    def _required_kind(self, name: str) -> list[str]:
        return [] if name == self._default_kind else ["kind"]

    def _steps(self) -> Schema:
        names = list(self._plugins.kinds)
        step: Schema = {
            "type": "object",
            "properties": {"kind": {"enum": names}},
            "required": ["id"],
            "allOf": list(self._by_kind("step", names)),
        }
        default = self._default_kind
        if default in names:
            step["properties"]["kind"] = {"enum": [*names, "", None], "default": default}
            written = {"properties": {"kind": {"enum": names}}, "required": ["kind"]}
            step["allOf"].append({"if": written, "else": self.reference("step", default)})
        else:
            step["required"].append("kind")
        reference = {"$ref": f"{_PREFIX}{self._define('step', step)}"}
        return {"type": "array", "minItems": 1, "items": reference, "description": "The steps."}

    def _workflow(self) -> Schema:
        spec = self._of(WorkflowBody, "workflow")
        sections = self._plugins.workflow_sections
        for name, section in sections.items():
            spec["properties"][name] = self._of(section.spec, f"workflow.{name}")
        spec["properties"]["steps"] = self._steps()
        spec["description"] = "The workflow."
        return {**spec, "required": [*spec.get("required", ()), "steps"]}

    def _document(self, name: str, metadata: type[Metadata], spec: Schema) -> Schema:
        about = self._of(metadata, f"metadata.{name}")
        about["properties"]["name"] = {**about["properties"]["name"], "pattern": _SAYS_SOMETHING}
        scalar = {"type": ["string", "number", "boolean", "null"]}
        body = {"$ref": f"{_PREFIX}{self._define(f'spec.{name}', spec)}"}
        schema = {
            "type": "object",
            "title": f"{name} document",
            "description": spec.get("description", ""),
            "additionalProperties": False,
            "properties": {
                "kind": {"const": name, "description": "What the document is."},
                "version": {**scalar, "description": "Of the document's author; tuvl makes nothing of it."},
                "enabled": {
                    "type": ["boolean", "string"],
                    "pattern": r"\$\{",
                    "default": True,
                    "description": "`false` turns the document off: it counts for nothing.",
                },
                "metadata": {**about, "description": "What the document says about itself."},
                "spec": {"description": "The document's body."},
            },
            "required": ["kind", "metadata"],
        }
        off = {"properties": {"enabled": {"const": False}}, "required": ["enabled"]}
        needed = ["spec"] if _needs_body(spec) else []
        # What is turned off is not read any further.
        return {**schema, "if": off, "else": {"properties": {"spec": body}, "required": needed}}


def _needs_body(spec: Schema) -> bool:
    """Whether a document without `spec` lacks something: it is read as one with an empty body."""
    return bool(spec.get("required")) or spec.get("type", "object") != "object"


def _moved(value: Any, names: Mapping[str, str]) -> Any:
    """A schema whose references go to definitions under their new names."""
    if isinstance(value, list):
        return [_moved(item, names) for item in value]
    if not isinstance(value, dict):
        return value
    changed = {key: _moved(item, names) for key, item in value.items()}
    reference = value.get("$ref")
    if isinstance(reference, str) and (name := names.get(reference.removeprefix(_PREFIX))) is not None:
        changed["$ref"] = f"{_PREFIX}{name}"
    return changed


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _references(item)
    elif isinstance(value, dict):
        reference = value.get("$ref")
        if isinstance(reference, str):
            yield reference.removeprefix(_PREFIX)
        for item in value.values():
            yield from _references(item)


def _reachable(root: Schema, definitions: Mapping[str, Schema]) -> list[str]:
    """The definitions that a schema needs, in order."""
    found: set[str] = set()
    waiting = list(_references(root))
    while waiting:
        name = waiting.pop()
        if name not in found and name in definitions:
            found.add(name)
            waiting += _references(definitions[name])
    return sorted(found)
