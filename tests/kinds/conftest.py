"""A project in a temporary folder, opened with whatever is installed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

from tuvl_core import App, Diagnostic, Plugins, RunResult, check_project, load_project


@attrs.define
class Outcome:
    """A finished run, with the whole context it left."""

    result: RunResult
    context: Mapping[str, Any]

    @property
    def signals(self) -> list[str]:
        """The signal of each step that was left."""
        return [entry.signal for entry in self.result.path]

    @property
    def error(self) -> str:
        """The message of the last failing exit."""
        return str(self.context.get("_last_error"))

    @property
    def error_type(self) -> str | None:
        """The type of the last failing exit."""
        return self.context.get("_last_error_type")


class Bench:
    """Writes, checks and runs workflows."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.environ: dict[str, str] = {}
        self.app: App | None = None

    def write(self, path: str, text: str) -> Path:
        """Write a file of the project."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def workflow(self, *steps: Mapping[str, Any], name: str = "w", **spec: Any) -> None:
        """Write a workflow; JSON is YAML."""
        body = {
            "kind": "Workflow",
            "metadata": {"name": name},
            "spec": {**spec, "steps": list(steps)},
        }
        self.write(f"{name}.yaml", json.dumps(body, indent=1))

    def load(self) -> Any:
        """Load the project as it stands."""
        plugins = Plugins.load(root=self.root, environ=self.environ)
        return load_project(self.root, plugins=plugins, environ=self.environ)

    def check(self, *steps: Mapping[str, Any], **spec: Any) -> list[Diagnostic]:
        """Validate; without steps, what was written before. What else is installed here says nothing."""
        if steps:
            self.workflow(*steps, **spec)
        found = [item for item in check_project(self.load()) if item.plugin is None or item.workflow is not None]
        return [item for item in found if item.severity != "info"]

    def codes(self, *steps: Mapping[str, Any], **spec: Any) -> list[str]:
        """The codes that validating gives."""
        return [found.code for found in self.check(*steps, **spec)]

    async def open(self) -> App:
        """Open the project."""
        if self.app is None:
            self.app = await App(self.load()).__aenter__()
        return self.app

    async def run(self, *steps: Mapping[str, Any], context: Mapping[str, Any] | None = None, **spec: Any) -> Outcome:
        """Run a workflow of these steps to its end."""
        if steps:
            await self.close()
            self.workflow(*steps, **spec)
        app = await self.open()
        handle = await app.start("w", context or {})
        result = await handle.wait()
        return Outcome(result, handle.run.context)

    async def close(self) -> None:
        """Close the project if it is open."""
        if self.app is not None:
            await self.app.close()
            self.app = None


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    """A project to fill."""
    made = Bench(tmp_path)
    yield made
    await made.close()
