"""Kinds that ask outside before the first run of a plan."""

from __future__ import annotations

import asyncio
import logging

import pytest

from tuvl_core import App, Plugins, StepKind, StepResult, load_project

PLUGIN = "from tuvl_core import hookimpl\nKIND = None\n\n@hookimpl\ndef tuvl_step_kinds():\n    return [KIND]\n"


class Asks(StepKind):
    """Learns its output key."""

    name = "t.Asks"
    opened = False
    learned: str | None = None
    asked = 0
    trouble: Exception | None = None

    def output_key(self, step, plan):
        return type(self).learned

    def prepare(self, step, plan):
        return type(self).learned

    async def open_resources(self, app):
        type(self).opened = True

    async def discover(self, step, plan, app):
        kind = type(self)
        assert kind.opened, "resources come first"
        kind.asked += 1
        await asyncio.sleep(0.01)
        if kind.trouble is not None:
            raise kind.trouble
        if kind.learned is not None:
            return False
        kind.learned = "known"
        return True

    async def run(self, call):
        return StepResult(writes={"saw": call.step.prepared})


@pytest.fixture
async def app(tmp_path):
    """An open project with one step of a kind of its own."""
    kind = type("Fresh", (Asks,), {"learned": None, "asked": 0, "opened": False, "trouble": None})
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "mine.py").write_text(PLUGIN)
    (tmp_path / "w.yaml").write_text(
        "kind: Workflow\nmetadata: { name: w }\nspec: { steps: [{ id: a, kind: t.Asks }] }\n"
    )
    plugins = Plugins.load(root=tmp_path, environ={})
    for candidate in plugins.candidates:
        if candidate.local:
            candidate.module.KIND = kind
    async with App(load_project(tmp_path, plugins=plugins, environ={})) as opened:
        yield opened, kind


async def test_what_was_learned_is_compiled_in(app):
    opened, kind = app
    assert opened.plan("w").steps["a"].prepared is None
    assert kind.asked == 0
    results = await asyncio.gather(*(opened.run("w") for _ in range(5)))
    assert [item.context["saw"] for item in results] == ["known"] * 5
    assert kind.asked == 1
    assert opened.plan("w").steps["a"].output_key == "known"


async def test_a_kind_that_fails_to_ask_costs_nobody_a_run(app, caplog):
    opened, kind = app
    kind.trouble = OSError("nobody there")
    with caplog.at_level(logging.WARNING):
        result = await opened.run("w")
    assert (result.status, result.context["saw"]) == ("completed", None)
    [record] = caplog.records
    assert "step.discover_failed" in record.getMessage() and "nobody there" in record.getMessage()
    await opened.run("w")
    assert kind.asked == 1
