"""The engine's `StepCall`: what a kind runs against."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tuvl_core.codec import wire_dumps
from tuvl_core.context import Names, Overlay
from tuvl_core.effects import Effect, through_door
from tuvl_core.engine.render import render
from tuvl_core.engine.stepping import dispatch
from tuvl_core.errors import RunLimitError, StepError
from tuvl_core.events import RUNNING
from tuvl_core.kinds import Dispatch, UsageMeter
from tuvl_core.loops import LoopHandle
from tuvl_core.runs import Meter, Run
from tuvl_core.telemetry import NULL_SPAN, span

if TYPE_CHECKING:
    from tuvl_core.engine.bound import Bound
    from tuvl_core.identity import Principal
    from tuvl_core.plan import PlanStep

__all__ = ["Call"]

_log = logging.getLogger("tuvl.step")


class Call:
    """One execution of one step, on the spine or as a tool."""

    # What most calls never need stands on the class, so that making a call costs four assignments.
    arguments: Mapping[str, Any] | None = None
    parent: Call | None = None
    bounds: tuple[Bound, ...] = ()
    loop: LoopHandle | None = None
    _segment: str | None = None
    _key: str | None = None
    _meter: Meter | None = None
    _names: Names | None = None

    def __init__(self, run: Run, step: PlanStep, visit: int, context: Any) -> None:
        self.run = run
        self.step = step
        self.visit = visit
        self.context = context

    # --- what is known ----------------------------------------------------------------------

    @property
    def key(self) -> str:
        """The position in the run."""
        if self._key is None:
            if self.parent is None:
                self._key = f"{self.step.id}#{self.visit}"
            else:
                self._key = f"{self.parent.key}/{self._segment}"
        return self._key

    @property
    def principal(self) -> Principal:
        """Who the run acts for."""
        return self.run.principal

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self.run.id

    @property
    def workflow(self) -> str:
        """Name of the workflow."""
        return self.run.plan.workflow

    @property
    def resources(self) -> Mapping[str, Any]:
        """What kinds opened for the process and run scopes published, by name."""
        return self.run.resources

    @property
    def deadline(self) -> float | None:
        """The nearest deadline around this call, on the event loop's clock."""
        nearest: float | None = None
        for bound in self.clocks():
            due = bound.deadline
            if due is not None and (nearest is None or due < nearest):
                nearest = due
        return nearest

    @property
    def usage(self) -> UsageMeter:
        """This call's meter; what is added counts in every enclosing one."""
        if self._meter is None:
            outer = self.run.meter if self.parent is None else self.parent._own_meter()
            self._meter = Meter(outer)
        return self._meter

    @property
    def log(self) -> logging.LoggerAdapter[Any]:
        """A logger; lines say which run and step they come from."""
        return logging.LoggerAdapter(_log, {"run_id": self.run.id, "step_id": self.step.id})

    @property
    def names(self) -> Names:
        """What templates read."""
        if self._names is None:
            self._names = Names(self.context, self.arguments)
        return self._names

    def clocks(self) -> Iterable[Bound]:
        """Every time limit around this call, innermost first."""
        call: Call | None = self
        while call is not None:
            yield from reversed(call.bounds)
            call = call.parent
        if self.run.bound is not None:
            yield self.run.bound

    def _refuse_if_over(self) -> None:
        """Work that was left behind by a limit, or outlived its run, starts nothing new."""
        if self.run.over:
            raise asyncio.CancelledError
        call: Call | None = self
        while call is not None:
            for bound in call.bounds:
                if bound.abandoned:
                    raise asyncio.CancelledError
            call = call.parent

    def _own_meter(self) -> Meter:
        meter = self.usage
        assert isinstance(meter, Meter)
        return meter

    # --- what it can do ---------------------------------------------------------------------

    def render(self, value: Any) -> Any:
        """Render a compiled template, or a structure of them."""
        return render(value, self.names, self.run.revealed)

    def effect(
        self,
        name: str,
        fn: Callable[..., Awaitable[Any]],
        *args: Any,
        kind: Any = "effect",
        replay: Any = "recorded",
    ) -> Awaitable[Any]:
        """Do something to the world, through the effect door."""
        self._refuse_if_over()
        if not self.run.handlers:
            return fn(*args)
        return self._through_door(f"{self.key}/{name}", kind, replay, fn, args)

    def effect_beside(
        self, name: str, fn: Callable[..., Awaitable[Any]], *args: Any, kind: Any = "effect"
    ) -> Awaitable[Any]:
        """Do something beside the ordered log of the run, as supervisors do."""
        self._refuse_if_over()
        if not self.run.handlers:
            return fn(*args)
        return self._through_door(f"supervisor/{self.key}/{name}", kind, "recorded", fn, args)

    def _through_door(
        self, key: str, kind: Any, replay: Any, fn: Callable[..., Awaitable[Any]], args: tuple[Any, ...]
    ) -> Awaitable[Any]:
        run = self.run
        effect = Effect(
            key=key,
            kind=kind,
            run_id=run.id,
            workflow=run.plan.workflow,
            step=self.step,
            effects=self.step.effects,
            replay=replay,
        )
        return through_door(run.handlers, effect, fn, args)

    def dispatch(
        self,
        ref: str,
        arguments: Mapping[str, Any],
        *,
        name: str,
        timeout_s: float | None = None,
    ) -> Awaitable[Dispatch]:
        """Run a declared child step as a tool."""
        self._refuse_if_over()
        step = self.step.children.get(ref)
        if step is None:
            raise StepError(f"step {self.step.id!r} declares no child {ref!r}", type="unknown_child")
        run = self.run
        visit = run.visits.get(ref, 0) + 1
        run.visits[ref] = visit
        child = Call(run, step, visit, Overlay(self.context, arguments))
        child.arguments, child.parent, child._segment = arguments, self, name
        return dispatch(child, timeout_s)

    def progress(self, type: str, fields: Mapping[str, Any]) -> None:
        """Tell subscribers how far the step is."""
        run = self.run
        if not run.sinks:
            return
        step = self.step
        body = wire_dumps({"type": type, **fields})
        channel = step.kind.progress_channel
        if channel is not None:
            snapshot = f'{{"{channel}":{body}}}'
        else:
            dist = step.distribution.split(" ")[0]
            snapshot = f'{{"progress":{{"{dist}":{body}}}}}'
        run.emit(
            "progress",
            step.id,
            self.visit,
            step.kind_name,
            RUNNING,
            parent=None if self.parent is None else self.parent.key,
            snapshot_json=snapshot,
        )

    def span(self, name: str, attributes: Mapping[str, Any] | None = None, *, client: bool = False) -> Any:
        """Open a telemetry span."""
        return span(name, attributes, client=client) if self.run.traced else NULL_SPAN

    def check_limits(self) -> None:
        """Raise when the run's token budget is used up."""
        budget = self.run.token_budget
        if budget is not None and self.run.meter.tokens >= budget:
            raise RunLimitError(
                f"the run's token_budget of {budget} is used up ({self.run.meter.tokens} tokens)",
                limit="token_budget",
                step=self.step.id,
                workflow=self.workflow,
            )

    def open_loop(self, **metadata: Any) -> LoopHandle:
        """Register a supervisable loop for the time of this call."""
        handle: LoopHandle = self.run.app.open_loop(self, metadata)
        return handle
