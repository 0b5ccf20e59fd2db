"""Recording and replaying a run at the effect door.

A record holds, in order, the key of each effect and what came of it, in the lossless form. Replayed, a
run needs no model, no HTTP and no node: every leaf step, model call and tool call answers from the record.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any

import attrs

from tuvl_core import Effect, StepError, from_lossless, to_lossless
from tuvl_models import ModelError

__all__ = ["DivergenceError", "Record", "RecordingHandler", "ReplayHandler"]


class DivergenceError(AssertionError):
    """A replayed run went another way than the recorded one; names where, with both sides."""


@attrs.frozen(kw_only=True)
class Record:
    """One effect and what came of it.

    Attributes:
        key: The effect's position in the run.
        kind: `step`, `tool`, `model`, `input` or `effect`.
        value: Its result in lossless form; None where it failed.
        error: `{"class", "type", "message"}` of what it raised, or None.
    """

    key: str
    kind: str
    value: Any = None
    error: dict[str, Any] | None = None


class RecordingHandler:
    """Keeps what every effect of a run gave.

    Attributes:
        records: The records, in the order in which the effects ended.
    """

    def __init__(self) -> None:
        self.records: list[Record] = []

    @property
    def keys(self) -> list[str]:
        """The effects' keys, in order."""
        return [record.key for record in self.records]

    async def handle(self, effect: Effect, proceed: Callable[[], Awaitable[Any]]) -> Any:
        """Let the effect happen, and keep what came of it."""
        try:
            value = await proceed()
        except Exception as error:
            self.records.append(Record(key=effect.key, kind=effect.kind, error=_described(error)))
            raise
        self.records.append(Record(key=effect.key, kind=effect.kind, value=to_lossless(value, effect.key)))
        return value

    def dumps(self) -> str:
        """The records as NDJSON: one JSON object a line."""
        return "".join(f"{json.dumps(attrs.asdict(record), ensure_ascii=False)}\n" for record in self.records)


class ReplayHandler:
    """Answers every effect from a record, and lets none of them happen.

    Args:
        records: The records, or their NDJSON text.
    """

    def __init__(self, records: Iterable[Record] | str) -> None:
        if isinstance(records, str):
            records = _loads(records)
        self._left: dict[str, Record] = {}
        for record in records:
            if record.key in self._left:
                raise ValueError(f"the record holds the key {record.key!r} twice")
            self._left[record.key] = record

    @property
    def left(self) -> list[str]:
        """Keys that no effect has asked for yet."""
        return list(self._left)

    async def handle(self, effect: Effect, proceed: Callable[[], Awaitable[Any]]) -> Any:
        """Answer from the record.

        Raises:
            DivergenceError: The record does not hold the effect.
        """
        record = self._left.pop(effect.key, None)
        if record is None or record.kind != effect.kind:
            held = f"{record.kind} {record.key!r}" if record else next(iter(self._left), "nothing more")
            raise DivergenceError(f"the run does {effect.kind} {effect.key!r}; the record holds {held!r} here")
        if record.error is not None:
            raise _raised(record.error)
        return from_lossless(record.value)


def _described(error: Exception) -> dict[str, Any]:
    described: dict[str, Any] = {
        "class": type(error).__name__,
        "type": getattr(error, "type", None),
        "message": str(error),
    }
    if isinstance(error, ModelError):
        described |= {"class": "ModelError", "attempts": error.attempts, "retryable": error.retryable}
    elif isinstance(error, StepError):
        described |= {"class": "StepError", "writes": to_lossless(error.writes)}
    return described


def _raised(error: dict[str, Any]) -> Exception:
    if error["class"] == "ModelError":
        return ModelError(
            error["message"], type=error["type"], retryable=error["retryable"], attempts=error["attempts"]
        )
    if error["class"] == "StepError":
        return StepError(error["message"], type=error["type"], writes=from_lossless(error["writes"]))
    return RuntimeError(f"{error['class']}: {error['message']}")


def _loads(text: str) -> Iterator[Record]:
    for line in text.splitlines():
        if line.strip():
            yield Record(**json.loads(line))
