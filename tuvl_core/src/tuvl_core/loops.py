"""Loops inside a step that somebody may watch, pause, steer or abort while they run.

A kind that opens a loop (an agent's turns) gets a `LoopHandle`. Whoever supervises it, a rule, a judge
or an operator, finds the handle in the app's registry and acts through `handle.control`. The loop looks
at `handle.touched` at the top of each turn; as long as nobody has asked for the control, that is one
attribute read and nothing else exists.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, Protocol

import attrs

from tuvl_core.telemetry import log_event

__all__ = ["Directives", "LoopControl", "LoopHandle", "LoopRegistry", "LoopScope"]

LoopStatus = Literal["running", "paused", "ended"]
_log = logging.getLogger("tuvl.loops")


@attrs.frozen(kw_only=True)
class Directives:
    """What supervisors asked of a loop since its last turn.

    Attributes:
        steer: Guidance in the order sent.
        aborted: The reason of an abort, or None.
        abort_type: `aborted` by request, `pause_expired` when a pause outlived its allowance.
    """

    steer: tuple[str, ...] = ()
    aborted: str | None = None
    abort_type: str = "aborted"


class LoopControl:
    """The supervisor's side of a loop. Every call is safe in any order, doubled or late."""

    def __init__(self, handle: LoopHandle) -> None:
        self._handle = handle
        self._steer: list[str] = []
        self._aborted: str | None = None
        self._abort_type = "aborted"
        self._paused = False
        self._changed = asyncio.Event()
        self._on_force: Callable[[], None] | None = None

    @property
    def paused(self) -> bool:
        """Whether the loop is to wait at its next turn, or waits already."""
        return self._paused

    @property
    def aborted(self) -> str | None:
        """The reason of an abort, or None."""
        return self._aborted

    def pause(self) -> bool:
        """Have the loop wait at the top of its next turn; False if it has ended or was aborted."""
        if self._handle.ended or self._aborted is not None:
            return False
        self._paused = True
        return True

    def resume(self) -> bool:
        """Let a paused loop go on; False if it was not paused."""
        was, self._paused = self._paused, False
        self._changed.set()
        return was

    def steer(self, message: str) -> bool:
        """Queue guidance for the next turn; False if the loop has ended and will not see it."""
        if self._handle.ended:
            return False
        self._steer.append(message)
        return True

    def abort(self, reason: str, *, force: bool = False) -> bool:
        """End the loop on `aborted` at its next turn or between two calls.

        Args:
            reason: Shown to people and written to `_last_error`.
            force: Cancel what is in flight instead of waiting for it.
        """
        if self._handle.ended or self._aborted is not None:
            return False
        self._aborted = reason
        self._changed.set()
        if force and self._on_force is not None:
            self._on_force()
        return True

    def on_force(self, cancel: Callable[[], None] | None) -> None:
        """Name what a forced abort cancels right now; None when nothing is in flight."""
        self._on_force = cancel

    async def checkpoint(self, max_pause_s: float) -> Directives:
        """Wait while paused, then hand over what was asked: the loop's side, at the top of a turn.

        Each pause has its own full allowance; one that outlives it becomes an abort.
        """
        while self._paused and self._aborted is None:
            await self._wait_paused(max_pause_s)
        if self._aborted is not None:
            return Directives(aborted=self._aborted, abort_type=self._abort_type)
        steer, self._steer = tuple(self._steer), []
        return Directives(steer=steer)

    async def _wait_paused(self, max_pause_s: float) -> None:
        self._changed.clear()
        self._handle._enter_pause()
        try:
            async with asyncio.timeout(max_pause_s):
                await self._changed.wait()
        except TimeoutError:
            self._aborted = f"paused for longer than {max_pause_s:g} s"
            self._abort_type = "pause_expired"
        finally:
            self._handle._leave_pause()

    def undelivered(self) -> tuple[str, ...]:
        """Guidance that came too late for any turn."""
        return tuple(self._steer)


class PauseClock(Protocol):
    """A time limit that stops while a loop inside it is paused."""

    def suspend(self) -> None: ...
    def resume(self) -> None: ...


class LoopScope(Protocol):
    """Lives as long as one loop; a supervisor is one."""

    def open(self) -> None:
        """The loop has begun. Must return at once; start a task for what waits."""
        ...

    def close(self) -> None:
        """The loop is over. Must return at once."""
        ...


class LoopHandle:
    """One running loop, as others see it.

    Attributes:
        id: Unique: the run's id and the step's position in it.
        run_id: The run it belongs to.
        workflow: Name of the workflow.
        step_id: The step that loops.
        parent: Id of the loop whose tool this one is, or None.
        tenant: Whose run it is; operators of other tenants never see it.
        metadata: Counters the loop keeps current (iteration, tokens, calls per tool): numbers and
            declared names only, no context values.
        failure: Why the tool call that an event is just telling of failed, in one line without secrets; None
            otherwise. It is for who watches in this process: it may hold values, so nothing sends it on.
    """

    __slots__ = (
        "_clocks",
        "_control",
        "_registry",
        "_scopes",
        "_status_sink",
        "failure",
        "id",
        "max_pause_s",
        "metadata",
        "parent",
        "run_id",
        "started",
        "status",
        "step_id",
        "tenant",
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
    ) -> None:
        self.id = id
        self.run_id = run_id
        self.workflow = workflow
        self.step_id = step_id
        self.parent = parent
        self.tenant = tenant
        self.max_pause_s = max_pause_s
        self.metadata = metadata
        self.failure: str | None = None
        self.started = time.time()
        self.status: LoopStatus = "running"
        self._control: LoopControl | None = None
        self._registry: LoopRegistry | None = None
        self._scopes: list[LoopScope] = []
        self._clocks: Iterable[PauseClock] = ()
        self._status_sink: Callable[[bool], None] | None = None

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

    def snapshot(self) -> dict[str, Any]:
        """The loop as JSON-ready metadata."""
        return {
            "id": self.id,
            "run_id": self.run_id,
            "workflow": self.workflow,
            "step_id": self.step_id,
            "parent": self.parent,
            "status": self.status,
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
        for scope in scopes:
            scope.open()
            self._scopes.append(scope)

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


class LoopRegistry:
    """The loops that run in this process."""

    def __init__(self) -> None:
        self._loops: dict[str, LoopHandle] = {}

    def add(self, handle: LoopHandle) -> None:
        """Register a loop that has begun."""
        self._loops[handle.id] = handle

    def remove(self, handle: LoopHandle) -> None:
        """Forget a loop that is over."""
        self._loops.pop(handle.id, None)

    def get(self, id: str, tenant: str | None) -> LoopHandle | None:
        """The loop of that id, if `tenant` may see it."""
        handle = self._loops.get(id)
        return handle if handle is not None and handle.tenant == tenant else None

    def visible_to(self, tenant: str | None) -> list[LoopHandle]:
        """Every running loop of a tenant, oldest first."""
        return [handle for handle in self._loops.values() if handle.tenant == tenant]

    def __iter__(self) -> Iterator[LoopHandle]:
        return iter(list(self._loops.values()))

    def __len__(self) -> int:
        return len(self._loops)
