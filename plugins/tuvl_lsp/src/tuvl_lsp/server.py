"""The language server: what the protocol asks for, answered from sessions."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer

from tuvl_core import TuvlError
from tuvl_lsp.completion import complete
from tuvl_lsp.hover import hover
from tuvl_lsp.links import definition_of
from tuvl_lsp.look import Look
from tuvl_lsp.session import Session

__all__ = ["Server", "build"]

_log = logging.getLogger("tuvl.lsp")

_SLICE_S: Final = 0.02
"""How long checking in the background keeps a keystroke waiting."""
_REST_S: Final = 0.005
_SETTINGS: Final = frozenset(("tuvl.toml", ".env"))
_YAML: Final = (".yaml", ".yml")
_KINDS: Final = {
    "key": types.CompletionItemKind.Property,
    "kind": types.CompletionItemKind.Class,
    "step": types.CompletionItemKind.Reference,
    "signal": types.CompletionItemKind.Event,
    "document": types.CompletionItemKind.File,
    "value": types.CompletionItemKind.EnumMember,
}


class Server(LanguageServer):
    """A language server for tuvl projects.

    Args:
        root: The only project; None: those in the folders that the editor opened.
    """

    def __init__(self, root: Path | None) -> None:
        super().__init__(
            "tuvl",
            version("tuvl-lsp"),
            text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
        )
        self._fixed = root.absolute() if root is not None else None
        self._uris: dict[Path, str] = {}
        # None: it could not be opened, which has been told.
        self._sessions: dict[Path, Session | None] = {}
        self._busy: asyncio.Task[None] | None = None
        self._settled = 0

    def place(self, uri: str) -> tuple[Session, str] | None:
        """The project that a file belongs to, and its path there; None where it is no file of one."""
        path = _path(uri)
        if path is None:
            return None
        self._uris[path] = uri
        root = self._root(path)
        if root is None or not path.is_relative_to(root):
            return None
        session = self._session(root)
        name = path.relative_to(root).as_posix()
        return (session, name) if session is not None and session.holds(name) else None

    def edit(self, uri: str, text: str | None) -> None:
        """Take in what somebody typed, check that, and go on with the rest in the background."""
        found = self.place(uri)
        if found is None:
            return
        session, path = found
        session.edit(path, text)
        session.check(0)
        self.tell(session)
        self.go_on()

    def tell(self, session: Session) -> None:
        """Publish the findings of files where they have changed."""
        for path, found in session.news():
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(uri=self.uri(session.root / path), diagnostics=found)
            )

    def uri(self, path: Path) -> str:
        """The name of a file, as the editor itself writes it: there is more than one way."""
        return self._uris.get(path) or path.as_uri()

    def go_on(self) -> None:
        """See to it that what is left gets checked."""
        if self._busy is None or self._busy.done():
            self._busy = asyncio.get_running_loop().create_task(self._work())

    def changed(self, changed: list[str]) -> None:
        """Take in that files have changed on the disk."""
        self._sessions = {root: session for root, session in self._sessions.items() if session is not None}
        for session in filter(None, self._sessions.values()):
            names = {path.relative_to(session.root).as_posix() for path in _under(session.root, changed)}
            if not names:
                continue
            try:
                session.reload() if any(_is_read(name) for name in names) else session.touch()
            except TuvlError as problem:
                self._say(session.root, problem)
                continue
            self.tell(session)
            self.go_on()

    def look(self, uri: str, position: types.Position) -> tuple[Session, Look, int] | None:
        """Look at a place of a file."""
        found = self.place(uri)
        if found is None:
            return None
        session, path = found
        look = session.look(path)
        return session, look, look.text.index(position)

    async def _work(self) -> None:
        """Check in slices, so that no keystroke waits for long."""
        while waiting := [item for item in self._sessions.values() if item is not None and item.pending]:
            for session in waiting:
                if session.check(_SLICE_S):
                    self.tell(session)
                await asyncio.sleep(_REST_S)
        if self._settled != len(self._sessions):
            # What has been read stays; the collector looking through all of it again would be felt while typing.
            gc.freeze()
            self._settled = len(self._sessions)

    def _root(self, path: Path) -> Path | None:
        """The project around a file: the nearest folder with a `tuvl.toml`, else the folder that was opened."""
        if self._fixed is not None:
            return self._fixed
        opened = [folder for item in self.workspace.folders.values() if (folder := _path(item.uri)) is not None]
        around = [folder for folder in opened if path.is_relative_to(folder)]
        if not around:
            return None
        top = max(around, key=lambda folder: len(folder.parts))
        for folder in path.parents:
            if (folder / "tuvl.toml").is_file() or folder == top:
                return folder
        return top

    def _session(self, root: Path) -> Session | None:
        if root not in self._sessions:
            try:
                self._sessions[root] = Session(root)
            except TuvlError as problem:
                self._sessions[root] = None
                self._say(root, problem)
        return self._sessions[root]

    def _say(self, root: Path, problem: Exception) -> None:
        message = f"tuvl: {root.name} cannot be opened: {problem}"
        self.window_show_message(types.ShowMessageParams(type=types.MessageType.Error, message=message))


def build(root: Path | None = None) -> Server:
    """Build a server with everything it can do.

    Args:
        root: The only project; None: those in the folders that the editor opened.
    """
    server = Server(root)
    _follow(server)
    _answer(server)
    return server


def _follow(server: Server) -> None:
    """Follow what happens to files."""

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        """Take the editor's text for the file's from here on."""
        server.edit(params.text_document.uri, params.text_document.text)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        """Check what was typed."""
        uri = params.text_document.uri
        server.edit(uri, server.workspace.get_text_document(uri).source)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        """Take the text on the disk again."""
        server.edit(params.text_document.uri, None)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        """Look again at what code and settings change; documents have been followed as they were typed."""
        if not params.text_document.uri.endswith(_YAML):
            server.changed([params.text_document.uri])

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def watched(params: types.DidChangeWatchedFilesParams) -> None:
        """Take in what others have changed on the disk."""
        server.changed([change.uri for change in params.changes])

    @server.feature(types.INITIALIZED)
    def initialized(_: types.InitializedParams) -> None:
        """Ask the editor to tell of changed files, if it can be asked."""
        watches = server.client_capabilities.workspace
        dynamic = watches.did_change_watched_files if watches is not None else None
        if dynamic is not None and dynamic.dynamic_registration:
            server.client_register_capability(_watching(), _registered)


def _watching() -> types.RegistrationParams:
    watchers = [types.FileSystemWatcher(glob_pattern=f"**/{name}") for name in ("*.{yaml,yml,py,md}", *_SETTINGS)]
    options = types.DidChangeWatchedFilesRegistrationOptions(watchers=watchers)
    registration = types.Registration(
        id="tuvl-files", method=types.WORKSPACE_DID_CHANGE_WATCHED_FILES, register_options=options
    )
    return types.RegistrationParams(registrations=[registration])


def _registered(_: Any) -> None:
    _log.debug("the editor tells of changed files")


def _answer(server: Server) -> None:
    """Answer what an editor asks."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def on_hover(params: types.HoverParams) -> types.Hover | None:
        """Say what the key, the kind or the step below the pointer is for."""
        found = server.look(params.text_document.uri, params.position)
        if found is None:
            return None
        _, look, index = found
        spot = look.spot(index)
        said = hover(look, spot) if spot is not None else None
        if spot is None or said is None:
            return None
        content = types.MarkupContent(kind=types.MarkupKind.Markdown, value=said)
        return types.Hover(contents=content, range=look.text.range(spot.start, spot.end))

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def on_definition(params: types.DefinitionParams) -> types.Location | None:
        """Go to the step or the document that is named."""
        found = server.look(params.text_document.uri, params.position)
        if found is None:
            return None
        session, look, index = found
        spot = look.spot(index)
        place = definition_of(look, spot) if spot is not None else None
        if place is None:
            return None
        text = session.text(place.path)
        start = text.index_of(place.line, place.column)
        return types.Location(uri=server.uri(session.root / place.path), range=text.range(start, start))

    _complete(server)


def _complete(server: Server) -> None:
    options = types.CompletionOptions(trigger_characters=[" ", ":", "/", "-"])

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, options)
    def on_completion(params: types.CompletionParams) -> types.CompletionList:
        """Offer what may stand at the cursor."""
        found = server.place(params.text_document.uri)
        if found is None:
            return types.CompletionList(is_incomplete=False, items=[])
        session, path = found
        text = session.text(path)
        read: Callable[[str], Look] = lambda changed: session.look(path, changed)  # noqa: E731
        done = complete(text, text.index(params.position), read)
        place = text.range(done.start, done.end)
        items = [
            types.CompletionItem(
                label=offer.label,
                kind=_KINDS[offer.what],
                documentation=types.MarkupContent(kind=types.MarkupKind.Markdown, value=offer.documentation),
                text_edit=types.TextEdit(range=place, new_text=offer.text),
            )
            for offer in done.offers
        ]
        return types.CompletionList(is_incomplete=False, items=items)


def _path(uri: str) -> Path | None:
    parts = urlsplit(uri)
    return Path(uris.to_fs_path(uri) or "/").absolute() if parts.scheme == "file" else None


def _under(root: Path, changed: list[str]) -> list[Path]:
    paths = (path for uri in changed if (path := _path(uri)) is not None)
    return [path for path in paths if path.is_relative_to(root)]


def _is_read(name: str) -> bool:
    """Whether a file is read with the project, and not only looked at by checks."""
    return name in _SETTINGS or name.endswith(_YAML)
