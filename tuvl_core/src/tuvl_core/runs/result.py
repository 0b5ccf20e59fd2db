"""What is left of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from tuvl_core.codec import to_wire
from tuvl_core.runs.scope import RunStatus

if TYPE_CHECKING:
    from tuvl_core.runs.run import Run

__all__ = ["PathEntry", "RunFailure", "RunResult"]


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
