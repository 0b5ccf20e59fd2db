"""What a run tells its subscribers, in one form for the command line, SSE and gRPC.

An event is one JSON object: `type` (`step`, `progress` or `run`), `run_id`, `seq` from 1, `ts` (RFC 3339,
UTC), `workflow`, `step_id`, `visit`, `kind`, `signal`, `parent` where there is one, and `snapshot`. The
last event of a run has type `run` and carries `status`, `result`, `error` and `usage` as well.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from functools import lru_cache
from json.encoder import encode_basestring as _quote
from typing import Any, Literal, Protocol

import attrs

from tuvl_core.codec import wire_dumps

__all__ = ["RUNNING", "EventType", "ProgressSink", "StepEvent", "timestamp"]

EventType = Literal["step", "progress", "run"]

RUNNING = "running"
"""The signal of events that mark a start or progress."""

_second: tuple[int, str] = (0, "1970-01-01T00:00:00")


def timestamp(seconds: float) -> str:
    """Format a Unix time as RFC 3339 in UTC, to the microsecond."""
    global _second
    whole = int(seconds)
    cached, text = _second
    if cached != whole:
        text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole))
        _second = (whole, text)
    return f"{text}.{int((seconds - whole) * 1_000_000):06d}Z"


@attrs.define(kw_only=True, eq=False)
class StepEvent:
    """One event of a run.

    Attributes:
        type: `step` for a start or an end, `progress` from inside a step, `run` for the last one.
        run_id: The run it belongs to.
        seq: Its number within the run, from 1, without gaps.
        time: Unix time in seconds; `ts` is its text.
        workflow: Name of the workflow.
        step_id: The step; None on a `run` event of a run that never reached one.
        visit: How many times the run has been at that step, from 1.
        kind: The step's kind.
        signal: `running` at a start or for progress, else the signal the step left by.
        parent: Key of the step whose tool this event comes from.
        snapshot_json: The snapshot as JSON text: the masked public context after the step, or what
            progress says.
        outcome: On a `run` event: `status`, `result`, `error` and `usage`, JSON-ready.
    """

    type: EventType
    run_id: str
    seq: int
    time: float
    workflow: str
    step_id: str | None
    visit: int | None
    kind: str | None
    signal: str | None
    parent: str | None = None
    snapshot_json: str = "{}"
    outcome: Mapping[str, Any] | None = None
    _json: str | None = attrs.field(default=None, init=False, repr=False)

    @property
    def ts(self) -> str:
        """When it happened: RFC 3339, UTC."""
        return timestamp(self.time)

    @property
    def snapshot(self) -> dict[str, Any]:
        """The snapshot as data; parsed anew on each access."""
        parsed: dict[str, Any] = json.loads(self.snapshot_json)
        return parsed

    @property
    def terminal(self) -> bool:
        """Whether this is the last event of its run."""
        return self.type == "run"

    def to_json(self) -> str:
        """Give the event as one line of strict JSON; the text is built once and shared."""
        if self._json is None:
            self._json = self._encode()
        return self._json

    def to_dict(self) -> dict[str, Any]:
        """Give the event as JSON-ready data."""
        parsed: dict[str, Any] = json.loads(self.to_json())
        return parsed

    def _encode(self) -> str:
        # Assembled by hand: json.dumps of the whole costs five times as much per event.
        parent = "" if self.parent is None else f',"parent":{_text(self.parent)}'
        outcome = "" if self.outcome is None else "," + wire_dumps(dict(self.outcome))[1:-1]
        visit = "null" if self.visit is None else self.visit
        return (
            f'{{"type":"{self.type}","run_id":{_text(self.run_id)},"seq":{self.seq},'
            f'"ts":"{timestamp(self.time)}","workflow":{_text(self.workflow)},'
            f'"step_id":{_text(self.step_id)},"visit":{visit},"kind":{_text(self.kind)},'
            f'"signal":{_text(self.signal)}{parent},"snapshot":{self.snapshot_json}{outcome}}}'
        )


@lru_cache(maxsize=1024)
def _text(value: str | None) -> str:
    # The same few ids, kinds and signals stand in every event of a run.
    if value is None:
        return "null"
    if value.isascii():
        return _quote(value)
    return wire_dumps(value)


class ProgressSink(Protocol):
    """Receives a run's events, on the run's event loop. It must return at once and never block."""

    @property
    def wants_snapshots(self) -> bool:
        """Whether step events should carry the masked context; building it costs time."""
        ...

    def emit(self, event: StepEvent) -> None:
        """Take one event. What it raises is logged once and costs this sink its events only."""
        ...

    def close(self) -> None:
        """The run is over: nothing follows."""
        ...
