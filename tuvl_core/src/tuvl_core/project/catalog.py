"""What the installed plugins know, as reading a project needs it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from tuvl_core.diagnostics import Diagnostic
from tuvl_core.project import codes
from tuvl_core.project.workflow import WORKFLOW, Metadata, StepHead, WorkflowBody, WorkflowMetadata
from tuvl_core.structure import Environment, Level, level_of

if TYPE_CHECKING:
    from tuvl_core.plugins import Plugins

__all__ = ["Catalog", "secret_resolvers"]

_ENVELOPE: Final = ("kind", "version", "enabled", "metadata", "spec")
_ON_THE_STEP: Final = "on the step itself, beside `id`"


class Catalog:
    """Names and classes to read a project with.

    Args:
        plugins: The loaded plugins.
        environment: What `${…}` refers to.
        default_kind: The kind of a step that names none.
    """

    def __init__(self, plugins: Plugins, environment: Environment, default_kind: str) -> None:
        self.plugins = plugins
        self.environment = environment
        self.default_kind = default_kind

    @property
    def document_kinds(self) -> tuple[str, ...]:
        """Every known kind of document, the kernel's own first."""
        return (WORKFLOW, *sorted(self.plugins.document_kinds))

    def knows_document(self, kind: str) -> bool:
        """Whether documents of a kind can be read."""
        return kind == WORKFLOW or kind in self.plugins.document_kinds

    def metadata_class(self, kind: str | None) -> type[Metadata]:
        """The class of a document's `metadata`."""
        if kind == WORKFLOW:
            return WorkflowMetadata
        document_kind = self.plugins.document_kinds.get(kind) if kind is not None else None
        return Metadata if document_kind is None or document_kind.metadata is None else document_kind.metadata

    def document_level(self, kind: str | None) -> Level:
        """The keys of a document of a kind, from its root."""
        below = {"metadata": level_of(self.metadata_class(kind))}
        if kind == WORKFLOW:
            below["spec"] = self._workflow_level(None)
        elif kind is not None and kind in self.plugins.document_kinds:
            below["spec"] = level_of(self.plugins.document_kinds[kind].spec)
        return Level(keys=dict.fromkeys(_ENVELOPE, ()), below=below, title="at the top of the document")

    def workflow_document_level(self, kind: str | None) -> Level:
        """The keys of a workflow's document; of its steps, those of one kind."""
        level = self.document_level(WORKFLOW)
        level.below["spec"] = self._workflow_level(kind)
        return level

    def _workflow_level(self, kind: str | None) -> Level:
        level = level_of(WorkflowBody)
        level.keys["steps"] = ()
        level.below["steps"] = self._step_level(kind)
        _add_sections(level, self.plugins.workflow_sections)
        return level

    def _step_level(self, kind: str | None) -> Level:
        level = level_of(StepHead, title=_ON_THE_STEP)
        level.noun = "the step"
        entry = self.plugins.kinds.get(kind) if kind is not None else None
        if entry is not None:
            config = level_of(entry.kind.Config)
            level.keys |= {key: said for key, said in config.keys.items() if key not in level.keys}
            level.below |= config.below
        _add_sections(level, self.plugins.step_sections)
        return level

    def missing_package(self, name: str) -> str | None:
        """Say why nothing knows a kind, document or key, and which package would bring it."""
        return self.plugins.explain_missing(name)


def _add_sections(level: Level, sections: Mapping[str, Any]) -> None:
    for key, section in sections.items():
        level.keys.setdefault(key, ())
        below = level_of(section.spec)
        if below.keys:
            level.below.setdefault(key, below)


def secret_resolvers(plugins: Plugins) -> tuple[dict[str, Any], list[Diagnostic]]:
    """Collect the secret resolvers by scheme; a scheme with two owners has none."""
    found: dict[str, list[tuple[str, Any]]] = {}
    for candidate, resolvers in plugins.call("tuvl_secret_resolvers"):
        for scheme, resolver in (resolvers or {}).items():
            found.setdefault(scheme, []).append((candidate.dist, resolver))
    problems = [
        Diagnostic.of(
            codes.TWO_RESOLVERS,
            f"secrets of `{scheme}://` are resolved by {' and '.join(sorted(owners))}",
            hint="block one of them: TUVL_PLUGINS_BLOCK, or `[plugins] block` in tuvl.toml",
        )
        for scheme, entries in found.items()
        if len(owners := [owner for owner, _ in entries]) > 1
    ]
    single = {scheme: entries[0][1] for scheme, entries in found.items() if len(entries) == 1}
    return single, problems
