"""One project as an editor sees it: unsaved texts over files, and findings by file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from lsprotocol import types

from tuvl_core import Diagnostic, Document, Plugins, Workspace, project_schema
from tuvl_lsp.knowledge import Knowledge
from tuvl_lsp.look import Look
from tuvl_lsp.spots import spot_at
from tuvl_lsp.text import Text

__all__ = ["Session"]

_SEVERITIES: Final = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
}


class Session:
    """One project.

    Args:
        root: Its directory.

    Raises:
        TuvlError: It cannot be opened, for want of a usable setting, say.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._plugins = Plugins.load(root=root)
        self._workspace = Workspace(root, plugins=self._plugins)
        self._knowledge: Knowledge | None = None
        self._told: dict[str, list[Diagnostic]] = {}
        self._texts: dict[str, Text] = {}

    def holds(self, path: str) -> bool:
        """Whether a file is one of the project's."""
        return self._workspace.holds(path)

    def edit(self, path: str, text: str | None) -> None:
        """Take in the unsaved text of a file, or let it go."""
        if text is None:
            self._texts.pop(path, None)
        else:
            self._texts[path] = Text(text)
        self._workspace.edit(path, text)

    def reload(self) -> None:
        """Read settings and the list of files again."""
        self._workspace.reload()
        self._knowledge = None

    def touch(self) -> None:
        """Check everything again."""
        self._workspace.touch()

    def check(self, seconds: float) -> bool:
        """Check for so long what is to be checked; whether everything has been."""
        return self._workspace.check(seconds=seconds)

    @property
    def pending(self) -> int:
        """How many workflows are still to be checked."""
        return self._workspace.pending

    def news(self) -> Iterator[tuple[str, list[types.Diagnostic]]]:
        """The findings of each file where they have changed since the last time."""
        found: defaultdict[str, list[Diagnostic]] = defaultdict(list)
        for item in self._workspace.diagnostics:
            if item.location is not None:
                found[item.location.path].append(item)
        changed = [path for path in {**self._told, **found} if self._told.get(path, []) != found.get(path, [])]
        self._told = dict(found)
        documents = self._documents(set(changed))
        for path in sorted(changed):
            text = self.text(path)
            yield path, [_shown(item, text, documents[path]) for item in found.get(path, ())]

    def look(self, path: str, text: str | None = None) -> Look:
        """Look at a file.

        Args:
            path: The file.
            text: A text in its place; None: its own.
        """
        shown = Text(text) if text is not None else self.text(path)
        documents, plans = self._workspace.read(path, shown.text)
        return Look(
            text=shown,
            documents=documents,
            plans=plans,
            project=self._workspace.project,
            knowledge=self.knowledge,
        )

    @property
    def knowledge(self) -> Knowledge:
        """What may stand where."""
        if self._knowledge is None:
            default_kind = str(self._workspace.project.settings["default_kind"])
            self._knowledge = Knowledge(project_schema(self._plugins, default_kind=default_kind))
        return self._knowledge

    def text(self, path: str) -> Text:
        """A file's text, saved or not; empty where it cannot be read."""
        if (known := self._texts.get(path)) is not None:
            return known
        try:
            return Text((self.root / path).read_text(encoding="utf-8-sig"))
        except (OSError, ValueError):
            return Text("")

    def _documents(self, paths: set[str]) -> defaultdict[str, list[Document]]:
        found: defaultdict[str, list[Document]] = defaultdict(list)
        for document in self._workspace.project.documents:
            if document.path in paths:
                found[document.path].append(document)
        return found


def _shown(item: Diagnostic, text: Text, documents: list[Document]) -> types.Diagnostic:
    where = item.location
    assert where is not None
    start = text.index_of(where.line, where.column)
    line_end = text.line_end(start)
    spot = spot_at(documents, start)
    end = spot.end if spot is not None and spot.start <= start < spot.end else line_end
    return types.Diagnostic(
        range=text.range(start, min(end, line_end)),
        message=f"{item.message}\n{item.hint}" if item.hint else item.message,
        severity=_SEVERITIES[item.severity],
        code=item.code,
        source="tuvl",
    )
