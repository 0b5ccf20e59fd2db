"""The state of a run while it goes."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tuvl_core.events import RUNNING, EventType, ProgressSink, StepEvent
from tuvl_core.kinds import UNSET
from tuvl_core.runs.meter import Meter
from tuvl_core.runs.result import RunFailure
from tuvl_core.runs.scope import RunStatus
from tuvl_core.telemetry import log_event
from tuvl_core.views import SnapshotCache, mask, open_secrets, public_view, scrub

if TYPE_CHECKING:
    from tuvl_core.contributions import ToolBoundary
    from tuvl_core.effects import EffectHandler
    from tuvl_core.identity import Principal
    from tuvl_core.plan import Plan

__all__ = ["MAX_ATTEMPTS", "Run", "new_run_id"]

MAX_ATTEMPTS = 4
"""How often a run is done at most where others are in its way."""


def new_run_id() -> str:
    """A random UUID (RFC 9562, version 4) as text; built by hand, for a run is often a few steps."""
    bits = os.urandom(16).hex()
    variant = "89ab"[int(bits[16], 16) & 3]
    return f"{bits[:8]}-{bits[8:12]}-4{bits[13:16]}-{variant}{bits[17:20]}-{bits[20:]}"


class Run:
    """The state of one run. Nothing here is shared with another run, and all of it ends with it."""

    __slots__ = (
        "_broken_sinks",
        "_seq",
        "_snapshots",
        "app",
        "attempts",
        "bound",
        "boundaries",
        "cancel_reason",
        "context",
        "error",
        "handlers",
        "id",
        "loops",
        "measured",
        "meter",
        "over",
        "path",
        "plan",
        "principal",
        "resources",
        "result",
        "result_status",
        "revealed",
        "sinks",
        "started",
        "status",
        "step_id",
        "token_budget",
        "traced",
        "view",
        "visits",
        "wants_snapshots",
    )

    def __init__(
        self,
        *,
        app: Any,
        id: str,
        plan: Plan,
        principal: Principal,
        context: dict[str, Any],
        sinks: Sequence[ProgressSink] = (),
        handlers: Sequence[EffectHandler] = (),
        traced: bool = False,
        measured: bool = False,
    ) -> None:
        self.app = app
        self.id = id
        self.plan = plan
        self.principal = principal
        self.context = context
        self.view: Mapping[str, Any] = MappingProxyType(context)
        self.sinks: tuple[ProgressSink, ...] = tuple(sinks)
        self.wants_snapshots = bool(sinks) and any(sink.wants_snapshots for sink in self.sinks)
        self.handlers = tuple(handlers)
        self.traced = traced
        self.measured = measured
        self.resources: dict[str, Any] = {}
        self.meter = Meter()
        self.token_budget = plan.limits.token_budget
        self.visits: dict[str, int] = {}
        self.path: list[tuple[str, int, str, float]] = []
        self.status: RunStatus = "running"
        self.step_id: str | None = None
        self.error: RunFailure | None = None
        self.result: Any = UNSET
        self.result_status = 200
        self.started = time.time()
        self.bound: Any = None
        self.over = False
        self.attempts = 1
        self.loops = 0
        self.cancel_reason: str | None = None
        self.boundaries: tuple[ToolBoundary, ...] = ()
        self.revealed: set[str] = set()
        self._seq = 0
        self._snapshots: SnapshotCache | None = None
        self._broken_sinks: set[int] = set()

    @property
    def workflow(self) -> str:
        """Name of the workflow."""
        return self.plan.workflow

    @property
    def reveal(self) -> tuple[str, ...]:
        """Secure keys that the workflow lets out."""
        return self.plan.spec.reveal

    @property
    def repeatable(self) -> bool:
        """Whether the run may be done again from its start, once what it did was undone.

        So it is where every step so far only looks, or writes inside the run's transaction, nothing stands
        around its effects that saw them happen, and it was not done again too often already.
        """
        if self.handlers or self.attempts >= MAX_ATTEMPTS:
            return False
        ids = {entry[0] for entry in self.path}
        if self.step_id is not None:
            ids.add(self.step_id)
        return all(self.plan.steps[id].repeatable for id in ids)

    def begin_again(self, context: dict[str, Any]) -> None:
        """Forget what was done, but not what it cost; events go on counting."""
        self.attempts += 1
        self.context.clear()
        self.context.update(context)
        self._snapshots = None
        self.visits.clear()
        self.path.clear()
        self.status = "running"
        self.step_id = self.error = None
        self.result, self.result_status = UNSET, 200

    def add_sinks(self, sinks: Sequence[ProgressSink]) -> None:
        """Add subscribers before the run starts."""
        self.sinks = (*self.sinks, *sinks)
        self.wants_snapshots = any(sink.wants_snapshots for sink in self.sinks)

    def changed(self, keys: Sequence[str] | Mapping[str, Any]) -> None:
        """Note that context keys were written, for the cached snapshot."""
        if self._snapshots is not None and keys:
            self._snapshots.forget(keys)

    def scrub(self, text: str) -> str:
        """Take the secrets this run has opened, and whatever looks like one, out of a text."""
        return scrub(text, self.revealed)

    def public_context(self) -> dict[str, Any]:
        """The context as anybody may see it: public keys, secrets masked."""
        return public_view(self.context, self.reveal)

    def final_result(self) -> Any:
        """What the run is for: the last Response, else the `spec.output` key, else None; masked.

        `reveal` opens it whole under the name `result`, or under that of the key it comes from.
        """
        output = self.plan.spec.output
        if self.result is not UNSET:
            value, names = self.result, ["result"]
        elif output is not None:
            value, names = self.context.get(output), ["result", output]
        else:
            return None
        reveal = self.reveal
        if reveal and any(name in reveal for name in names):
            return open_secrets(value)
        return mask(value, reveal)

    def emit(
        self,
        type: EventType,
        step_id: str | None,
        visit: int | None,
        kind: str | None,
        signal: str | None = RUNNING,
        *,
        parent: str | None = None,
        snapshot_json: str | None = None,
        outcome: Mapping[str, Any] | None = None,
    ) -> None:
        """Send one event to every sink. Call it only when there are sinks."""
        if self.over:
            return
        self._seq += 1
        if snapshot_json is None:
            snapshot_json = self.snapshot_json() if self.wants_snapshots else "{}"
        event = StepEvent(
            type=type,
            run_id=self.id,
            seq=self._seq,
            time=time.time(),
            workflow=self.plan.workflow,
            step_id=step_id,
            visit=visit,
            kind=kind,
            signal=signal,
            parent=parent,
            snapshot_json=snapshot_json,
            outcome=outcome,
        )
        for sink in self.sinks:
            try:
                sink.emit(event)
            except Exception:
                self._sink_failed(sink)

    def snapshot_json(self) -> str:
        """The masked public context as JSON text, from fragments cached per key."""
        if self._snapshots is None:
            self._snapshots = SnapshotCache()
        return self._snapshots.json(self.context, self.reveal)

    def _sink_failed(self, sink: ProgressSink) -> None:
        if id(sink) in self._broken_sinks:
            return
        self._broken_sinks.add(id(sink))
        fields = {"run_id": self.id, "sink": type(sink).__name__}
        log_event(self.app.log, 30, "run.sink_failed", fields, exc_info=True)
