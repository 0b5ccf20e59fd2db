"""This worker's runs, as Redis is told of them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import attrs

from tuvl_core import EventLog, RunResult, wire_dumps
from tuvl_redis.config import Config
from tuvl_redis.scripts import APPEND

if TYPE_CHECKING:
    from tuvl_core import RunHandle
    from tuvl_redis.batch import Batch

__all__ = ["OwnRun"]

_EVENTS_AT_ONCE: Final = 200


@attrs.define(kw_only=True, eq=False)
class OwnRun:
    """A run of this worker, and what Redis knows of it.

    Attributes:
        run_id: The run.
        tenant: Whose it is.
        subject: Who started it.
        log: Its latest events; they wait here, and the oldest give way, while Redis is away.
        record: What is told of it, as far as it does not change.
        handle: The run itself; None once it is over.
        ended: When it ended, on the monotonic clock.
        cursor: The number of the last event that Redis has.
        told: The status that Redis knows; None: Redis does not know the run.
        unsure: Whether Redis may have lost some of its events.
    """

    run_id: str
    tenant: str | None
    subject: str
    log: EventLog
    record: Mapping[str, Any]
    handle: RunHandle | None
    ended: float | None = None
    cursor: int = 0
    told: str | None = None
    unsure: bool = True

    @property
    def status(self) -> str:
        """Its status now."""
        return str(self.record["status"] if self.handle is None else self.handle.run.status)

    @property
    def behind(self) -> bool:
        """Whether Redis lacks events."""
        return self.unsure or self.log.last_seq > self.cursor

    @property
    def done(self) -> bool:
        """Whether it is over, and Redis knows all of it."""
        return self.ended is not None and not self.behind and self.told == self.status

    def over(self, record: Mapping[str, Any]) -> None:
        """It has ended; the record says how."""
        self.record, self.handle, self.told = record, None, None
        self.ended = time.monotonic()

    def forget(self) -> None:
        """Tell Redis everything again."""
        self.told, self.unsure = None, True

    def fill(self, batch: Batch, config: Config, worker: str, *, beat: bool) -> None:
        """Put into a batch what Redis lacks. A run that is over is told to be so once its events are there."""
        left_s = config.keep_s if self.ended is None else config.keep_s - (time.monotonic() - self.ended)
        alive_ms = max(1, int((left_s + config.ttl_s * (self.ended is None)) * 1000))
        if self.ended is None and (beat or self.told != self.status):
            self._add_record(batch, config, worker, alive_ms)
        if self.behind or (beat and self.ended is None):
            self._add_events(batch, config, alive_ms)
        elif self.ended is not None and self.told != self.status:
            self._add_record(batch, config, worker, alive_ms)

    def _add_events(self, batch: Batch, config: Config, alive_ms: int) -> None:
        new = self.log.kept(self.cursor)[:_EVENTS_AT_ONCE]
        arguments: list[Any] = [self.cursor, alive_ms, self.log.first_seq]
        for event in new:
            arguments += (event.seq, event.type, event.to_json())
        batch.add(self._appended, "EVAL", APPEND, 1, config.keys.events(self.run_id), *arguments)

    def _appended(self, last: Any) -> None:
        self.cursor, self.unsure = int(last), False

    def _add_record(self, batch: Batch, config: Config, worker: str, alive_ms: int) -> None:
        status, keys, now = self.status, config.keys, time.time()
        key, index = keys.run(self.run_id), keys.runs(self.tenant)
        fields = {
            "tenant": wire_dumps(self.tenant),
            "subject": self.subject,
            "worker": worker,
            "over": int(self.ended is not None),
            "seen": now,
            "json": self._text(config.keep_bytes),
        }

        def known(_: Any) -> None:
            self.told = status

        batch.add(known, "HSET", key, *(part for pair in fields.items() for part in pair))
        batch.add(None, "PEXPIRE", key, alive_ms)
        batch.add(None, "ZADD", index, now + alive_ms / 1000, self.run_id)
        batch.add(None, "PEXPIRE", index, int((config.keep_s + config.ttl_s) * 1000))

    def _text(self, most: int) -> str:
        if self.handle is not None:
            live = RunResult.of(self.handle.run, {}, None).to_dict()
            return wire_dumps({**self.record, **live})
        text = wire_dumps(dict(self.record))
        if len(text) > most:
            text = wire_dumps({**self.record, "result": None, "context": {}, "left_out": ["result", "context"]})
        return text
