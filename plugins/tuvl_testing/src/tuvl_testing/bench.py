"""A project in a folder of its own, written, checked and run by a test."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

from tuvl_core import App, Diagnostic, Plugins, Project, RunResult, StepEvent, check_project, load_project
from tuvl_testing.scripted.model import ScriptedModel, use_model

__all__ = ["ProjectBuilder"]


class ProjectBuilder:
    """Writes a project's files, loads it, and runs its workflows in this process.

    No model is asked but the scripted one that `model` sets, unless the project says otherwise itself.

    Args:
        root: The folder.
        environ: What `${…}` and settings read; by default nothing, so that a test does not depend on
            the machine it runs on.
    """

    def __init__(self, root: Path, environ: Mapping[str, str] | None = None) -> None:
        self.root = root
        self.environ = dict(environ or {})
        self._app: App | None = None
        self._models: list[tuple[str, Any]] = []

    def write(self, path: str, text: str) -> Path:
        """Write a file; the text's common indent is taken off."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text), encoding="utf-8")
        return file

    def workflow(self, name: str, *steps: Mapping[str, Any], **spec: Any) -> Path:
        """Write a workflow of steps that are given as data."""
        body = {"kind": "Workflow", "metadata": {"name": name}, "spec": {**spec, "steps": list(steps)}}
        return self.write(f"workflows/{name}.yaml", json.dumps(body, indent=2))

    def model(self, *turns: Any, prefix: str = "scripted", **options: Any) -> ScriptedModel:
        """Let model strings of a prefix mean a scripted model; `model: scripted/x` asks it."""
        model = ScriptedModel(*turns, **options)
        self._models.append((prefix, model))
        return model

    def load(self) -> Project:
        """Load the project as it stands."""
        plugins = Plugins.load(root=self.root, environ=self.environ)
        project = load_project(self.root, plugins=plugins, environ=self.environ)
        for prefix, model in self._models:
            use_model(project, model, prefix)
        return project

    def check(self) -> list[Diagnostic]:
        """Everything that `tuvl validate` would say."""
        return check_project(self.load())

    async def app(self) -> App:
        """The open project; opened when it is first asked for."""
        if self._app is None:
            self._app = await App(self.load()).__aenter__()
        return self._app

    async def run(self, workflow: str, input: Mapping[str, Any] | None = None, **options: Any) -> RunResult:
        """Run a workflow to its end; options are those of `App.run`."""
        return await (await self.app()).run(workflow, input, **options)

    async def events(self, workflow: str, input: Mapping[str, Any] | None = None) -> Sequence[StepEvent]:
        """Run a workflow and give its events; the last one has type `run`."""
        app = await self.app()
        return [event async for event in app.stream(workflow, input)]

    async def close(self) -> None:
        """Close the project; it is loaded anew when it is next run."""
        if self._app is not None:
            await self._app.close()
            self._app = None
