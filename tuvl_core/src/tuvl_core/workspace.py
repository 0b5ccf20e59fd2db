"""A project that is being edited: only what changes is read again, and only what depends on it checked again."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from tuvl_core.diagnostics import Diagnostic, sort_diagnostics
from tuvl_core.documents import find_files, is_project_file
from tuvl_core.plan.build import build_plan
from tuvl_core.plan.check import check_workflow
from tuvl_core.plan.suppress import suppress
from tuvl_core.project import WORKFLOW, Project
from tuvl_core.project.load import ReadFile, assemble, prepare, read_file
from tuvl_core.project.pause import collector_paused

if TYPE_CHECKING:
    from tuvl_core.documents import Document
    from tuvl_core.plan import Plan
    from tuvl_core.plugins import Plugins
    from tuvl_core.project import Definition, WorkflowSpec

__all__ = ["Workspace"]

_EVERY: Final = "*"


class Workspace:
    """A project whose files are being edited, for editors and other tools that stay.

        workspace = Workspace(root, plugins=Plugins.load(root=root))
        workspace.edit("workflows/a.yaml", "kind: Workflow …")   # unsaved text
        workspace.check()
        workspace.diagnostics

    `project` is a new one after each change; what did not change in it is not read again.

    Args:
        root: The project's directory.
        plugins: The plugins to read it with.
        environ: The environment; None: the process's own.

    Raises:
        ProjectError: There is no such directory.
        SettingsError: A setting has no usable value.
    """

    def __init__(self, root: Path, *, plugins: Plugins, environ: Mapping[str, str] | None = None) -> None:
        self._plugins = plugins
        self._environ = environ
        self._root = Path(root)
        self._texts: dict[str, str] = {}
        self.reload()

    @property
    def project(self) -> Project:
        """The project as it is now."""
        return self._project

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Everything that is wrong, as far as it has been checked; what is suppressed is left out."""
        found = [*self._project.diagnostics, *self._plugins.problems]
        for name, checked in self._checked.items():
            if name not in self._stale:
                found += checked
            else:
                found += [item for item in checked if item.location is None or item.location.path not in self._moved]
        told = suppress(dict.fromkeys(found), self._project)
        return sort_diagnostics([item for item in told if item.suppression is None])

    @property
    def pending(self) -> int:
        """How many workflows are still to be checked."""
        return len(self._stale)

    def reload(self) -> None:
        """Read everything again: settings, `.env`, which files there are. Unsaved text stays.

        Raises:
            ProjectError: There is no such directory any more.
            SettingsError: A setting has no usable value.
        """
        self._base = prepare(self._root, plugins=self._plugins, environ=self._environ)
        with collector_paused():
            paths = {path.relative_to(self._root).as_posix() for path in find_files(self._root)} | self._texts.keys()
            self._files = {path: self._read(path) for path in sorted(paths, key=lambda path: path.split("/"))}
        self._checked: dict[str, list[Diagnostic]] = {}
        self._stale: OrderedDict[str, None] = OrderedDict()
        self._asked: set[str] = set()
        self._moved: set[str] = set()
        self._assemble()
        self._stale.update(dict.fromkeys(self._project.workflows))

    def holds(self, path: str) -> bool:
        """Whether a file is, or would be, one of the project's: not in hidden folders, `tests/` and the like."""
        return is_project_file(self._root, path)

    def edit(self, path: str, text: str | None) -> None:
        """Take in another text of a file.

        Args:
            path: The file, from the project's root, with `/`.
            text: Its text, saved or not; None: what is on the disk.

        What is no file of the project changes nothing.
        """
        if not self.holds(path):
            return
        before = self._files.get(path)
        if text is None:
            self._texts.pop(path, None)
        else:
            self._texts[path] = text
        if text is None and not (self._root / path).exists():
            self._files.pop(path, None)
        else:
            self._files[path] = self._read(path)
            if before is None:
                self._files = dict(sorted(self._files.items(), key=lambda item: item[0].split("/")))
        self._assemble()
        self._moved.add(path)
        self._mark(before, self._files.get(path))

    def touch(self) -> None:
        """Have everything checked again: something that checks look at has changed, such as a node's source."""
        self._assemble()
        self._stale.update(dict.fromkeys(self._project.workflows))

    def check(self, *, seconds: float | None = None) -> bool:
        """Check what is to be checked, what was edited last first. Runs no user code.

        Args:
            seconds: Stop after so long, and at least one workflow; None: go on to the end.

        Returns:
            Whether everything has been checked.
        """
        end = None if seconds is None else time.monotonic() + seconds
        workflows = self._project.workflows
        while self._stale:
            name = next(iter(self._stale))
            definition = workflows.get(name)
            if definition is not None:
                self._checked[name] = self._check(name, definition)
            del self._stale[name]
            if end is not None and time.monotonic() >= end:
                break
        if not self._stale:
            self._moved.clear()
        return not self._stale

    def read(self, path: str, text: str) -> tuple[tuple[Document, ...], list[Plan]]:
        """Read a text as if it stood in a file, without taking it in: for looking at, not for running.

        Args:
            path: The file it would stand in.
            text: The text.

        Returns:
            The documents in it, and the plans of its workflows as far as they can be read.
        """
        file = read_file(text, path, self._base.catalog)
        return file.documents, [plan for item in file.definitions if (plan := self._plan(item)) is not None]

    def _plan(self, definition: Definition[Any]) -> Plan | None:
        if definition.kind != WORKFLOW or not definition.usable:
            return None
        try:
            return build_plan(self._project, definition)
        except Exception:
            return None  # a kind's mistake, which checking reports

    def _read(self, path: str) -> ReadFile:
        return read_file(self._texts.get(path, self._root / path), path, self._base.catalog)

    def _assemble(self) -> None:
        """Make a project of the files. Definitions are renewed: two of one name are noted at both."""
        files = [
            attrs.evolve(file, definitions=tuple(definition.renewed() for definition in file.definitions))
            for file in self._files.values()
        ]
        self._project = _Asked(**assemble(self._base, files))
        workflows = self._project.workflows
        self._checked = {name: checked for name, checked in self._checked.items() if name in workflows}
        for name in [name for name in self._stale if name not in workflows]:
            del self._stale[name]

    def _check(self, name: str, definition: Definition[WorkflowSpec]) -> list[Diagnostic]:
        self._project.asked.clear()
        found = check_workflow(build_plan(self._project, definition))
        self._asked |= self._project.asked - {name}
        return found

    def _mark(self, before: ReadFile | None, after: ReadFile | None) -> None:
        """Find out what has to be checked again after a file has changed."""
        old, new = _named(before), _named(after)
        workflows = self._project.workflows
        own = [name for kind, name in {**old, **new} if kind == WORKFLOW and name in workflows]
        others = any(kind != WORKFLOW for kind, _ in {**old, **new})
        # Kinds keep what they found out about a project, so a lookup may not show with each workflow that
        # relies on it: where any of them asked, all of them are checked again.
        asked = _EVERY in self._asked or any(name in self._asked for _, name in {**old, **new})
        if others or asked:
            self._stale.update(dict.fromkeys(workflows))
        self._stale.update(dict.fromkeys(own))
        for name in reversed(own):
            self._stale.move_to_end(name, last=False)


def _named(file: ReadFile | None) -> dict[tuple[str, str], None]:
    return {(item.kind, item.name): None for item in file.definitions} if file is not None else {}


@attrs.define(kw_only=True, eq=False)
class _Asked(Project):
    """A project that notes which workflows are asked for."""

    asked: set[str] = attrs.field(factory=set, init=False, repr=False)

    @property
    def workflows(self) -> Mapping[str, Definition[WorkflowSpec]]:
        return _Names(super().workflows, self.asked)

    def definitions(self, kind: str) -> Mapping[str, Definition[Any]]:
        found = super().definitions(kind)
        return _Names(found, self.asked) if kind == WORKFLOW else found

    def versions(self, kind: str) -> tuple[Definition[Any], ...]:
        if kind == WORKFLOW:
            self.asked.add(_EVERY)
        return super().versions(kind)

    def find(self, kind: str, name: str, schema_version: str | None = None) -> Definition[Any]:
        if kind == WORKFLOW:
            self.asked.add(name)
        return super().find(kind, name, schema_version)


class _Names(Mapping[str, Any]):
    """Definitions by name; notes which names are asked for."""

    def __init__(self, names: Mapping[str, Any], asked: set[str]) -> None:
        self._names = names
        self._asked = asked

    def __getitem__(self, name: str) -> Any:
        self._asked.add(name)
        return self._names[name]

    def __iter__(self) -> Iterator[str]:
        self._asked.add(_EVERY)
        return iter(self._names)

    def __len__(self) -> int:
        self._asked.add(_EVERY)
        return len(self._names)
