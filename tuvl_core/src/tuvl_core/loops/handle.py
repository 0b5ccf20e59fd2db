"""One running loop, as others see it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from tuvl_core.events import timestamp
from tuvl_core.loops.control import LoopControl
from tuvl_core.loops.directives import Directive, Directives
from tuvl_core.telemetry import counter, log_event

if TYPE_CHECKING:
    from tuvl_core.identity import Principal
    from tuvl_core.kinds import PlanView, StepView, UsageMeter
    from tuvl_core.loops.registry import LoopRegistry

__all__ = ["LoopHandle", "LoopScope"]

LoopStatus = Literal["running", "paused", "ended"]
_log = logging.getLogger("tuvl.loops")
INTERVENTIONS: Final = counter("tuvl.agent", "tuvl.agent.interventions")


class PauseClock(Protocol):
    """A time limit that stops while a loop inside it is paused."""

    def suspend(self) -> None:
        """Stop the clock."""
        ...

    def resume(self) -> None:
        """Let it go on; the time in between does not count."""
        ...


class LoopScope(Protocol):
    """Lives as long as one loop; a supervisor is one.

    A scope that also has a method `advanced(what, fields)` is told of each thing that the loop does, at the
    moment it does it: an agent tells `iteration` and `tool_call` with the fields of its progress events. It
    must return at once.
    """

    def open(self) -> None:
        """The loop has begun. Must return at once; start a task for what waits."""
        ...

    def close(self) -> None:
        """The loop is over. Must return at once."""
        ...


class LoopHandle:
    """One running loop, as others see it.

    Attributes:
        id: Unique, and fit for a URL's path: the run's id, a dot, and the loop's number within the run.
        run_id: The run it belongs to.
        workflow: Name of the workflow.
        step_id: The step that loops.
        parent: Id of the loop whose tool this one is, or None.
        tenant: Whose run it is; operators of other tenants never see it.
        key: The position of its step in the run, such as `work#1`.
        visit: How many times the run has been at that step, from 1.
        metadata: Counters the loop keeps current (iteration, tokens, calls per tool): numbers and
            declared names only, no context values.
        failure: Why the tool call that an event is just telling of failed, in one line without secrets; None
            otherwise. It is for who watches in this process: it may hold values, so nothing sends it on.
    """

    __slots__ = (
        "_call",
        "_clocks",
        "_control",
        "_registry",
        "_scopes",
        "_status_sink",
        "_task",
        "_watching",
        "failure",
        "id",
        "key",
        "max_pause_s",
        "metadata",
        "parent",
        "run_id",
        "started",
        "status",
        "step_id",
        "tenant",
        "visit",
        "workflow",
    )

    def __init__(
        self,
        *,
        id: str,
        run_id: str,
        workflow: str,
        step_id: str,
        parent: str | None,
        tenant: str | None,
        max_pause_s: float,
        metadata: dict[str, Any],
        call: Any = None,
    ) -> None:
        self.id = id
        self.run_id = run_id
        self.workflow = workflow
        self.step_id = step_id
        self.parent = parent
        self.tenant = tenant
        self.max_pause_s = max_pause_s
        self.metadata = metadata
        self.key: str = call.key if call is not None else step_id
        self.visit: int = call.visit if call is not None else 1
        self.failure: str | None = None
        self.started = time.time()
        self.status: LoopStatus = "running"
        self._control: LoopControl | None = None
        self._registry: LoopRegistry | None = None
        self._scopes: list[LoopScope] = []
        self._clocks: Iterable[PauseClock] = ()
        self._status_sink: Callable[[bool], None] | None = None
        self._call = call
        self._task: asyncio.Task[Any] | None = None
        self._watching: tuple[Callable[[str, Mapping[str, Any]], None], ...] = ()

    # --- what supervisors see ---------------------------------------------------------------

    @property
    def plan(self) -> PlanView:
        """The workflow it belongs to."""
        plan: PlanView = self._call.run.plan
        return plan

    @property
    def step(self) -> StepView:
        """The step that loops."""
        step: StepView = self._call.step
        return step

    @property
    def principal(self) -> Principal:
        """Who the run acts for."""
        principal: Principal = self._call.principal
        return principal

    @property
    def usage(self) -> UsageMeter:
        """The run's meter: what a supervisor consumes counts there, and not against the loop's own budget."""
        meter: UsageMeter = self._call.run.meter
        return meter

    def effect(self, name: str, fn: Callable[..., Awaitable[Any]], *args: Any, kind: Any = "effect") -> Awaitable[Any]:
        """Do something to the world beside the loop, through the effect door.

        Its key is `supervisor/<key of the step>/<name>`: a space of its own, for it comes in no fixed order with
        what the loop does.
        """
        effect: Awaitable[Any] = self._call.effect_beside(name, fn, *args, kind=kind)
        return effect

    def progress(self, type: str, fields: Mapping[str, Any]) -> None:
        """Tell the run's subscribers something about the loop: numbers and declared names only."""
        self._call.progress(type, fields)

    @property
    def touched(self) -> bool:
        """Whether anybody has asked for the control of this loop."""
        return self._control is not None

    @property
    def ended(self) -> bool:
        """Whether the loop is over."""
        return self.status == "ended"

    @property
    def control(self) -> LoopControl:
        """The supervisor's side; created when first asked for."""
        if self._control is None:
            self._control = LoopControl(self)
        return self._control

    @property
    def abort_requested(self) -> bool:
        """Whether an abort waits to be obeyed: looked at between two calls of a turn."""
        return self._control is not None and self._control.aborted is not None

    async def checkpoint(self) -> Directives:
        """Obey what supervisors asked; call it at the top of a turn when `touched`."""
        return await self.control.checkpoint(self.max_pause_s)

    @property
    def watched(self) -> bool:
        """Whether anybody is to be told what the loop does."""
        return bool(self._watching)

    def advanced(self, what: str, fields: Mapping[str, Any]) -> None:
        """Tell whoever watches that the loop has done something; for the loop itself, when `watched`.

        Args:
            what: `iteration` or `tool_call`.
            fields: Numbers and declared names.
        """
        for tell in self._watching:
            try:
                tell(what, fields)
            except Exception:
                _log.warning("a supervisor of loop %s failed", self.id, exc_info=True)

    def take_forced(self) -> bool:
        """Whether a cancellation that has just arrived is a forced abort and nothing else; for the loop itself.

        It is then taken back, and the loop ends on its exit `aborted`.
        """
        if self._control is None or not self._control.forced or self._task is None:
            return False
        return asyncio.current_task() is self._task and self._task.uncancel() == 0

    def snapshot(self) -> dict[str, Any]:
        """The loop as JSON-ready metadata."""
        return {
            "id": self.id,
            "run_id": self.run_id,
            "workflow": self.workflow,
            "step_id": self.step_id,
            "visit": self.visit,
            "key": self.key,
            "parent": self.parent,
            "status": self.status,
            "started": timestamp(self.started),
            **self.metadata,
        }

    def close(self) -> tuple[str, ...]:
        """End the loop: leave the registry, close its scopes.

        Returns:
            Guidance that came too late; it is logged, never kept for another loop.
        """
        if self.ended:
            return ()
        self.status = "ended"
        if self._registry is not None:
            self._registry.remove(self)
        for scope in self._scopes:
            try:
                scope.close()
            except Exception:
                _log.warning("closing a supervisor of loop %s failed", self.id, exc_info=True)
        late = self._control.undelivered() if self._control is not None else ()
        if late:
            fields = {"loop": self.id, "step_id": self.step_id, "messages": len(late)}
            log_event(_log, logging.WARNING, "loop.steer_too_late", fields)
        return late

    def attach(
        self,
        *,
        registry: LoopRegistry,
        clocks: Iterable[PauseClock] = (),
        scopes: Iterable[LoopScope] = (),
        on_pause: Callable[[bool], None] | None = None,
    ) -> None:
        """Enter the registry and start the loop's scopes; the engine does this."""
        self._registry = registry
        self._clocks = tuple(clocks)
        self._status_sink = on_pause
        registry.add(self)
        self._task = asyncio.current_task()
        for scope in scopes:
            scope.open()
            self._scopes.append(scope)
            advanced = getattr(scope, "advanced", None)
            if advanced is not None:
                self._watching += (advanced,)

    def _cancel_in_flight(self) -> None:
        # Asked from within the loop's own task, nothing is in flight: it looks before it goes on.
        if self._task is not None and not self.ended and self._task is not asyncio.current_task():
            self._task.cancel("aborted by force")

    def _told(self, directive: Directive) -> None:
        """Say that a directive took effect. Free text stays out of events: it may hold anything."""
        labels: dict[str, str] = {"action": directive.action, "source": directive.source}
        INTERVENTIONS.add(1, {f"tuvl.supervisor.{key}": text for key, text in labels.items()})
        fields = {"loop": self.id, "step_id": self.step_id, **labels, "by": directive.name}
        log_event(_log, logging.WARNING, "loop.directive", fields)
        if directive.source != "operator" and directive.name is not None:
            labels["rule"] = directive.name
        if self._call is not None:
            try:
                self._call.progress("supervisor", labels)
            except Exception:
                _log.warning("progress of loop %s failed", self.id, exc_info=True)

    def _enter_pause(self) -> None:
        self.status = "paused"
        for clock in self._clocks:
            clock.suspend()
        if self._status_sink is not None:
            self._status_sink(True)

    def _leave_pause(self) -> None:
        if not self.ended:
            self.status = "running"
        for clock in self._clocks:
            clock.resume()
        if self._status_sink is not None:
            self._status_sink(False)
