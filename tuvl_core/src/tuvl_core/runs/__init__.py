"""A run: its state while it goes, and what is left of it afterwards."""

from __future__ import annotations

from tuvl_core.runs.meter import Meter
from tuvl_core.runs.result import PathEntry, RunFailure, RunResult
from tuvl_core.runs.run import MAX_ATTEMPTS, Run, new_run_id
from tuvl_core.runs.scope import PHASES, RunScope, RunStatus, ScopePhase

__all__ = [
    "MAX_ATTEMPTS",
    "PHASES",
    "Meter",
    "PathEntry",
    "Run",
    "RunFailure",
    "RunResult",
    "RunScope",
    "RunStatus",
    "ScopePhase",
    "new_run_id",
]
