"""The service that servers hand their requests to."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import attrs

from tuvl_core.engine import App
from tuvl_core.errors import CodecError, DeniedError, UnknownRunError
from tuvl_core.events import EventLog, RecordedEvent, StepEvent
from tuvl_core.loops import Applied, Directive
from tuvl_core.runs import RunResult, new_run_id
from tuvl_core.service.admission import Admission
from tuvl_core.service.gate import Gate
from tuvl_core.service.live import LiveRun
from tuvl_core.service.records import RunRecord
from tuvl_core.service.store import MemoryRunStore, RunStore

if TYPE_CHECKING:
    from tuvl_core.contributions import Peers
    from tuvl_core.engine import RunHandle
    from tuvl_core.identity import Principal

__all__ = ["Listing", "RunService"]

T = TypeVar("T")


@attrs.frozen
class Listing(Generic[T]):
    """What a caller may see of something that lies on several workers.

    Attributes:
        items: What was found.
        missing: What could not be seen, for people; None: this is all.
    """

    items: list[T]
    missing: str | None = None


class RunService:
    """Starts, follows, finds and aborts runs for callers of a server.

    Args:
        app: The open app.
        gate: Tells who is calling.
        store: Where runs are found again; None: in memory, for `run.keep_s` seconds.

    Attributes:
        app: The open app.
        gate: Tells who is calling.
        store: Where runs are found again.
    """

    def __init__(self, app: App, *, gate: Gate | None = None, store: RunStore | None = None) -> None:
        settings = app.settings
        self.app = app
        self.gate = gate if gate is not None else Gate(app)
        self.store: RunStore = store if store is not None else MemoryRunStore(settings["run.keep_s"])
        self._admission = Admission(settings["run.max_running"], settings["run.max_queued"])
        self._live: dict[str, LiveRun] = {}

    # --- runs -------------------------------------------------------------------------------

    async def start(
        self,
        workflow: str,
        input: Mapping[str, Any] | None = None,
        *,
        principal: Principal,
        detach: bool = False,
    ) -> LiveRun:
        """Start a run for a caller, once there is a place for it.

        Args:
            workflow: Its name.
            input: The initial context.
            principal: Who is calling.
            detach: Whether it goes on when the request goes away.

        Raises:
            BusyError: Too much runs and waits already, or the process is about to end.
            UnknownWorkflowError: The project has no such workflow.
            ProjectError: Structure errors stand in the way.
            InputError: The input does not fit.
            DeniedError: The caller may not run it.
        """
        self.app.check_start(workflow, input, principal)
        await self._admission.enter()
        settings = self.app.settings
        log = EventLog(settings["run.keep_events"], settings["run.keep_bytes"])
        try:
            run_id = new_run_id()
            handle = await self.app.start(workflow, input, principal=principal, sinks=(log,), run_id=run_id)
        except BaseException:
            self._admission.leave()
            raise
        record = RunRecord(
            run_id=run_id,
            workflow=workflow,
            subject=principal.subject,
            tenant=principal.tenant,
            detached=detach,
            started=handle.run.started,
            log=log,
            run=handle.run,
        )
        return self._register(record, handle)

    def _register(self, record: RunRecord, handle: RunHandle) -> LiveRun:
        live = self._live[record.run_id] = LiveRun(record, handle)
        self.store.add(record)
        if self.app.peers is not None:
            self.app.peers.began(record.to_dict(), record.tenant, record.log, subject=record.subject)
        handle.task.add_done_callback(lambda task: self._settle(record, task))
        return live

    def _settle(self, record: RunRecord, task: asyncio.Task[RunResult]) -> None:
        self._admission.leave()
        self._live.pop(record.run_id, None)
        record.ended = time.time()
        record.outcome = _outcome(record, task)
        record.run = None
        record.log.close()
        self.store.settle(record)
        if self.app.peers is not None:
            self.app.peers.ended(record.to_dict(), record.tenant)

    async def runs(self, principal: Principal, *, workflow: str | None = None) -> Listing[dict[str, Any]]:
        """The runs that a caller may see, on every worker, the latest first."""
        found = [record.to_dict() for record in self.store.list() if record.visible_to(principal)]
        missing, peers = None, self.app.peers
        if peers is not None:
            known = {item["run_id"] for item in found}
            elsewhere = await peers.runs(principal.tenant, _whose(principal))
            found += [item for item in elsewhere if item["run_id"] not in known]
            missing = peers.missing
        if workflow is not None:
            found = [item for item in found if item["workflow"] == workflow]
        return Listing(sorted(found, key=lambda item: str(item["started"]), reverse=True), missing)

    async def run(self, run_id: str, principal: Principal) -> dict[str, Any]:
        """One run, on whatever worker.

        Raises:
            UnknownRunError: There is none, or none that the caller may see.
        """
        record = self._record(run_id, principal)
        if record is not None:
            return record.to_dict()
        peers = self.app.peers
        if peers is not None:
            found = await peers.run(run_id, principal.tenant, _whose(principal))
            if found is not None:
                return found
        raise UnknownRunError(run_id)

    async def events(
        self, run_id: str, principal: Principal, *, after: int = 0
    ) -> AsyncIterator[StepEvent | RecordedEvent]:
        """Follow a run, on whatever worker, from an event on; awaiting gives the iterator.

        Raises:
            UnknownRunError: There is none, or none that the caller may see.
        """
        record = self._record(run_id, principal)
        if record is not None:
            return record.log.follow(after)
        peers = self.app.peers
        if peers is not None:
            whose = _whose(principal)
            found = await peers.events(run_id, principal.tenant, after, follow=True, subject=whose)
            if found is not None:
                return found
        raise UnknownRunError(run_id)

    async def abort(self, run_id: str, principal: Principal, reason: str = "aborted by its operator") -> bool:
        """Cancel a run, on whatever worker; False if it was over.

        Whoever started it may, and whoever holds `agent:control`.

        Raises:
            UnknownRunError: There is none, or none that the caller may see.
            DeniedError: The caller may see it, and no more.
        """
        record = self._record(run_id, principal)
        if record is not None:
            if principal.subject != record.subject:
                _require(principal, "agent:control")
            live = self._live.get(run_id)
            return live is not None and live.cancel(reason)
        if self.app.peers is not None:
            return await self._abort_elsewhere(self.app.peers, run_id, principal, reason)
        raise UnknownRunError(run_id)

    async def _abort_elsewhere(self, peers: Peers, run_id: str, principal: Principal, reason: str) -> bool:
        tenant = principal.tenant
        if await peers.run(run_id, tenant, principal.subject) is None:
            if _whose(principal) is not None or await peers.run(run_id, tenant) is None:
                raise UnknownRunError(run_id)
            _require(principal, "agent:control")
        done = await peers.abort(run_id, tenant, reason)
        if done is None:
            raise UnknownRunError(run_id)
        return done

    def _record(self, run_id: str, principal: Principal) -> RunRecord | None:
        record = self.store.get(run_id)
        return record if record is not None and record.visible_to(principal) else None

    # --- loops ------------------------------------------------------------------------------

    async def loops(self, principal: Principal) -> Listing[dict[str, Any]]:
        """The loops of the caller's tenant that run right now, on every worker.

        Raises:
            DeniedError: Without scope `agent:observe`.
        """
        _require(principal, "agent:observe")
        found = [loop.snapshot() for loop in self.app.loops.visible_to(principal.tenant)]
        peers = self.app.peers
        if peers is None:
            return Listing(found)
        known = {item["id"] for item in found}
        found += [item for item in await peers.loops(principal.tenant) if item["id"] not in known]
        return Listing(found, peers.missing)

    async def loop(self, id: str, principal: Principal) -> dict[str, Any]:
        """One loop.

        Raises:
            DeniedError: Without scope `agent:observe`.
            UnknownRunError: There is none, or it is of another tenant.
        """
        _require(principal, "agent:observe")
        handle = self.app.loops.get(id, principal.tenant)
        if handle is not None:
            return handle.snapshot()
        for item in (await self.loops(principal)).items:
            if item["id"] == id:
                return item
        raise UnknownRunError(id, "agent run")

    async def trace(self, id: str, principal: Principal) -> list[dict[str, Any]]:
        """What a loop has done so far: its progress events, as far as they are kept.

        Raises:
            DeniedError: Without scope `agent:observe`.
            UnknownRunError: There is none, or it is of another tenant.
        """
        loop = await self.loop(id, principal)
        record = self.store.get(loop["run_id"])
        if record is not None and record.tenant == principal.tenant:
            kept: list[dict[str, Any]] = [event.to_dict() for event in record.log.kept()]
        else:
            kept = await self._kept_elsewhere(loop["run_id"], principal)
        return [event for event in kept if _is_of(event, loop)]

    async def _kept_elsewhere(self, run_id: str, principal: Principal) -> list[dict[str, Any]]:
        peers = self.app.peers
        events = await peers.events(run_id, principal.tenant, 0, follow=False) if peers is not None else None
        return [event.to_dict() async for event in events] if events is not None else []

    async def direct(self, id: str, principal: Principal, directive: Directive) -> Applied:
        """Ask something of a loop, on whatever worker.

        Raises:
            DeniedError: Without scope `agent:control`.
            UnknownRunError: There is none, or it is of another tenant.
        """
        _require(principal, "agent:control")
        directive = attrs.evolve(directive, source="operator", name=principal.subject)
        handle = self.app.loops.get(id, principal.tenant)
        if handle is not None:
            return handle.control.apply(directive)
        peers = self.app.peers
        done = await peers.direct(id, principal.tenant, directive) if peers is not None else None
        if done is None:
            raise UnknownRunError(id, "agent run")
        return done

    # --- the end ----------------------------------------------------------------------------

    @property
    def running(self) -> int:
        """How many runs go."""
        return len(self._live)

    @property
    def draining(self) -> bool:
        """Whether nothing new begins."""
        return self._admission.closed

    async def drain(self, grace_s: float) -> None:
        """Start nothing new; let what runs end by itself for so many seconds, then cancel it."""
        self._admission.close()
        if self._live:
            await asyncio.wait([_waiter(run) for run in self._live.values()], timeout=grace_s)
        left = list(self._live.values())  # with those that had a place already, and began meanwhile
        for run in left:
            run.cancel("the server is shutting down")
        await asyncio.gather(*map(_waiter, left), return_exceptions=True)


def _waiter(run: LiveRun) -> asyncio.Future[RunResult]:
    return asyncio.ensure_future(run.wait())


def _whose(principal: Principal) -> str | None:
    """Whose runs a caller may see, among those of their tenant: their own; None: everybody's."""
    return None if principal.has_scope("run:read") else principal.subject


def _require(principal: Principal, scope: str) -> None:
    if not principal.has_scope(scope):
        raise DeniedError(f"this requires scope {scope!r}")


def _outcome(record: RunRecord, task: asyncio.Task[RunResult]) -> dict[str, Any]:
    """What is kept of a run that is over; a result without a wire form does not cost the rest."""
    if task.cancelled():
        assert record.run is not None
        return RunResult.of(record.run, {}, None).to_dict()
    result = task.result()
    try:
        return result.to_dict()
    except CodecError as problem:
        error = {"type": "CodecError", "message": str(problem), "step": result.last_step}
        bare = attrs.evolve(result, result=None, context={}).to_dict()
        return {**bare, "error": bare["error"] or error}


def _is_of(event: Mapping[str, Any], loop: Mapping[str, Any]) -> bool:
    """Whether a progress event is of a loop: its step, its visit, and the step whose tool it is."""
    outer = str(loop["key"]).rpartition("/")[0] or None
    where = (event["step_id"], event["visit"], event.get("parent"))
    return event["type"] == "progress" and where == (loop["step_id"], loop["visit"], outer)
