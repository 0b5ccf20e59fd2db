"""Where runs are found again."""

from __future__ import annotations

import time
from typing import Protocol

from tuvl_core.service.records import RunRecord

__all__ = ["MemoryRunStore", "RunStore"]


class RunStore(Protocol):
    """Keeps a worker's runs: those that go, and for a while those that are over."""

    def add(self, record: RunRecord) -> None:
        """Take a run that has begun."""
        ...

    def settle(self, record: RunRecord) -> None:
        """Note that a run is over."""
        ...

    def get(self, run_id: str) -> RunRecord | None:
        """The run of that id."""
        ...

    def list(self) -> list[RunRecord]:
        """Every run that is known, the latest first."""
        ...


class MemoryRunStore:
    """Keeps runs in the memory of the process.

    Args:
        keep_s: For how many seconds a run that is over can be found.
        most: How many of them are kept at most; the oldest give way.
    """

    def __init__(self, keep_s: float = 3600.0, most: int = 1000) -> None:
        self._keep_s = keep_s
        self._most = most
        self._running: dict[str, RunRecord] = {}
        self._over: dict[str, RunRecord] = {}

    def add(self, record: RunRecord) -> None:
        """Take a run that has begun."""
        self._running[record.run_id] = record

    def settle(self, record: RunRecord) -> None:
        """Note that a run is over."""
        self._running.pop(record.run_id, None)
        self._over[record.run_id] = record
        self._forget()

    def get(self, run_id: str) -> RunRecord | None:
        """The run of that id."""
        self._forget()
        return self._running.get(run_id) or self._over.get(run_id)

    def list(self) -> list[RunRecord]:
        """Every run that is known, the latest first."""
        self._forget()
        return sorted([*self._running.values(), *self._over.values()], key=lambda record: -record.started)

    def _forget(self) -> None:
        """Drop what is too old, or too much; they lie in the order in which they ended."""
        limit = time.time() - self._keep_s
        while self._over:
            id, record = next(iter(self._over.items()))
            if len(self._over) <= self._most and (record.ended or 0.0) > limit:
                return
            del self._over[id]
