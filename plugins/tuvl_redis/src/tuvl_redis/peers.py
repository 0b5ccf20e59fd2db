"""The other workers of a project, through Redis."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

import attrs

from tuvl_core import Applied, Directive, EventLog, InputError, RecordedEvent, log_event
from tuvl_redis.inbox import UNKNOWN, Inbox
from tuvl_redis.link import AWAY, Link, heeding
from tuvl_redis.outbox import Outbox
from tuvl_redis.reader import Found, Reader
from tuvl_redis.runs import OwnRun
from tuvl_redis.tails import Tails

if TYPE_CHECKING:
    from tuvl_core import App

__all__ = ["RedisPeers"]

_AGAIN_S: Final = 0.2
_log = logging.getLogger("tuvl.redis")
T = TypeVar("T")


class RedisPeers:
    """The kernel's `Peers`, on Redis.

    Args:
        app: The app of this worker.
        link: Redis.
        worker: This worker's id.
    """

    def __init__(self, app: App, link: Link, worker: str) -> None:
        self._app = app
        self._link = link
        self._worker = worker
        self.outbox = Outbox(link, app.loops, worker)
        self.inbox = Inbox(link, worker, self._land, self.outbox.beat)
        self._reader = Reader(link, worker)
        self.tails = Tails(link, self._reader)

    # --- what this worker does --------------------------------------------------------------

    def began(self, record: Mapping[str, Any], tenant: str | None, log: EventLog, *, subject: str) -> None:
        """A run of this worker has begun."""
        run_id = str(record["run_id"])
        handle = self._app.running(run_id, tenant)
        own = OwnRun(run_id=run_id, tenant=tenant, subject=subject, log=log, record=record, handle=handle)
        self.outbox.began(own)

    def ended(self, record: Mapping[str, Any], tenant: str | None) -> None:
        """A run of this worker is over."""
        own = self.outbox.own(str(record["run_id"]))
        if own is not None:
            own.over(record)

    # --- what others do ---------------------------------------------------------------------

    @property
    def missing(self) -> str | None:
        """What cannot be seen right now, for people."""
        return self._link.missing

    async def loops(self, tenant: str | None) -> list[dict[str, Any]]:
        """The loops of other workers."""
        return await self._list(lambda: self._reader.loops(tenant))

    async def runs(self, tenant: str | None, subject: str | None = None) -> list[dict[str, Any]]:
        """The runs of other workers."""
        return await self._list(lambda: self._reader.runs(tenant, subject))

    async def _list(self, look: Callable[[], Awaitable[list[dict[str, Any]]]]) -> list[dict[str, Any]]:
        if self._link.away:
            return []  # the outbox finds out when it is back; nobody waits for that
        try:
            return await heeding(look())
        except AWAY as error:
            self._link.failed(error)
            return []

    async def run(self, run_id: str, tenant: str | None, subject: str | None = None) -> dict[str, Any] | None:
        """One run of another worker."""
        found = await self._run(run_id, tenant, subject)
        return found.record if found is not None else None

    async def events(
        self, run_id: str, tenant: str | None, after: int, *, follow: bool, subject: str | None = None
    ) -> AsyncIterator[RecordedEvent] | None:
        """The kept events of another worker's run, and with `follow` those to come."""
        found = await self._run(run_id, tenant, subject)
        if found is None:
            return None
        return self.tails.follow(run_id, found, after) if follow else self._kept(run_id, after)

    async def _kept(self, run_id: str, after: int) -> AsyncIterator[RecordedEvent]:
        try:
            async for event in self._reader.kept(run_id, after):
                yield event
        except AWAY as error:
            self._link.failed(error)
            raise self._link.busy("the events of this run cannot be read") from None

    async def direct(self, id: str, tenant: str | None, directive: Directive) -> Applied | None:
        """Send a directive to another worker's loop.

        Raises:
            BusyError: Redis or the worker does not answer; whether the directive took effect is not known. It may be
                sent again under the same id, and is then obeyed once.
        """
        patience_s = self._link.config.directive_s
        worker = await self._look(
            lambda: self._reader.worker_of_loop(id, tenant), "the loop cannot be looked for", patience_s
        )
        if worker is None:
            return None
        message = {"op": "direct", "loop": id, "tenant": tenant, "directive": directive.to_dict()}
        answer = await self._ask(worker, message)
        match answer:
            case "applied" | "ignored" | "repeated":
                return answer
            case _:
                return None

    async def abort(self, run_id: str, tenant: str | None, reason: str) -> bool | None:
        """Have another worker cancel a run.

        Raises:
            BusyError: Redis or the worker does not answer.
        """
        found = await self._run(run_id, tenant, None)
        if found is None:
            return None
        if found.over or found.lost:
            return False
        message = {"op": "abort", "run": run_id, "tenant": tenant, "reason": reason}
        answer = await self._ask(found.worker, message)
        return answer if isinstance(answer, bool) else None

    async def _ask(self, worker: str, message: Mapping[str, Any]) -> str | bool:
        if worker == self._worker:
            return self._land(message)
        answer = await self.inbox.ask(worker, message)
        if answer is None:
            what = "the worker that has it did not acknowledge in time, and may or may not have done it"
            raise self._link.busy(what)
        return answer

    async def _run(self, run_id: str, tenant: str | None, subject: str | None) -> Found | None:
        return await self._look(lambda: self._reader.run(run_id, tenant, subject), "the run cannot be looked for")

    async def _look(self, look: Callable[[], Awaitable[T | None]], what: str, patience_s: float = 1.0) -> T | None:
        """Look something up; while Redis is away, or just back and not told everything yet, again.

        Raises:
            BusyError: That lasts: nobody can tell.
        """
        due = time.monotonic() + patience_s
        while True:
            try:
                found = await heeding(look())
            except AWAY as error:
                self._link.failed(error)
                found = None
            if found is not None or not self._link.settling:
                return found
            if time.monotonic() > due:
                raise self._link.busy(what)
            await asyncio.sleep(_AGAIN_S)

    # --- what others ask of this worker -----------------------------------------------------

    def _land(self, message: Mapping[str, Any]) -> str | bool:
        """Do what another worker asks. Whose loop or run it is counts here, whatever was looked at there."""
        tenant = message.get("tenant", 0)
        if tenant is not None and not isinstance(tenant, str):
            raise ValueError("a message without a tenant")
        match message["op"]:
            case "direct":
                return self._land_directive(message, tenant)
            case "abort":
                return self._land_abort(message, tenant)
            case _:
                raise ValueError("a message that asks for nothing known")

    def _land_directive(self, message: Mapping[str, Any], tenant: str | None) -> str:
        id, data = message.get("loop"), message.get("directive")
        if not isinstance(id, str) or not isinstance(data, dict):
            raise ValueError("a directive without loop and directive")
        try:
            directive = Directive.from_dict(data)
        except InputError as problem:
            raise ValueError(f"a directive that is none: {problem}"[:200]) from None
        handle = self._app.loops.get(id, tenant)
        if handle is None:
            if any(loop.id == id for loop in self._app.loops):
                log_event(_log, logging.WARNING, "redis.foreign", {"op": "direct", "from": message.get("from")})
            return UNKNOWN
        # Rules and judges sit beside their loop: what comes from elsewhere is an operator's.
        return handle.control.apply(attrs.evolve(directive, source="operator"))

    def _land_abort(self, message: Mapping[str, Any], tenant: str | None) -> str | bool:
        run_id, reason = message.get("run"), message.get("reason")
        if not isinstance(run_id, str) or not isinstance(reason, str):
            raise ValueError("an abort without run and reason")
        own = self.outbox.own(run_id)
        if own is None or own.tenant != tenant:
            if own is not None:
                log_event(_log, logging.WARNING, "redis.foreign", {"op": "abort", "from": message.get("from")})
            return UNKNOWN
        return own.handle is not None and own.handle.cancel(reason[:1000])
