"""A project whose steps count, wait and loop, for workers that find each other through a Redis.

As a program it is one worker: `python redis_project.py FOLDER WORKFLOW` starts a run, prints its id and goes on.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tuvl_core import App, Gate, Plugins, Principal, RunService, load_project

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


class Count(StepKind):
    """Tell numbers, as many as the input says, a few at a time."""
    name = "t.Count"
    progress_channel = "agent_progress"

    async def run(self, call):
        most, pause = call.context["n"], call.context.get("pause", 0)
        for number in range(most):
            call.progress("iteration", {"iteration": number})
            if number % 10 == 0:
                await asyncio.sleep(pause)
        return StepResult(writes={"counted": most})


class Loop(StepKind):
    """Turn until it is aborted, and remember the guidance."""
    name = "t.Loop"
    progress_channel = "agent_progress"

    async def run(self, call):
        heard = []
        loop = call.open_loop(iteration=0)
        try:
            while True:
                loop.metadata["iteration"] += 1
                if loop.touched:
                    found = await loop.checkpoint()
                    heard += found.steer
                    if found.aborted is not None:
                        return StepResult(writes={"why": found.aborted, "heard": heard})
                await asyncio.sleep(0.005)
        finally:
            loop.close()


@hookimpl
def tuvl_step_kinds():
    return [Wait, Count, Loop]
'''
WORKFLOWS = """
kind: Workflow
metadata: { name: wait }
spec: { output: waited, steps: [{ id: w, kind: t.Wait }] }
---
kind: Workflow
metadata: { name: count }
spec: { output: counted, steps: [{ id: c, kind: t.Count }] }
---
kind: Workflow
metadata: { name: turns }
spec: { output: heard, steps: [{ id: l, kind: t.Loop }] }
"""
ANN = Principal(subject="ann", tenant="acme")


def write(folder: Path, settings: str) -> Path:
    (folder / "plugins").mkdir(parents=True, exist_ok=True)
    (folder / "plugins" / "kinds.py").write_text(KINDS)
    (folder / "w.yaml").write_text(WORKFLOWS)
    (folder / "tuvl.toml").write_text(settings)
    return folder


def open_app(folder: Path) -> App:
    return App(load_project(folder, plugins=Plugins.load(root=folder, environ={}), environ={}))


async def main(folder: str, workflow: str) -> None:
    async with open_app(Path(folder)) as app:
        service = RunService(app, gate=Gate(app, dev=True))
        live = await service.start(workflow, {"n": 5}, principal=ANN, detach=True)
        print(live.run_id, flush=True)
        result = await live.wait()
        print(result.status, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
