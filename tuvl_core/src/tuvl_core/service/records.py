"""What a server knows of a run, while it goes and afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from tuvl_core.events import timestamp
from tuvl_core.runs import RunResult

if TYPE_CHECKING:
    from tuvl_core.events import EventLog
    from tuvl_core.identity import Principal
    from tuvl_core.runs import Run

__all__ = ["RunRecord"]


@attrs.define(kw_only=True, eq=False)
class RunRecord:
    """A run as a server keeps it.

    Attributes:
        run_id: The run.
        workflow: Name of the workflow.
        subject: Who started it.
        tenant: Whose it is; nobody of another tenant ever sees it.
        detached: Whether it goes on when the request that started it goes away.
        started: Unix time in seconds.
        ended: Unix time in seconds; None while it goes.
        log: Its latest events.
        outcome: What `tuvl run --json` would print; None while it goes.
        run: Its live state; None once it is over.
    """

    run_id: str
    workflow: str
    subject: str
    tenant: str | None
    detached: bool
    started: float
    log: EventLog
    ended: float | None = None
    outcome: Mapping[str, Any] | None = None
    run: Run | None = None

    def visible_to(self, principal: Principal) -> bool:
        """Whether a caller may see the run: their own, or with scope `run:read` any of their tenant."""
        if principal.tenant != self.tenant:
            return False
        return principal.subject == self.subject or principal.has_scope("run:read")

    def to_dict(self) -> dict[str, Any]:
        """The run as JSON-ready data: what `tuvl run --json` prints, with `started`, `ended` and `detached`.

        While it goes, `context` is empty and `result` null: events tell what is in them.
        """
        if self.outcome is not None:
            shown = dict(self.outcome)
        else:
            assert self.run is not None
            shown = RunResult.of(self.run, {}, None).to_dict()
        ended = timestamp(self.ended) if self.ended is not None else None
        return {**shown, "started": timestamp(self.started), "ended": ended, "detached": self.detached}
