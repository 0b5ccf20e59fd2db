"""Runs small projects whose kinds live in a project-local plugin."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from textwrap import dedent

import pytest

from tuvl_core import App, Plugins, load_project

KINDS = '''
"""Kinds that exercise the engine."""
import asyncio

import attrs

from tuvl_core import Child, Signals, StepError, StepKind, StepResult, Template, hookimpl

TUVL_API = 1


@attrs.frozen(kw_only=True)
class SetConfig:
    values: dict = attrs.field(factory=dict)
    signal: str = "default"
    delete: list[str] = attrs.field(factory=list)


class Set(StepKind):
    """Write values and leave by a signal."""
    name = "t.Set"
    Config = SetConfig

    async def run(self, call):
        config = call.step.config
        return StepResult(config.signal, dict(config.values), tuple(config.delete))


@attrs.frozen(kw_only=True)
class FailConfig:
    text: str = "it failed"
    type: str = "error"
    crash: bool = False


class Fail(StepKind):
    """Raise."""
    name = "t.Fail"
    Config = FailConfig

    async def run(self, call):
        config = call.step.config
        if config.crash:
            raise ZeroDivisionError(config.text)
        raise StepError(config.text, type=config.type, writes={"kept": True})


@attrs.frozen(kw_only=True)
class WaitConfig:
    seconds: float = 60.0
    stubborn: bool = False


class Wait(StepKind):
    """Sleep; a stubborn one catches its cancellation and goes on."""
    name = "t.Wait"
    Config = WaitConfig

    async def run(self, call):
        config = call.step.config
        try:
            await asyncio.sleep(config.seconds)
        except asyncio.CancelledError:
            call.resources["log"].append(f"{call.step.id} cancelled")
            if not config.stubborn:
                raise
            await asyncio.sleep(config.seconds)
        return StepResult(writes={"waited": True})


@attrs.frozen(kw_only=True)
class EchoConfig:
    text: Template[str] = Template.of("")


class Echo(StepKind):
    """Render a template."""
    name = "t.Echo"
    Config = EchoConfig
    output_key = "echo"

    async def run(self, call):
        return StepResult(writes={"echo": call.render(call.step.config.text)})


class Mutate(StepKind):
    """Change what it read, in place, and one key by hand."""
    name = "t.Mutate"

    async def run(self, call):
        call.context["order"]["items"].append("smuggled")
        call.context["mine"] = 1
        writes, deletes = call.context.changes()
        return StepResult(writes=writes, deletes=deletes)


@attrs.frozen(kw_only=True)
class CallAllConfig:
    tools: list[str]
    arguments: dict = attrs.field(factory=dict)
    timeout_s: float | None = None
    keep: bool = False


class CallAll(StepKind):
    """Call every tool in order and report what came of it."""
    name = "t.CallAll"
    Config = CallAllConfig
    composite = True
    progress_channel = "calls"

    def children(self, step, plan):
        return [Child(ref) for ref in step.config.tools]

    async def run(self, call):
        config = call.step.config
        seen = []
        for number, ref in enumerate(config.tools, 1):
            call.check_limits()
            got = await call.dispatch(
                ref, config.arguments, name=f"tool#{number}:{ref}", timeout_s=config.timeout_s
            )
            seen.append({"ref": ref, "signal": got.signal, "delta": dict(got.delta),
                         "output": got.output, "error": got.error, "type": got.error_type,
                         "timed_out": got.timed_out})
            if config.keep:
                call.context.apply(got.delta, got.deletes)
            call.usage.add(tokens=10, llm_calls=1)
            call.progress("called", {"tool": ref})
        writes, deletes = call.context.changes()
        return StepResult(writes={**writes, "seen": seen}, deletes=deletes)


@attrs.frozen(kw_only=True)
class LoopConfig:
    turns: int = 3
    seconds: float = 0.02
    tool: str = ""


class Loop(StepKind):
    """Take turns, obeying directives at the top of each."""
    name = "t.Loop"
    Config = LoopConfig
    composite = True

    def children(self, step, plan):
        return [Child(step.config.tool)] if step.config.tool else []

    async def run(self, call):
        config = call.step.config
        loop = call.open_loop(iteration=0)
        steered = []
        try:
            for turn in range(1, config.turns + 1):
                loop.metadata["iteration"] = turn
                if loop.touched:
                    directives = await loop.checkpoint()
                    steered += directives.steer
                    if directives.aborted is not None:
                        return StepResult("aborted", {"steered": steered}, error=directives.aborted,
                                          error_type=directives.abort_type)
                if config.tool:
                    got = await call.dispatch(config.tool, {}, name=f"tool#{turn}", timeout_s=0.1)
                    steered.append(got.signal)
                await asyncio.sleep(config.seconds)
            return StepResult(writes={"steered": steered})
        finally:
            loop.close()


class Wrong(StepKind):
    """Return what is no result."""
    name = "t.Wrong"

    async def run(self, call):
        return {"n": 1}


class Opened(StepKind):
    """Use something that lives as long as the process."""
    name = "t.Opened"

    async def open_resources(self, app):
        app.resources.setdefault("opened", []).append("opened")

        async def close():
            app.resources["opened"].append("closed")

        app.on_close(close)

    async def run(self, call):
        return StepResult(writes={"opened": list(call.resources["opened"])})


class Scope:
    """A run scope that notes what happens to it."""
    def __init__(self, log, phase, veto=False):
        self.log, self.phase, self.veto = log, phase, veto

    async def open(self):
        self.log.append(f"open {self.phase}")
        return {"log": self.log, self.phase: self}

    async def finish(self, outcome):
        self.log.append(f"finish {self.phase} {outcome}")
        if self.veto:
            raise RuntimeError("disk full")

    async def close(self):
        self.log.append(f"close {self.phase}")


@hookimpl
def tuvl_step_kinds():
    return [Set, Fail, Wait, Echo, Mutate, CallAll, Loop, Wrong, Opened]


@hookimpl
def tuvl_run_scope(run):
    log = run.app.resources.setdefault("log", [])
    return Scope(log, "transaction", veto=bool(run.context.get("veto")))
'''

Open = Callable[[str], Awaitable[App]]


@pytest.fixture
async def open_app(tmp_path: Path) -> AsyncIterator[Open]:
    """Write workflows, open the project; give `open_app(yaml) -> App`."""
    apps: list[App] = []

    async def open_it(yaml: str) -> App:
        (tmp_path / "plugins").mkdir(exist_ok=True)
        (tmp_path / "plugins" / "kinds.py").write_text(KINDS)
        (tmp_path / "workflows.yaml").write_text(dedent(yaml))
        plugins = Plugins.load(root=tmp_path, environ={})
        app = App(load_project(tmp_path, plugins=plugins, environ={}))
        apps.append(app)
        return await app.__aenter__()

    yield open_it
    for app in apps:
        await app.close()
