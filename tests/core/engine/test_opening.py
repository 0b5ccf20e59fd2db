"""What outlives a run is opened once, and again where the first try did not come to its end."""

from __future__ import annotations

import asyncio

import pytest

from tuvl_core import App, Plugins, load_project

PLUGIN = """
import asyncio
from tuvl_core import StepKind, StepResult, hookimpl

OPENED = []


class Pooled(StepKind):
    name = "t.Pooled"

    async def open_resources(self, app):
        OPENED.append(len(OPENED))
        app.resources["opened"] = OPENED
        if len(OPENED) == 1:
            await asyncio.Event().wait()
        if len(OPENED) == 2:
            raise OSError("not yet")
        app.resources["pool"] = "open"

    async def run(self, call):
        return StepResult(writes={"pool": call.run.app.resources["pool"]})


@hookimpl
def tuvl_step_kinds():
    return [Pooled]
"""


async def test_a_kind_that_could_not_open_is_opened_again(tmp_path):
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "pooled.py").write_text(PLUGIN)
    (tmp_path / "w.yaml").write_text(
        "kind: Workflow\nmetadata: { name: w }\nspec: { output: pool, steps: [{ id: s, kind: t.Pooled }] }\n"
    )
    project = load_project(tmp_path, plugins=Plugins.load(root=tmp_path, environ={}), environ={})
    async with App(project) as app:
        first = asyncio.create_task(app.start("w"))
        async with asyncio.timeout(10):
            while not app.resources.get("opened"):
                await asyncio.sleep(0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        with pytest.raises(OSError, match="not yet"):
            await app.run("w")
        assert [(await app.run("w")).result for _ in range(2)] == ["open", "open"]
        assert app.resources["opened"] == [0, 1, 2]
