"""Where the supervisor meets runs and loops."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tuvl_core import LoopHandle, Run
    from tuvl_supervisor.watch import Watch

__all__ = ["Judges", "judges_of", "watch_of"]

_TASKS: Final = "tuvl_supervisor.judges"


class Judges:
    """A run's judges: it does not end before they have.

    Args:
        kept: The tasks of every run of the project that has a judge, by the run's id.
        run_id: The run.
    """

    phase: Final = "outer"

    def __init__(self, kept: dict[str, set[asyncio.Task[None]]], run_id: str) -> None:
        self._kept, self._run_id = kept, run_id

    async def open(self) -> Mapping[str, Any] | None:
        """Begin."""
        self._kept[self._run_id] = set()
        return None

    async def finish(self, outcome: str) -> None:
        """Nothing is to be kept or undone."""

    async def close(self) -> None:
        """Wait for what was cancelled when its loop ended: each is bounded."""
        tasks = self._kept.pop(self._run_id, None)
        if tasks:
            await asyncio.wait(tuple(tasks))


def judges_of(run: Run) -> Judges | None:
    """The scope of a run whose workflow has a judge."""
    from tuvl_supervisor.supervision import spec_of

    spec = spec_of(run.plan)
    if spec is None or spec.model is None:
        return None
    return Judges(run.plan.project.kept.setdefault(_TASKS, {}), run.id)


def watch_of(loop: LoopHandle) -> Watch | None:
    """The supervisor of a loop that one watches."""
    from tuvl_supervisor.supervision import supervision_of
    from tuvl_supervisor.watch import Watch

    plan: Any = loop.plan
    supervision = supervision_of(plan)
    if supervision is None or not supervision.watches(loop.step_id):
        return None
    if not supervision.rules and supervision.judge is None:
        return None
    kept = plan.project.kept.get(_TASKS) or {}
    return Watch(loop, supervision, kept.get(loop.run_id, set()))
