"""Run scopes that stand around tool calls, and runs that are done again because others were in the way."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tuvl_core import App, ConflictError, Plugins, RunResult, load_project

PLUGIN = '''
import asyncio

from tuvl_core import Child, ConflictError, Effects, Signals, StepError, StepKind, StepResult, hookimpl

TUVL_API = 1
PLAN = {}


class Boundary:
    def __init__(self, log):
        self.log = log

    def enter(self, call):
        self.log.append(f"enter {call.key}")
        if PLAN.get("enter"):
            raise RuntimeError("cannot begin")
        return call.step.id

    async def leave(self, token, answer):
        end = "cut off" if answer is None else "timed out" if answer.timed_out else answer.error or "kept"
        self.log.append(f"leave {token}: {end}")
        if PLAN.get("leave"):
            raise PLAN["leave"]


class Scope:
    phase = "transaction"

    def __init__(self, log):
        self.log = log
        self.tool_boundary = Boundary(log)

    async def open(self):
        self.log.append("open")
        return {"log": self.log}

    async def finish(self, outcome):
        self.log.append(f"finish {outcome}")
        if outcome == "completed" and PLAN.get("commit"):
            raise PLAN["commit"].pop(0)

    async def close(self):
        self.log.append("close")


class Work(StepKind):
    """Do what the plan says for this step."""
    name = "t.Work"
    transactional = True

    async def run(self, call):
        call.resources["log"].append(f"do {call.step.id} {sorted(call.context)}")
        conflicts = PLAN.get("conflicts", [])
        if conflicts and call.run.repeatable:
            raise conflicts.pop(0)
        if call.step.id in PLAN.get("fail", ()):
            raise StepError("it failed")
        if call.step.id in PLAN.get("hang", ()):
            await asyncio.sleep(60)
        return StepResult(writes={f"{call.step.id}_done": True})


class Outside(Work):
    """The same, but what it does cannot be undone."""
    name = "t.Outside"
    transactional = False


class Caller(StepKind):
    """Call two tools."""
    name = "t.Caller"
    composite = True

    def children(self, step, plan):
        return [Child("one"), Child("two")]

    async def run(self, call):
        seen = []
        for number, ref in enumerate(("one", "two"), 1):
            got = await call.dispatch(ref, {}, name=f"tool#{number}:{ref}", timeout_s=0.05)
            seen.append([got.signal, got.error, got.error_type, sorted(got.delta)])
        return StepResult(writes={"seen": seen})


LOG = []


@hookimpl
def tuvl_step_kinds():
    return [Work, Outside, Caller]


@hookimpl
def tuvl_run_scope(run):
    return Scope(LOG)
'''

TOOLS = """
kind: Workflow
metadata: { name: w }
spec:
  steps:
    - { id: agent, kind: t.Caller }
    - { id: one, kind: t.Work }
    - { id: two, kind: t.Work }
"""

SPINE = """
kind: Workflow
metadata: { name: w }
spec: { steps: [{ id: a, kind: t.Work }, { id: b, kind: KIND, routes: { error: END } }] }
"""


async def played(root: Path, yaml: str, plan: dict[str, Any], **options: Any) -> tuple[RunResult, list[str]]:
    """Run a workflow with its scope and kinds doing what `plan` says; give the result and what was noted."""
    (root / "plugins").mkdir()
    (root / "plugins" / "play.py").write_text(PLUGIN)
    (root / "w.yaml").write_text(yaml)
    plugins = Plugins.load(root=root, environ={})
    module = next(item.module for item in plugins.candidates if item.local)
    module.PLAN.update(plan)
    async with App(load_project(root, plugins=plugins, environ={})) as app:
        result = await app.run("w", {"given": 1}, **options)
    return result, module.LOG


async def test_a_boundary_sees_every_tool_call_begin_and_end(tmp_path: Path) -> None:
    result, log = await played(tmp_path, TOOLS, {"fail": ["two"]})
    assert result.status == "completed"
    assert [line for line in log if not line.startswith("do")] == [
        "open",
        "enter agent#1/tool#1:one",
        "leave one: kept",
        "enter agent#1/tool#2:two",
        "leave two: it failed",
        "finish completed",
        "close",
    ]


async def test_a_tool_that_is_left_behind_is_told_as_such(tmp_path: Path) -> None:
    _, log = await played(tmp_path, TOOLS, {"hang": ["one"]})
    assert "leave one: timed out" in log


@pytest.mark.parametrize("place", ["enter", "leave"])
async def test_what_cannot_be_kept_has_failed(tmp_path: Path, place: str) -> None:
    plan: dict[str, Any] = {"enter": True} if place == "enter" else {"leave": RuntimeError("the savepoint is gone")}
    result, _ = await played(tmp_path, TOOLS, plan)
    if place == "enter":
        assert result.status == "failed"
        assert "cannot begin" in result.error.message  # type: ignore[union-attr]
    else:
        assert result.context["seen"] == [["error", "the savepoint is gone", "RuntimeError", []]] * 2


async def test_a_run_that_met_a_conflict_is_done_again_from_its_start(tmp_path: Path) -> None:
    plan = {"conflicts": [ConflictError("in the way", type="deadlock")]}
    result, log = await played(tmp_path, SPINE.replace("KIND", "t.Work"), plan)
    assert result.status == "completed"
    assert log.count("open") == log.count("close") == 2
    assert "finish failed" in log
    assert [entry.step for entry in result.path] == ["a", "b"]
    assert [line for line in log if line.startswith("do a")] == ["do a ['_run_id', 'given']"] * 2


async def test_a_conflict_of_the_commit_repeats_the_run_too(tmp_path: Path) -> None:
    plan = {"commit": [ConflictError("cannot be serialized", type="serialization_failure")]}
    result, log = await played(tmp_path, SPINE.replace("KIND", "t.Work"), plan)
    assert result.status == "completed"
    assert log.count("finish completed") == 2


async def test_a_run_is_done_a_few_times_at_most(tmp_path: Path) -> None:
    plan = {"commit": [ConflictError("again", type="serialization_failure") for _ in range(9)]}
    result, log = await played(tmp_path, SPINE.replace("KIND", "t.Work"), plan)
    assert (result.status, result.error.type) == ("failed", "serialization_failure")  # type: ignore[union-attr]
    assert log.count("open") == 4


class Watch:
    """An effect handler that only looks."""

    async def handle(self, effect: Any, proceed: Any) -> Any:
        return await proceed()


@pytest.mark.parametrize(("kind", "handlers"), [("t.Outside", ()), ("t.Work", (Watch(),))])
async def test_a_run_whose_doings_were_seen_outside_is_never_repeated(
    tmp_path: Path, kind: str, handlers: Sequence[Any]
) -> None:
    plan = {"commit": [ConflictError("cannot be serialized", type="serialization_failure")]}
    result, log = await played(tmp_path, SPINE.replace("KIND", kind), plan, handlers=handlers)
    assert (result.status, result.error.type) == ("failed", "serialization_failure")  # type: ignore[union-attr]
    assert log.count("open") == 1
