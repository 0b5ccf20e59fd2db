"""What lives as long as a run, and how a run can end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, Protocol

__all__ = ["PHASES", "RunScope", "RunStatus", "ScopePhase"]

RunStatus = Literal["running", "paused", "completed", "stopped", "failed", "cancelled"]
ScopePhase = Literal["outer", "resources", "transaction"]
PHASES: Final[tuple[ScopePhase, ...]] = ("outer", "resources", "transaction")


class RunScope(Protocol):
    """Something that lives as long as one run: a transaction, a temporary folder, a lease.

    Phases order scopes, never installation order: `outer` opens first and closes last; `transaction`
    opens last and finishes first, so that whatever it needs is still there when it commits.

    A scope that wants to keep or undo what each tool call did has a `tool_boundary` as well, a `ToolBoundary`.
    """

    @property
    def phase(self) -> ScopePhase:
        """When it opens and closes among the scopes of a run."""
        ...

    async def open(self) -> Mapping[str, Any] | None:
        """Begin; return handles to publish by name as `call.resources`."""
        ...

    async def finish(self, outcome: RunStatus) -> None:
        """Commit or roll back.

        Raises:
            ConflictError: Another run was in the way, and all was undone: the run may be done again.
            Exception: Anything else vetoes a completed run: it fails as `commit_failed`.
        """
        ...

    async def close(self) -> None:
        """Let go of everything, whatever happened."""
        ...
