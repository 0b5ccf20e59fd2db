"""What telemetry costs: a run that nobody traces beside floors, and a traced one beside that."""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path
from typing import Any

import project
from engine_bench import SECONDS, Turns, agent_job, row, spine_job, use_model
from floors import Job, agent_floor1, ratio

from tuvl_core import App, Plugins, load_project


async def main() -> None:
    """Measure before the SDK is imported, and after it."""
    with tempfile.TemporaryDirectory() as folder:
        project.write(Path(folder), turns=(20,))
        loaded = load_project(folder, plugins=Plugins.load(root=Path(folder), environ=dict(os.environ)))
        use_model(loaded, Turns(20))
        async with App(loaded) as app:
            await measure(agent_job(app, 20), spine_job(app))


async def measure(agent: Job, spine: Job) -> None:
    before = await ratio(agent, agent_floor1(), seconds=SECONDS)
    from opentelemetry import metrics, trace
    from opentelemetry.sdk.trace import TracerProvider

    # The API is there, as it is once the SDK of MCP is imported, and nobody has installed a provider.
    assert metrics.get_meter_provider() is not None
    after = await ratio(agent, agent_floor1(), seconds=SECONDS)
    row("agent loop, 20 turns, API imported / not imported", after / before, 1.1)
    provider = TracerProvider(shutdown_on_exit=False)
    none = trace.get_tracer_provider

    def traced(job: Job) -> Job:
        async def do() -> Any:
            trace.get_tracer_provider = lambda: provider
            try:
                return await job()
            finally:
                trace.get_tracer_provider = none

        return do

    row("agent loop, 20 turns, traced / untraced", await ratio(traced(agent), agent, seconds=SECONDS), 0)
    row("spine, traced / untraced", await ratio(traced(spine), spine, seconds=SECONDS), 0)


if __name__ == "__main__":
    asyncio.run(main())
