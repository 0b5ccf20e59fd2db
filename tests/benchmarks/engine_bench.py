"""Engine against floors in one process: agent loop, spine, parked runs, many at once."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import project
from floors import FINAL, Job, agent_floor0, agent_floor1, ratio, scripted_replies, spine_floor0, spine_floor1

from tuvl_core import App, Plugins, StepEvent, load_project
from tuvl_models import ChatReply, ChatRequest, ModelFamily, ToolCall, Usage

SECONDS = float(os.environ.get("BENCH_SECONDS", "4"))
PARKED = int(os.environ.get("BENCH_PARKED", "2000"))
MANY = (5, 20, 40)


class Turns:
    """A scripted model, instant: the same prepared turns for every run."""

    tool_calling = "native"

    def __init__(self, turns: int) -> None:
        usage = Usage(prompt_tokens=10, completion_tokens=5, total_tokens=15)
        self.replies = [
            ChatReply(
                content=reply["content"],
                tool_calls=tuple(
                    ToolCall(id=c["id"], name=c["function"]["name"], arguments=c["function"]["arguments"])
                    for c in reply.get("tool_calls", ())
                ),
                finish_reason="tool_calls" if reply.get("tool_calls") else "stop",
                usage=usage,
                model="scripted/turns",
            )
            for reply in scripted_replies(turns)
        ]

    async def complete(self, request: ChatRequest) -> ChatReply:
        return self.replies[(len(request.messages) - 2) // 2]


class JsonSink:
    """Turns every event into its JSON line, as a subscriber on the wire would."""

    def __init__(self, wants_snapshots: bool) -> None:
        self.wants_snapshots = wants_snapshots
        self.lines: list[str] = []

    def emit(self, event: StepEvent) -> None:
        self.lines.append(event.to_json())

    def close(self) -> None:
        self.lines.clear()


def agent_job(app: App, turns: int, *, context: dict[str, Any] | None = None, events: bool = False) -> Job:
    async def job() -> Any:
        sinks: Sequence[JsonSink] = (JsonSink(False),) if events else ()
        result = await app.run(f"agent_{turns}", context, sinks=sinks)
        assert result.result == FINAL, result.error
        return result

    return job


def spine_job(app: App, *, context: dict[str, Any] | None = None, events: bool = False) -> Job:
    async def job() -> Any:
        sinks: Sequence[JsonSink] = (JsonSink(True),) if events else ()
        result = await app.run("spine", {"n": 0, **(context or {})}, sinks=sinks)
        assert result.result == 50, result.error
        return result

    return job


def row(name: str, value: float, goal: float, unit: str = "x") -> None:
    print(json.dumps({"name": name, "value": round(value, 2), "goal": goal, "unit": unit}), flush=True)


async def measure_agent(apps: dict[int, App]) -> None:
    app, floor1 = apps[20], agent_floor1()
    big = project.context_of_10_kb()
    row("agent loop, 20 turns, silent / floor1", await ratio(agent_job(app, 20), floor1, seconds=SECONDS), 1.5)
    row(
        "agent loop, 20 turns, JSON events / floor1",
        await ratio(agent_job(app, 20, events=True), floor1, seconds=SECONDS),
        2.0,
    )
    row(
        "agent loop, 20 turns, 10 KB of context / floor1",
        await ratio(agent_job(app, 20, context=big), floor1, seconds=SECONDS),
        2.0,
    )
    row("agent loop, 20 turns, silent / floor0", await ratio(agent_job(app, 20), agent_floor0(), seconds=SECONDS), 0)
    short = await ratio(agent_job(apps[5], 5), agent_floor1(5), seconds=SECONDS)
    long = await ratio(agent_job(apps[40], 40), agent_floor1(40), seconds=SECONDS)
    row("growth per turn, ratio at 40 turns / ratio at 5 turns", long / short, 1.0)


async def measure_spine(app: App) -> None:
    big = project.context_of_10_kb()
    row("spine, silent / floor0", await ratio(spine_job(app), spine_floor0, seconds=SECONDS), 10)
    floor1 = spine_floor1()
    row("spine, JSON events / floor1", await ratio(spine_job(app, events=True), floor1, seconds=SECONDS), 1.1)
    row(
        "spine, JSON events, 10 KB of masked context / floor1",
        await ratio(spine_job(app, context=big, events=True), floor1, seconds=SECONDS),
        2.0,
    )


def resident_kib() -> int:
    """Resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024


async def measure_parked(app: App) -> None:
    """Memory of runs that all wait inside their tool at the tenth turn; then all of them finish."""
    for _ in range(10):
        await app.run("parked")
    waiting, gate = 0, asyncio.Event()

    async def wait() -> None:
        nonlocal waiting
        waiting += 1
        await gate.wait()

    app.resources["bench.gate"] = wait
    gc.collect()
    before = resident_kib()
    tasks = [asyncio.ensure_future(app.run("parked")) for _ in range(PARKED)]
    while waiting < PARKED:
        await asyncio.sleep(0.05)
    gc.collect()
    row(f"parked agent run, {PARKED} of them", (resident_kib() - before) / PARKED, 20, "KiB")
    gate.set()
    results = await asyncio.gather(*tasks)
    assert all(result.status == "completed" and result.result == FINAL for result in results)


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        project.write(root, turns=MANY)
        apps = {}
        for turns in MANY:
            plugins = Plugins.load(root=root, environ=dict(os.environ))
            loaded = load_project(root, plugins=plugins)
            apps[turns] = App(loaded)
            use_model(loaded, Turns(turns))
        what = sys.argv[1:] or ["agent", "spine", "parked"]
        if "agent" in what:
            await measure_agent(apps)
        if "spine" in what:
            await measure_spine(apps[20])
        if "parked" in what:
            await measure_parked(apps[20])
        for app in apps.values():
            await app.close()


def use_model(loaded: Any, model: Turns) -> None:
    """Let `scripted/turns` be this model in one project."""
    from tuvl_models import add_family

    add_family(loaded, ModelFamily(prefix="scripted", create=lambda settings: model, tool_calling="native"))


if __name__ == "__main__":
    asyncio.run(main())
