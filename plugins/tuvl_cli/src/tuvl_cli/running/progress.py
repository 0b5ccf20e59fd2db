"""The sink that lets people watch a run on stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from typing import Any, Final, Protocol

from tuvl_cli.running.narrator import Line, Narrator, Now
from tuvl_cli.running.outlet import Outlet
from tuvl_core import LoopHandle, StepEvent

__all__ = ["Progress", "choose_view"]

_MOST_EVENTS: Final = 10_000
_LAST_LOOK_S: Final = 2.0
_Item = tuple[StepEvent, Mapping[str, Any], str | None]


class View(Protocol):
    """Shows lines."""

    def show(self, lines: list[Line], now: Now | None) -> None:
        """Write lines, and what the run does now."""
        ...

    def close(self) -> None:
        """Nothing follows."""
        ...


def choose_view() -> View:
    """A live view where stderr is a terminal that can move its cursor, else plain lines."""
    if sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        from tuvl_cli.running.live import LiveView

        return LiveView()
    from tuvl_cli.running.plain import PlainView

    return PlainView()


class Progress:
    """A sink that narrates a run on a view, beside the run and not in its way.

    Args:
        view: Where to.
        kinds: The kind of each step of the workflow, by id.
        loops: The loops that run, whose limits are shown.
    """

    wants_snapshots = False

    def __init__(self, view: View, kinds: Mapping[str, str], loops: Iterable[LoopHandle]) -> None:
        self._view = view
        self._narrator = Narrator(kinds)
        self._loops = loops
        self._outlet: Outlet[_Item] = Outlet(self._show, most=_MOST_EVENTS)

    def emit(self, event: StepEvent) -> None:
        """Take one event."""
        limits: Mapping[str, Any] = {}
        failure: str | None = None
        if event.type == "progress":
            for loop in self._loops:
                if loop.run_id == event.run_id and loop.step_id == event.step_id:
                    limits, failure = loop.metadata, loop.failure
                    break
        self._outlet.put((event, limits, failure), 1)

    def close(self) -> None:
        """The run is over; `finish` waits for the view."""

    def finish(self) -> None:
        """Let the view show what is left, but do not wait for a terminal that is held."""
        self._outlet.close(_LAST_LOOK_S)
        self._view.close()

    def _show(self, item: _Item) -> None:
        self._view.show(list(self._narrator.tell(*item)), self._narrator.now)
