"""A real client that speaks to `tuvl lsp` over stdio, as an editor does."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.lsp.client import LanguageClient

TUVL = str(Path(sys.executable).with_name("tuvl"))
CURSOR = "▮"
MODEL = "kind: AgentModel\nmetadata: { name: default, description: The one for all. }\nspec: { model: openai/x }\n"
DESK = """kind: Workflow
metadata: { name: desk }
spec:
  steps:
    - id: agent
      kind: AutonomousAgent
      agent:
        model: default
        steering: Go.
        tools: [{ ref: look_up }]
        outcome: { enum: [done], output_key: result }
      routes: { done: say, max_iterations: END, budget_exceeded: END, aborted: END, error: END }
    - id: look_up
      kind: APICall
      description: Look one order up.
      http: { url: "http://localhost/{{ order_id }}" }
    - id: say
      kind: Response
      mapping: { answer: result }
"""


class Editor:
    """What an editor does, with waiting for what the server says.

    Args:
        root: The folder that it opens.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.client = LanguageClient("editor", "1")
        self.diagnostics: dict[str, list[types.Diagnostic]] = {}
        self.messages: list[str] = []
        self.news = asyncio.Event()
        self.versions: dict[str, int] = {}

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: types.PublishDiagnosticsParams) -> None:
            self.diagnostics[params.uri] = list(params.diagnostics)
            self.news.set()

        @self.client.feature(types.WINDOW_SHOW_MESSAGE)
        def shown(params: types.ShowMessageParams) -> None:
            self.messages.append(params.message)
            self.news.set()

    async def start(self, *arguments: str, folder: Path | None = None) -> None:
        env = {key: value for key, value in os.environ.items() if not key.startswith(("TUVL_", "COV_"))}
        await self.client.start_io(TUVL, "lsp", *arguments, env=env, cwd=self.root)
        opened = folder or self.root
        await self.client.initialize_async(
            types.InitializeParams(
                capabilities=types.ClientCapabilities(),
                workspace_folders=[types.WorkspaceFolder(uri=opened.as_uri(), name="project")],
                root_uri=opened.as_uri(),
            )
        )
        self.client.initialized(types.InitializedParams())

    async def stop(self) -> int | None:
        await self.client.shutdown_async(None)
        self.client.exit(None)
        process: Any = self.client._server
        await asyncio.wait_for(process.wait(), 10)
        await self.client.stop()
        return process.returncode

    def uri(self, path: str) -> str:
        return (self.root / path).as_uri()

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def open(self, path: str, text: str | None = None) -> None:
        shown = (self.root / path).read_text(encoding="utf-8") if text is None else text
        self.versions[path] = 1
        item = types.TextDocumentItem(uri=self.uri(path), language_id="yaml", version=1, text=shown)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))

    def change(self, path: str, text: str, range: types.Range | None = None) -> None:
        self.versions[path] += 1
        document = types.VersionedTextDocumentIdentifier(uri=self.uri(path), version=self.versions[path])
        change: Any = (
            types.TextDocumentContentChangeWholeDocument(text=text)
            if range is None
            else types.TextDocumentContentChangePartial(range=range, text=text)
        )
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(text_document=document, content_changes=[change])
        )

    def close(self, path: str) -> None:
        document = types.TextDocumentIdentifier(uri=self.uri(path))
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(text_document=document))

    async def codes(self, path: str, *expected: str) -> list[types.Diagnostic]:
        """Wait until the errors and warnings of a file have these codes."""

        def found() -> list[types.Diagnostic]:
            return [
                item
                for item in self.diagnostics.get(self.uri(path), [])
                if item.severity != types.DiagnosticSeverity.Information
            ]

        try:
            async with asyncio.timeout(15):
                while self.uri(path) not in self.diagnostics or sorted(map(code, found())) != sorted(expected):
                    self.news.clear()
                    await self.news.wait()
        except TimeoutError:
            pytest.fail(f"{path}: {[(code(item), item.message) for item in found()]}, {self.messages}")
        return found()

    def at(self, path: str, marked: str) -> types.TextDocumentPositionParams:
        """Show a text with `▮` in it, and give the place where that stands."""
        before, _, after = marked.partition(CURSOR)
        text = before + after
        if path in self.versions:
            self.change(path, text)
        else:
            self.open(path, text)
        lines = before.split("\n")
        position = types.Position(line=len(lines) - 1, character=len(lines[-1].encode("utf-16-le")) // 2)
        return types.TextDocumentPositionParams(
            text_document=types.TextDocumentIdentifier(uri=self.uri(path)), position=position
        )

    async def hover(self, path: str, marked: str) -> str | None:
        where = self.at(path, marked)
        found = await self.client.text_document_hover_async(
            types.HoverParams(text_document=where.text_document, position=where.position)
        )
        return found.contents.value if found is not None else None  # type: ignore[union-attr]

    async def definition(self, path: str, marked: str) -> tuple[str, int, int] | None:
        where = self.at(path, marked)
        found: Any = await self.client.text_document_definition_async(
            types.DefinitionParams(text_document=where.text_document, position=where.position)
        )
        if found is None:
            return None
        name = Path(found.uri.removeprefix(self.root.as_uri())).name
        return name, found.range.start.line, found.range.start.character

    async def complete(self, path: str, marked: str) -> dict[str, str]:
        """Labels, each with the whole text as it is after choosing it."""
        where = self.at(path, marked)
        text = marked.replace(CURSOR, "")
        found: Any = await self.client.text_document_completion_async(
            types.CompletionParams(text_document=where.text_document, position=where.position)
        )
        chosen = {}
        for item in found.items:
            edit = item.text_edit
            lines = text.split("\n")
            line = lines[edit.range.start.line].encode("utf-16-le")
            start, end = edit.range.start.character * 2, edit.range.end.character * 2
            new = line[:start].decode("utf-16-le") + edit.new_text + line[end:].decode("utf-16-le")
            lines[edit.range.start.line] = new
            chosen[item.label] = "\n".join(lines)
        return chosen


def code(item: types.Diagnostic) -> str:
    return str(item.code)
