"""Runs as servers offer them: started for a caller, followed by many, found again, aborted.

Whatever protocol a server speaks, it hands requests to one `RunService` and gives back what that says. Who may do
what, how much may run at a time and what is kept is decided here, once for all of them.
"""

from __future__ import annotations

from tuvl_core.service.gate import Gate
from tuvl_core.service.live import LiveRun
from tuvl_core.service.records import RunRecord
from tuvl_core.service.service import Listing, RunService
from tuvl_core.service.store import MemoryRunStore, RunStore

__all__ = ["Gate", "Listing", "LiveRun", "MemoryRunStore", "RunRecord", "RunService", "RunStore"]
