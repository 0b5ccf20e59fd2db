"""What lives as long as a run: its databases, and a savepoint around every tool call."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import Token
from typing import Any, Final, Literal

from tuvl_core import Dispatch, Run, StepCall
from tuvl_kinds_modelop.access import allowed
from tuvl_kinds_modelop.database import Database
from tuvl_kinds_modelop.sources import Sources
from tuvl_kinds_modelop.transaction import CURRENT, Frame

__all__ = ["DATABASE", "SOURCES", "DatabaseScope", "SourcesScope"]

DATABASE: Final = "db"
"""The name under which a run's databases are published; nodes read it as `ctx["_db"]`."""
SOURCES: Final = "modelop.sources"


class SourcesScope:
    """The databases of a process; nothing is opened, nor imported, before it is used."""

    def __init__(self, app: Any) -> None:
        self._sources = Sources(app.project)

    async def open(self) -> Mapping[str, Any]:
        """Publish them."""
        return {SOURCES: self._sources}

    async def close(self) -> None:
        """Close every connection."""
        await self._sources.close()


class DatabaseScope:
    """Commits what a completed run did on its databases, and rolls back what any other did."""

    phase: Literal["transaction"] = "transaction"

    def __init__(self, run: Run) -> None:
        self._run = run
        self._database: Database | None = None
        self.tool_boundary = self

    async def open(self) -> Mapping[str, Any]:
        """Publish the databases; a transaction begins with the first statement."""
        run = self._run
        self._database = Database(run, run.app.resources[SOURCES], allowed(run.plan))
        return {DATABASE: self._database}

    async def finish(self, outcome: str) -> None:
        """Commit where the run completed; `close` rolls back the rest."""
        if outcome == "completed" and self._database is not None:
            await self._database.commit()

    async def close(self) -> None:
        """Give every connection back."""
        if self._database is not None:
            await self._database.close()

    # --- around each tool call ----------------------------------------------------------------

    def enter(self, call: StepCall) -> tuple[Frame, Token[Frame | None]]:
        """A tool call begins: what it does from here on is undone if it fails."""
        assert self._database is not None
        frame = Frame(self._database, self._database.frame(), call.step.id)
        return frame, CURRENT.set(frame)

    async def leave(self, token: tuple[Frame, Token[Frame | None]], answer: Dispatch | None) -> None:
        """The call is over: what a good one did stays."""
        frame, reset = token
        CURRENT.reset(reset)
        if answer is None:  # the run ends here, and all it did is rolled back
            frame.left = True
            return
        assert self._database is not None
        good = answer.error is None and answer.signal != "error" and not answer.timed_out
        await self._database.leave(frame, keep=good, left_behind=answer.timed_out)
