"""A loaded project: everything that its files define."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from tuvl_core.diagnostics import Diagnostic, sort_diagnostics
from tuvl_core.documents import Document
from tuvl_core.errors import ProjectError
from tuvl_core.project.definition import Definition
from tuvl_core.project.pause import collector_paused
from tuvl_core.project.registry import Registry
from tuvl_core.project.workflow import WORKFLOW, WorkflowSpec
from tuvl_core.structure import Environment, did_you_mean

if TYPE_CHECKING:
    from tuvl_core.plugins import Plugins
    from tuvl_core.settings import Settings

__all__ = ["Project"]


@attrs.define(kw_only=True, eq=False)
class Project:
    """A project. Nothing in it changes after loading; bodies are typed when first asked for.

    Attributes:
        root: Its directory.
        plugins: The plugins it is read with.
        settings: Its settings.
        environment: What `${…}` refers to.
        documents: Every document, in the order of files and places.
        files: How many YAML files were read.
        kept: What plugins make of the project once, by a class or object of their own; gone with the project.
    """

    root: Path
    plugins: Plugins
    settings: Settings
    environment: Environment = attrs.field(repr=False)
    documents: tuple[Document, ...] = attrs.field(repr=False)
    files: int
    _registry: Registry = attrs.field(repr=False)
    _problems: tuple[Diagnostic, ...] = attrs.field(repr=False)
    kept: dict[Any, Any] = attrs.field(factory=dict, init=False, repr=False)
    _diagnostics: list[Diagnostic] | None = attrs.field(default=None, init=False, repr=False)

    @property
    def workflows(self) -> Mapping[str, Definition[WorkflowSpec]]:
        """Every enabled workflow by name; of several versions the newest."""
        return self._registry.by_name(WORKFLOW)

    def definitions(self, kind: str) -> Mapping[str, Definition[Any]]:
        """The enabled documents of a kind by name, those that could be read.

        Of several `schema_version`s of a name the newest is here; `find` gives the others.
        """
        found = self._registry.by_name(kind)
        return {name: item for name, item in found.items() if item.usable}

    def versions(self, kind: str) -> tuple[Definition[Any], ...]:
        """Every enabled document of a kind that could be read, each `schema_version` of a name, in file order."""
        return tuple(item for item in self._registry.all(kind) if item.enabled and item.usable)

    def find(self, kind: str, name: str, schema_version: str | None = None) -> Definition[Any]:
        """Give the document of a kind and name.

        Args:
            kind: Its kind.
            name: Its name.
            schema_version: Its version; None: the newest.

        Raises:
            ProjectError: There is none, it is turned off, or it is not in order. The message says
                what to do, and the diagnostics come along.
        """
        found = self._registry.find(kind, name, schema_version)
        version = f" ({schema_version})" if schema_version is not None else ""
        if found is None:
            raise ProjectError(
                f"there is no {kind} `{name}`{version}{self._advice(kind, name)}",
                self.unreadable,
            )
        if not found.enabled:
            where = found.locate("enabled")
            raise ProjectError(f"the {kind} `{name}`{version} is turned off at {where}")
        errors = [item for item in found.problems if item.severity == "error"]
        if errors:
            raise ProjectError(f"the {kind} `{name}`{version} has errors: {errors[0]}", errors)
        return found

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Everything that is wrong with the project's files, in order."""
        if self._diagnostics is None:
            found = [*self._problems]
            with collector_paused():
                for definition in self._registry.all():
                    found.extend(self._named(definition))
            self._diagnostics = sort_diagnostics(list(dict.fromkeys(found)))
        return list(self._diagnostics)

    def diagnostics_for(self, workflow: str) -> list[Diagnostic]:
        """Everything that is wrong with the documents of one workflow's name."""
        found = [
            item
            for definition in self._registry.all(WORKFLOW)
            if definition.name == workflow
            for item in self._named(definition)
        ]
        return sort_diagnostics(list(dict.fromkeys(found)))

    def _named(self, definition: Definition[Any]) -> list[Diagnostic]:
        if definition.kind != WORKFLOW:
            return definition.problems
        name = definition.name
        return [attrs.evolve(item, workflow=name) for item in definition.problems]

    def _advice(self, kind: str, name: str) -> str:
        known = self._registry.by_name(kind)
        if (hint := did_you_mean(name, known)) is not None:
            return f"; {hint}"
        listed = ", ".join(sorted(known)) or "none"
        return f" in this project; it has: {listed}"

    @property
    def unreadable(self) -> list[Diagnostic]:
        """Why files and documents could not be read at all: one of them may be what is missing."""
        return [item for item in self._problems if item.severity == "error"]
