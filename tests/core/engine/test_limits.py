"""Time limits, cancellation, and what a run says when it is cut short."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
import warnings
from pathlib import Path

import pytest

from tuvl_core import App, Bound, Plugins, QueueSink, load_project


def flow(steps: str, head: str = "") -> str:
    """A workflow `w` of the given steps."""
    return f"kind: Workflow\nmetadata: {{ name: w }}\nspec:\n{head}  steps:\n{steps}"


TWO_STEPS = "    - { id: first, kind: t.Set, values: { x: 1 } }\n    - { id: slow, kind: t.Wait%s }\n"


@pytest.mark.parametrize("stubborn", ["", ", stubborn: true"])
async def test_a_steps_own_timeout_is_its_error(open_app, stubborn):
    app = await open_app(
        flow(f"    - {{ id: slow, kind: t.Wait, timeout: 0.05{stubborn}, routes: {{ error: END }} }}\n")
    )
    began = time.monotonic()
    result = await app.run("w")
    assert time.monotonic() - began < 20
    assert result.status == "completed"
    assert result.signal == "error"


@pytest.mark.parametrize("stubborn", ["", ", stubborn: true"])
async def test_timeout_s_fails_the_run_and_says_how_far_it_came(open_app, stubborn):
    app = await open_app(flow(TWO_STEPS % stubborn, "  limits: { timeout_s: 0.05 }\n"))
    began = time.monotonic()
    result = await app.run("w")
    assert time.monotonic() - began < 20
    assert result.status == "failed"
    assert result.error is not None
    assert result.error.type == "RunLimitError"
    assert "timeout_s" in result.error.message
    assert "1 step" in result.error.message
    assert result.last_step == "slow"
    assert result.context == {"x": 1}


@pytest.mark.parametrize("stubborn", ["", ", stubborn: true"])
async def test_a_cancelled_handle_ends_and_reports(open_app, stubborn):
    app = await open_app(flow(TWO_STEPS % stubborn))
    sink = QueueSink()
    handle = await app.start("w", sinks=[sink])
    await asyncio.sleep(0.02)
    assert handle.cancel()
    result = await asyncio.wait_for(handle.wait(), 3)
    assert result.status == "cancelled"
    assert [p.step for p in result.path] == ["first"]
    assert result.last_step == "slow"
    events = [event async for event in sink]
    assert events[-1].terminal
    assert sum(event.terminal for event in events) == 1
    assert events[-1].to_dict()["status"] == "cancelled"
    assert app.resources["log"][-2:] == ["finish transaction cancelled", "close transaction"]


async def test_cancelling_before_the_first_step_still_tells_the_end(open_app):
    app = await open_app(flow(TWO_STEPS % ""))
    sink = QueueSink()
    handle = await app.start("w", sinks=[sink])
    handle.cancel()
    result = await handle.wait()
    assert result.status == "cancelled"
    assert [event.type async for event in sink][-1] == "run"


async def test_cancelling_the_caller_of_run_passes_on(open_app):
    app = await open_app(flow(TWO_STEPS % ""))
    sink = QueueSink()
    task = asyncio.ensure_future(app.run("w", sinks=[sink]))
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [event async for event in sink][-1].to_dict()["status"] == "cancelled"


async def test_a_swallowed_cancellation_starts_no_further_step(open_app):
    app = await open_app(
        flow(
            "    - { id: slow, kind: t.Wait, seconds: 0.05, stubborn: true }\n"
            "    - { id: after, kind: t.Set, values: { after: 1 } }\n"
        )
    )
    task = asyncio.ensure_future(app.run("w"))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_tool_limit_holds_and_is_marked_fatal(open_app):
    app = await open_app(
        flow(
            "    - { id: a, kind: t.CallAll, tools: [slow], timeout_s: 0.05 }\n"
            "    - { id: slow, kind: t.Wait, stubborn: true }\n"
        )
    )
    began = time.monotonic()
    result = await app.run("w")
    assert time.monotonic() - began < 20
    [seen] = result.context["seen"]
    assert (seen["timed_out"], seen["type"], seen["signal"]) == (True, "tool_timeout", "error")


async def test_any_exception_of_a_tool_is_a_failed_call(open_app):
    app = await open_app(
        flow(
            "    - { id: a, kind: t.CallAll, tools: [bad, bug] }\n"
            "    - { id: bad, kind: t.Fail, type: no_stock }\n"
            "    - { id: bug, kind: t.Fail, crash: true, text: oops }\n"
        )
    )
    result = await app.run("w")
    assert result.status == "completed"
    bad, bug = result.context["seen"]
    assert (bad["signal"], bad["type"], bad["error"]) == ("error", "no_stock", "it failed")
    assert (bug["signal"], bug["type"]) == ("error", "ZeroDivisionError")
    assert "oops" in bug["error"]
    assert "_last_error" not in result.context


async def test_token_budget_of_the_run_counts_inner_calls(open_app):
    app = await open_app(
        flow(
            "    - { id: a, kind: t.CallAll, tools: [x, x2, x3] }\n"
            "    - { id: x, kind: t.Set }\n    - { id: x2, kind: t.Set }\n    - { id: x3, kind: t.Set }\n",
            "  limits: { token_budget: 20 }\n",
        )
    )
    result = await app.run("w")
    assert result.status == "failed"
    assert result.error is not None
    assert "token_budget" in result.error.message
    assert result.usage["tokens"] == 20


async def test_a_scope_that_vetoes_fails_a_completed_run(open_app):
    app = await open_app(flow("    - { id: a, kind: t.Set }\n"))
    sink = QueueSink()
    result = await app.run("w", {"veto": True}, sinks=[sink])
    assert result.status == "failed"
    assert result.error is not None
    assert result.error.type == "commit_failed"
    assert [event async for event in sink][-1].to_dict()["status"] == "failed"


async def test_work_that_is_cancelled_before_it_began_is_closed():
    async def work() -> None:
        await asyncio.sleep(60)

    async def bounded(bound: Bound) -> None:
        await bound.run(work())

    waiting = asyncio.ensure_future(bounded(Bound(5, "work")))
    await asyncio.sleep(0)  # the task of the work is made and has not begun
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    forced = Bound(5, "work")
    waiting = asyncio.ensure_future(bounded(forced))
    await asyncio.sleep(0)
    forced.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        gc.collect()
    assert [str(item.message) for item in seen if "never awaited" in str(item.message)] == []


async def test_work_begins_at_once_and_in_a_task_of_its_own():
    seen: list[asyncio.Task[None] | None] = []

    async def work() -> str:
        seen.append(asyncio.current_task())
        async with asyncio.timeout(5):  # takes hold of the task that it is entered in
            await asyncio.sleep(0)
        seen.append(asyncio.current_task())
        return "done"

    me = asyncio.current_task()
    assert await Bound(5, "work").run(work()) == "done"
    assert seen[0] is seen[1]
    assert seen[0] is not me
    assert asyncio.current_task() is me


async def test_work_that_never_waits_leaves_nothing_behind():
    async def fails() -> None:
        raise ValueError("at once")

    before = asyncio.all_tasks()
    with pytest.raises(ValueError, match="at once"):
        await Bound(5, "work").run(fails())
    assert asyncio.all_tasks() == before


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_inside_work_is_one(interrupt):
    async def work() -> None:
        raise interrupt

    async def main() -> None:
        await Bound(5, "work").run(work())

    with pytest.raises(interrupt):
        asyncio.run(main())


async def test_a_run_of_steps_that_never_wait_lets_others_run(open_app):
    ring = flow(
        "    - { id: a, kind: Router, condition: '{{ true }}', routes: { 'true': a, 'false': END } }",
        "  limits: { max_steps: 5000 }\n",
    )
    app = await open_app(ring)
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    waiting = asyncio.ensure_future(other())
    await app.run("w")
    waiting.cancel()
    assert turns > 50


BLOCKS = """
import time
from tuvl_kinds_functional import node

@node("blocks")
async def blocks(ctx):
    time.sleep(0.3)
    return {"blocked": True}

@node("after")
async def after(ctx):
    ctx["_run"].app.resources.setdefault("began", []).append(1)
    return {"after": True}
"""


async def blocking_app(root: Path, limits: str = "{}") -> App:
    (root / "nodes").mkdir()
    (root / "nodes" / "n.py").write_text(BLOCKS)
    (root / "w.yaml").write_text(
        f"kind: Workflow\nmetadata: {{ name: w }}\nspec:\n  limits: {limits}\n  steps:\n"
        "    - { id: a, runner: blocks }\n    - { id: b, runner: after }\n    - { id: c, runner: after }\n"
    )
    return App(load_project(root, plugins=Plugins.load(root=root, environ={}), environ={}))


async def test_no_step_begins_after_a_limit_that_passed_while_one_blocked(tmp_path: Path) -> None:
    async with await blocking_app(tmp_path, "{ timeout_s: 0.1 }") as app:
        result = await app.run("w")
        assert (result.status, result.error and result.error.type) == ("failed", "RunLimitError")
        assert "began" not in app.resources
        assert [entry.step for entry in result.path] == ["a"]


async def test_no_step_begins_after_a_cancellation_that_came_while_one_blocked(tmp_path: Path) -> None:
    async with await blocking_app(tmp_path) as app:
        handle = await app.start("w")
        loop = asyncio.get_running_loop()
        timer = threading.Timer(0.1, lambda: loop.call_soon_threadsafe(handle.cancel, "stop"))
        timer.start()
        result = await handle.wait()
        assert result.status == "cancelled"
        assert "began" not in app.resources
