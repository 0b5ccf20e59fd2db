"""What a run tells its subscribers, in one form for the command line, SSE and gRPC.

An event is one JSON object: `type` (`step`, `progress` or `run`), `run_id`, `seq` from 1, `ts` (RFC 3339,
UTC), `workflow`, `step_id`, `visit`, `kind`, `signal`, `parent` where there is one, and `snapshot`. The
last event of a run has type `run` and carries `status`, `result`, `error` and `usage` as well.
"""

from __future__ import annotations

from tuvl_core.events.event import RUNNING, EventType, ProgressSink, StepEvent, timestamp
from tuvl_core.events.log import EventLog, RecordedEvent
from tuvl_core.events.queue import QueueSink

__all__ = [
    "RUNNING",
    "EventLog",
    "EventType",
    "ProgressSink",
    "QueueSink",
    "RecordedEvent",
    "StepEvent",
    "timestamp",
]
