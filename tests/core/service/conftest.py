"""A service over a small project whose steps wait, fail and loop."""

from __future__ import annotations

from contextlib import asynccontextmanager

import pytest

from tuvl_core import App, Gate, Plugins, RunService, load_project

KINDS = '''
import asyncio

from tuvl_core import StepKind, StepResult, hookimpl

TUVL_API = 1


class Wait(StepKind):
    """Wait until the test lets it go."""
    name = "t.Wait"

    async def run(self, call):
        gate = call.run.app.resources.setdefault("gate", asyncio.Event())
        await gate.wait()
        return StepResult(writes={"waited": True})


class Loop(StepKind):
    """Turn until it is aborted."""
    name = "t.Loop"
    progress_channel = "agent_progress"

    async def run(self, call):
        loop = call.open_loop(iteration=0)
        try:
            while True:
                loop.metadata["iteration"] += 1
                call.progress("iteration", {"iteration": loop.metadata["iteration"]})
                if loop.touched:
                    found = await loop.checkpoint()
                    if found.aborted is not None:
                        return StepResult(writes={"why": found.aborted})
                await asyncio.sleep(0.002)
        finally:
            loop.close()


class Odd(StepKind):
    """Write what has no wire form."""
    name = "t.Odd"

    async def run(self, call):
        return StepResult(writes={"odd": object()})


@hookimpl
def tuvl_step_kinds():
    return [Wait, Loop, Odd]
'''
WORKFLOWS = """
kind: Workflow
metadata: { name: wait }
spec: { input: { type: object, properties: { n: { type: integer } } }, output: waited, steps: [{ id: w, kind: t.Wait }] }
---
kind: Workflow
metadata: { name: turns }
spec: { steps: [{ id: l, kind: t.Loop }] }
---
kind: Workflow
metadata: { name: odd }
spec: { output: odd, steps: [{ id: o, kind: t.Odd }] }
---
kind: Workflow
metadata: { name: guarded, required_scope: secret }
spec: { steps: [{ id: w, kind: t.Wait }] }
"""


@pytest.fixture
def serve(tmp_path):
    """Give a context manager: `async with serve(settings) as service`."""

    @asynccontextmanager
    async def opened(settings="", *, dev=True, plugin="", **options):
        (tmp_path / "plugins").mkdir(exist_ok=True)
        (tmp_path / "plugins" / "kinds.py").write_text(KINDS)
        if plugin:
            (tmp_path / "plugins" / "more.py").write_text(plugin)
        (tmp_path / "w.yaml").write_text(WORKFLOWS)
        (tmp_path / "tuvl.toml").write_text(settings)
        project = load_project(tmp_path, plugins=Plugins.load(root=tmp_path, environ={}), environ={})
        async with App(project) as app:
            yield RunService(app, gate=Gate(app, dev=dev), **options)

    return opened
