"""Loops that others watch, pause, steer and abort."""

from __future__ import annotations

import asyncio
import time

import pytest

from tuvl_core import App, RunHandle


def flow(turns: int = 3, rest: str = "") -> str:
    """A workflow that takes turns."""
    return (
        "kind: Workflow\nmetadata: { name: w }\nspec:\n  steps:\n"
        f"    - {{ id: a, kind: t.Loop, turns: {turns}, routes: {{ aborted: END }} }}\n{rest}"
    )


async def begin(app: App) -> RunHandle:
    """Start the workflow and let its loop open."""
    handle = await app.start("w")
    await asyncio.sleep(0.01)
    assert len(app.loops) == 1
    return handle


async def test_an_unwatched_loop_is_never_touched(open_app):
    app = await open_app(flow())
    handle = await begin(app)
    [loop] = app.loops
    assert not loop.touched
    assert (await handle.wait()).status == "completed"
    assert not loop.touched
    assert len(app.loops) == 0


async def test_steering_arrives_in_order_at_the_next_turn(open_app):
    app = await open_app(flow())
    handle = await begin(app)
    [loop] = app.loops
    assert loop.control.steer("one")
    assert loop.control.steer("two")
    result = await handle.wait()
    assert result.context["steered"] == ["one", "two"]


async def test_late_guidance_is_reported_and_not_kept(open_app, caplog):
    app = await open_app(flow(turns=1))
    handle = await begin(app)
    [loop] = app.loops
    loop.control.steer("too late")
    assert (await handle.wait()).context["steered"] == []
    assert "loop.steer_too_late" in caplog.text
    assert not loop.control.steer("dead")


async def test_pause_then_abort_ends_at_once(open_app):
    app = await open_app(flow())
    handle = await begin(app)
    [loop] = app.loops
    loop.control.pause()
    await asyncio.sleep(0.04)
    assert (loop.status, handle.run.status) == ("paused", "paused")
    loop.control.abort("enough")
    began = time.monotonic()
    result = await handle.wait()
    assert time.monotonic() - began < 5
    assert (result.signal, result.status) == ("aborted", "completed")
    assert loop.status == "ended"


async def test_a_pause_that_outlives_its_allowance_aborts(open_app):
    app = await open_app(flow())
    handle = await begin(app)
    [loop] = app.loops
    loop.max_pause_s = 0.05
    loop.control.pause()
    result = await asyncio.wait_for(handle.wait(), 2)
    assert result.signal == "aborted"


@pytest.mark.parametrize(
    "directives",
    [
        ["pause", "sleep", "resume"],
        ["pause", "resume", "pause", "resume"],
        ["resume"],
        ["pause", "pause", "resume"],
        ["pause", "sleep", "resume", "pause", "sleep", "resume"],
    ],
)
async def test_directives_in_any_order_have_a_defined_effect(open_app, directives):
    app = await open_app(flow())
    handle = await begin(app)
    [loop] = app.loops
    loop.max_pause_s = 0.2
    for directive in directives:
        if directive == "sleep":
            await asyncio.sleep(0.12)
        else:
            getattr(loop.control, directive)()
    result = await asyncio.wait_for(handle.wait(), 2)
    assert (result.status, result.signal) == ("completed", "default")


async def test_a_paused_inner_loop_stops_the_clocks_around_it(open_app):
    rest = "    - { id: inner, kind: t.Loop, turns: 2, seconds: 0.02 }\n"
    app = await open_app(
        "kind: Workflow\nmetadata: { name: w }\nspec:\n  steps:\n"
        "    - { id: outer, kind: t.Loop, turns: 1, tool: inner }\n" + rest
    )
    handle = await app.start("w")
    await asyncio.sleep(0.01)
    inner = next(loop for loop in app.loops if loop.step_id == "inner")
    outer = next(loop for loop in app.loops if loop.step_id == "outer")
    assert inner.parent == outer.id
    inner.control.pause()
    await asyncio.sleep(0.25)  # well past the tool limit of 0.1 s
    inner.control.resume()
    result = await handle.wait()
    assert result.context["steered"] == ["default"]


async def test_the_registry_shows_a_tenant_its_own_loops_only(open_app):
    app = await open_app(flow())
    handle = await begin(app)
    [loop] = app.loops
    assert app.loops.visible_to("default") == [loop]
    assert app.loops.visible_to("other") == []
    assert app.loops.get(loop.id, "other") is None
    assert app.loops.get(loop.id, "default") is loop
    assert loop.snapshot()["iteration"] >= 1
    handle.cancel()
    await handle.wait()
    assert len(app.loops) == 0
