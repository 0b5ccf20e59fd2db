"""A run: its state while it goes, and what is left of it afterwards."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol

import attrs

from tuvl_core.codec import to_wire
from tuvl_core.events import RUNNING, EventType, ProgressSink, StepEvent
from tuvl_core.kinds import UNSET
from tuvl_core.telemetry import log_event
from tuvl_core.views import SnapshotCache, mask, open_secrets, public_view, scrub

if TYPE_CHECKING:
    from tuvl_core.contributions import ToolBoundary
    from tuvl_core.effects import EffectHandler
    from tuvl_core.identity import Principal
    from tuvl_core.plan import Plan

__all__ = ["Meter", "PathEntry", "Run", "RunFailure", "RunResult", "RunScope", "RunStatus", "new_run_id"]

RunStatus = Literal["running", "paused", "completed", "stopped", "failed", "cancelled"]
ScopePhase = Literal["outer", "resources", "transaction"]
MAX_ATTEMPTS = 4
"""How often a run is done at most where others are in its way."""
PHASES: tuple[ScopePhase, ...] = ("outer", "resources", "transaction")


def new_run_id() -> str:
    """A random UUID (RFC 9562, version 4) as text; built by hand, for a run is often a few steps."""
    bits = os.urandom(16).hex()
    variant = "89ab"[int(bits[16], 16) & 3]
    return f"{bits[:8]}-{bits[8:12]}-4{bits[13:16]}-{variant}{bits[17:20]}-{bits[20:]}"


class Meter:
    """Counts what a step consumes, and adds it to every enclosing meter up to the run's."""

    __slots__ = ("llm_attempts", "llm_calls", "parent", "tokens", "tool_calls")

    def __init__(self, parent: Meter | None = None) -> None:
        self.tokens = 0
        self.llm_calls = 0
        self.llm_attempts = 0
        self.tool_calls = 0
        self.parent = parent

    def add(self, *, tokens: int = 0, llm_calls: int = 0, llm_attempts: int = 0, tool_calls: int = 0) -> None:
        """Add to this meter and to every one around it."""
        meter: Meter | None = self
        while meter is not None:
            meter.tokens += tokens
            meter.llm_calls += llm_calls
            meter.llm_attempts += llm_attempts
            meter.tool_calls += tool_calls
            meter = meter.parent

    def to_dict(self) -> dict[str, int]:
        """The counts as JSON-ready data."""
        return {
            "tokens": self.tokens,
            "llm_calls": self.llm_calls,
            "llm_attempts": self.llm_attempts,
            "tool_calls": self.tool_calls,
        }


@attrs.frozen
class PathEntry:
    """One step that a run has left.

    Attributes:
        step: The step's id.
        visit: Which visit to it, from 1.
        signal: The signal it left by.
        seconds: How long it took.
    """

    step: str
    visit: int
    signal: str
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """The entry as `--json` prints it."""
        return {
            "step": self.step,
            "visit": self.visit,
            "signal": self.signal,
            "duration_ms": round(self.seconds * 1000, 3),
        }


@attrs.frozen(kw_only=True)
class RunFailure:
    """Why a run did not complete.

    Attributes:
        type: The error's short name.
        message: What happened, for people; without secrets.
        step: Where it happened.
        limit: The limit of the run that was reached, `max_steps`, `timeout_s` or `token_budget`; else None.
    """

    type: str
    message: str
    step: str | None = None
    limit: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The failure as `--json` prints it."""
        return {"type": self.type, "message": self.message, "step": self.step}


class RunScope(Protocol):
    """Something that lives as long as one run: a transaction, a temporary folder, a lease.

    Phases order scopes, never installation order: `outer` opens first and closes last; `transaction`
    opens last and finishes first, so that whatever it needs is still there when it commits.

    A scope that wants to keep or undo what each tool call did has a `tool_boundary` as well, a `ToolBoundary`.
    """

    @property
    def phase(self) -> ScopePhase:
        """When it opens and closes among the scopes of a run."""
        ...

    async def open(self) -> Mapping[str, Any] | None:
        """Begin; return handles to publish by name as `call.resources`."""
        ...

    async def finish(self, outcome: RunStatus) -> None:
        """Commit or roll back.

        Raises:
            ConflictError: Another run was in the way, and all was undone: the run may be done again.
            Exception: Anything else vetoes a completed run: it fails as `commit_failed`.
        """
        ...

    async def close(self) -> None:
        """Let go of everything, whatever happened."""
        ...


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


@attrs.define(kw_only=True)
class RunResult:
    """What is left of a run.

    Attributes:
        run_id: The run.
        workflow: Name of the workflow.
        status: `completed`, `stopped`, `failed` or `cancelled`.
        signal: The signal of the last step that was left.
        last_step: The last step that was entered.
        result: The last Response, else the `spec.output` key, else None; secrets masked.
        result_status: The HTTP status that goes with it.
        context: The public context at the end, secrets masked.
        error: Why it did not complete.
        usage: `tokens`, `llm_calls`, `llm_attempts`, `tool_calls`.
    """

    run_id: str
    workflow: str
    status: RunStatus
    signal: str | None
    last_step: str | None
    _entries: Sequence[tuple[str, int, str, float]]
    result: Any
    result_status: int
    context: Mapping[str, Any]
    error: RunFailure | None
    usage: Mapping[str, int]

    @property
    def path(self) -> tuple[PathEntry, ...]:
        """Every step that was left, in order."""
        return tuple(PathEntry(*entry) for entry in self._entries)

    @classmethod
    def of(cls, run: Run, context: Mapping[str, Any], result: Any) -> RunResult:
        """Take the result of a run that is over, with its context and result as anybody may see them."""
        path = run.path
        return cls(
            run_id=run.id,
            workflow=run.workflow,
            status=run.status,
            signal=path[-1][2] if path else None,
            last_step=run.step_id,
            entries=tuple(path),
            result=result,
            result_status=run.result_status,
            context=context,
            error=run.error,
            usage=run.meter.to_dict(),
        )

    def to_dict(self) -> dict[str, Any]:
        """The object that `tuvl run --json` prints, JSON-ready.

        Raises:
            CodecError: A value in result or context has no wire form; the message names its key.
        """
        return {
            "run_id": self.run_id,
            "workflow": self.workflow,
            "status": self.status,
            "signal": self.signal,
            "last_step": self.last_step,
            "path": [entry.to_dict() for entry in self.path],
            "result": to_wire(self.result, "result"),
            "context": to_wire(dict(self.context), "context"),
            "error": self.error.to_dict() if self.error else None,
            "usage": dict(self.usage),
        }
