"""A project with one agent, or one in another, under a supervisor."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from agent_stage import Actor, Scene, agent, node, open_app, turn, write_project

from tuvl_core import App, LoopHandle


def supervised(text: str) -> str:
    """The head of a workflow with a supervisor."""
    lines = "".join(f"    {line}\n" for line in text.strip("\n").split("\n"))
    return f"  supervisor:\n{lines}"


def verdict(passed: bool, reason: str = "because", tokens: int | None = 7) -> Any:
    """What a judge says."""
    return turn(content=f'{{"passed": {str(passed).lower()}, "reason": "{reason}"}}', tokens=tokens)


def inner(*tools: str, id: str = "inner", model: str = "inner", more: str = "") -> str:
    """An agent that serves as a tool."""
    text = agent(*tools, id=id, model=model, more=more, enum="[]", routes="{}")
    return text.replace("kind: AutonomousAgent", "kind: AutonomousAgent\n  description: Helps.")


async def until(true: Callable[[], Any], what: str = "it") -> None:
    """Wait for something that is bound to come about."""
    for _ in range(2000):
        if true():
            return
        await asyncio.sleep(0.005)
    raise AssertionError(f"{what} did not come about")


def loop_of(scene: Scene, step_id: str = "work") -> LoopHandle:
    """The handle of a step's loop."""
    return next(loop for loop in scene.app.loops if loop.step_id == step_id)


STEPS = agent("ping", "wait", more="max_iterations: 6") + node("ping") + node("wait")


@pytest.fixture
async def play(tmp_path: Path) -> AsyncIterator[Callable[..., Any]]:
    """`play(supervisor, actor=Actor(…), judge=Actor(…))`: a scene whose tool `wait` holds until it is let go."""
    apps: list[App] = []

    async def put(
        supervisor: str | None, *, steps: str = STEPS, head: str = "", environ: Any = None, **models: Actor
    ) -> Scene:
        write_project(tmp_path, steps, (supervised(supervisor) if supervisor else "") + head, tuple(models))
        app = open_app(tmp_path, environ or {}, **models)
        apps.append(await app.__aenter__())
        scene = Scene(app)
        scene.inside, scene.go = asyncio.Event(), asyncio.Event()

        async def gate(id: str) -> None:
            scene.inside.set()
            await scene.go.wait()

        app.resources["gate"] = gate
        return scene

    yield put
    for app in apps:
        await app.close()
    left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task() and "judge" in task.get_name()]
    assert left == []
