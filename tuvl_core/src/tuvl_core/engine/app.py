"""The process-wide runtime: plans, resources and running runs of one project."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tuvl_core.engine.handle import RunHandle
from tuvl_core.engine.inputs import authorize, initial_context
from tuvl_core.engine.lifecycle import execute
from tuvl_core.events import ProgressSink, QueueSink, StepEvent
from tuvl_core.identity import Principal
from tuvl_core.kinds import StepKind
from tuvl_core.loops import LoopHandle, LoopRegistry
from tuvl_core.plan import Plan, compile_workflow
from tuvl_core.runs import Run, RunResult, RunScope, new_run_id
from tuvl_core.telemetry import log_event, metrics_active, tracing_active

if TYPE_CHECKING:
    from tuvl_core.contributions import Peers
    from tuvl_core.effects import EffectHandler
    from tuvl_core.engine.call import Call
    from tuvl_core.plugins import Plugins
    from tuvl_core.project import Project
    from tuvl_core.settings import Settings

__all__ = ["App", "RunHandle"]


_PER_RUN: Final = ("tuvl_progress_sinks", "tuvl_effect_handlers", "tuvl_run_scope")
"""Hooks that are called for each run."""


class App:
    """One project, open for running. Use it as an async context manager.

        async with App(load_project(root, plugins=Plugins.load())) as app:
            result = await app.run("refund_desk", {"ticket": "…"})

    Attributes:
        project: The loaded project.
        resources: What kinds opened for the process, by name.
        loops: Loops that run right now.
        peers: The other workers, where a plugin reaches them.
        log: Where the engine logs.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.resources: dict[str, Any] = {}
        self.loops = LoopRegistry()
        self.peers: Peers | None = None
        self.log = logging.getLogger("tuvl.engine")
        self._plans: dict[str, Plan] = {}
        self._opened: set[type] = set()
        self._ready: set[str] = set()
        self._closers: list[Callable[[], Awaitable[None]]] = []
        self._handles: set[RunHandle] = set()
        self._lock: asyncio.Lock | None = None
        self._contributing = any(map(project.plugins.implements, _PER_RUN))

    @property
    def settings(self) -> Settings:
        """The project's settings."""
        return self.project.settings

    @property
    def plugins(self) -> Plugins:
        """The loaded plugins."""
        return self.project.plugins

    async def __aenter__(self) -> App:
        for _, scope in self.plugins.call("tuvl_app_scope", app=self):
            if scope is None:
                continue
            self.resources.update(await scope.open() or {})
            self.on_close(scope.close)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Cancel what still runs, then close every resource, last opened first."""
        for handle in list(self._handles):
            handle.cancel("the process is shutting down")
        if self._handles:
            await asyncio.gather(*(h.wait() for h in list(self._handles)), return_exceptions=True)
        while self._closers:
            closer = self._closers.pop()
            try:
                await closer()
            except Exception:
                log_event(self.log, logging.WARNING, "app.close_failed", {}, exc_info=True)

    def on_close(self, close: Callable[[], Awaitable[None]]) -> None:
        """Have `close` awaited when the app closes, in reverse order."""
        self._closers.append(close)

    def plan(self, workflow: str) -> Plan:
        """The compiled workflow; compiled on first use.

        Raises:
            UnknownWorkflowError: The project has no such workflow.
            ProjectError: Structure errors stand in the way.
        """
        plan = self._plans.get(workflow)
        if plan is None:
            plan = self._plans[workflow] = compile_workflow(self.project, workflow)
        return plan

    async def run(
        self,
        workflow: str,
        input: Mapping[str, Any] | None = None,
        *,
        principal: Principal | None = None,
        sinks: Sequence[ProgressSink] = (),
        handlers: Sequence[EffectHandler] = (),
        run_id: str | None = None,
    ) -> RunResult:
        """Run a workflow to its end, in the caller's task.

        Args:
            workflow: Its name.
            input: The initial context.
            principal: Who it runs for; None: the local user with all scopes.
            sinks: Receive its events.
            handlers: Stand around its effects, before those that plugins bring.
            run_id: An id to use instead of a new one.

        Returns:
            How it ended; a failing run is a result too.

        Raises:
            UnknownWorkflowError: The project has no such workflow.
            ProjectError: Structure errors stand in the way.
            InputError: The input does not fit.
            DeniedError: The principal may not run it.
            asyncio.CancelledError: The caller was cancelled; the run is then `cancelled`.
        """
        run, scopes = await self._begin(workflow, input, principal, sinks, handlers, run_id)
        return await execute(run, scopes)

    async def start(
        self,
        workflow: str,
        input: Mapping[str, Any] | None = None,
        *,
        principal: Principal | None = None,
        sinks: Sequence[ProgressSink] = (),
        handlers: Sequence[EffectHandler] = (),
        run_id: str | None = None,
    ) -> RunHandle:
        """Start a workflow in a task of its own; arguments and errors as for `run`."""
        run, scopes = await self._begin(workflow, input, principal, sinks, handlers, run_id)
        handle = RunHandle(run, scopes)
        self._handles.add(handle)
        handle.task.add_done_callback(lambda _: self._handles.discard(handle))
        return handle

    async def stream(
        self,
        workflow: str,
        input: Mapping[str, Any] | None = None,
        *,
        principal: Principal | None = None,
        handlers: Sequence[EffectHandler] = (),
        queue_size: int = 1000,
    ) -> AsyncIterator[StepEvent]:
        """Run a workflow and yield its events; the last one has type `run`.

        Leaving the iteration early cancels the run: it never goes on unseen.
        """
        sink = QueueSink(queue_size)
        handle = await self.start(workflow, input, principal=principal, sinks=(sink,), handlers=handlers)
        try:
            async for event in sink:
                yield event
        finally:
            handle.cancel("the reader went away")
            await handle.wait()

    def check_start(self, workflow: str, input: Mapping[str, Any] | None, principal: Principal) -> None:
        """Raise what `start` would raise before anything begins."""
        plan = self.plan(workflow)
        authorize(plan, principal)
        initial_context(plan, input)

    def running(self, run_id: str, tenant: str | None) -> RunHandle | None:
        """The run of that id that `start` has begun and that goes on, if `tenant` may see it."""
        for handle in self._handles:
            if handle.run_id == run_id and handle.run.principal.tenant == tenant:
                return handle
        return None

    def open_loop(self, call: Call, metadata: dict[str, Any]) -> LoopHandle:
        """Register a loop inside a step; kinds reach this through `call.open_loop`."""
        run = call.run
        outer = call.parent
        while outer is not None and outer.loop is None:
            outer = outer.parent
        run.loops += 1
        handle = LoopHandle(
            id=f"{run.id}.{run.loops}",
            run_id=run.id,
            workflow=run.workflow,
            step_id=call.step.id,
            parent=outer.loop.id if outer is not None and outer.loop is not None else None,
            tenant=run.principal.tenant,
            max_pause_s=self.settings["agent.pause_max_s"],
            metadata=metadata,
            call=call,
        )
        call.loop = handle
        scopes = [scope for _, scope in self.plugins.call("tuvl_loop_scope", loop=handle) if scope]
        handle.attach(
            registry=self.loops,
            clocks=call.clocks(),
            scopes=scopes,
            on_pause=lambda paused: _mark_paused(run, paused),
        )
        return handle

    async def _begin(
        self,
        workflow: str,
        input: Mapping[str, Any] | None,
        principal: Principal | None,
        sinks: Sequence[ProgressSink],
        handlers: Sequence[EffectHandler],
        run_id: str | None,
    ) -> tuple[Run, list[RunScope]]:
        plan = self.plan(workflow)
        principal = principal or Principal.local()
        authorize(plan, principal)
        context = initial_context(plan, input)
        if workflow not in self._ready:
            plan = await self._make_ready(plan)
        run = Run(
            app=self,
            id=run_id or new_run_id(),
            plan=plan,
            principal=principal,
            context=context,
            sinks=sinks,
            handlers=handlers,
            traced=tracing_active(),
            measured=metrics_active(),
        )
        context["_run_id"] = run.id
        run.resources.update(self.resources)
        return run, self._contributions(run)

    def _contributions(self, run: Run) -> list[RunScope]:
        """Let plugins add sinks, handlers and scopes to a run that is about to start."""
        if not self._contributing:
            return []
        call = self.plugins.call
        sinks = [s for _, found in call("tuvl_progress_sinks", run=run) for s in found or ()]
        handlers = [h for _, found in call("tuvl_effect_handlers", run=run) for h in found or ()]
        if sinks:
            run.add_sinks(sinks)
        if handlers:
            run.handlers = (*run.handlers, *handlers)
        return [scope for _, scope in call("tuvl_run_scope", run=run) if scope is not None]

    async def _make_ready(self, plan: Plan) -> Plan:
        """Open what a plan's kinds need, once; where they learn something, compile the plan anew."""
        if self._lock is None:
            self._lock = asyncio.Lock()
        async with self._lock:
            if plan.workflow in self._ready:
                return self.plan(plan.workflow)
            for step in plan.steps.values():
                if type(step.kind) not in self._opened:
                    await step.kind.open_resources(self)
                    self._opened.add(type(step.kind))  # not before: whoever asked may be cut off, or it may fail
            if await self._discover(plan):
                self._plans[plan.workflow] = plan = compile_workflow(self.project, plan.workflow)
            self._ready.add(plan.workflow)
        return plan

    async def _discover(self, plan: Plan) -> bool:
        """Let kinds ask outside, all at the same time; what fails is logged and stays unknown."""
        asked = [step for step in plan.steps.values() if type(step.kind).discover is not StepKind.discover]
        if not asked:
            return False
        answers = await asyncio.gather(
            *(step.kind.discover(step, plan, self) for step in asked), return_exceptions=True
        )
        for step, answer in zip(asked, answers, strict=True):
            if isinstance(answer, BaseException):
                fields = {"workflow": plan.workflow, "step_id": step.id, "error": f"{type(answer).__name__}: {answer}"}
                log_event(self.log, logging.WARNING, "step.discover_failed", fields)
        return any(answer is True for answer in answers)


def _mark_paused(run: Run, paused: bool) -> None:
    if run.status in ("running", "paused"):
        run.status = "paused" if paused else "running"
