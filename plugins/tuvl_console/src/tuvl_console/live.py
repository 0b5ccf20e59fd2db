"""Pages that go on: the parts of them that have changed, as server-sent events."""

from __future__ import annotations

import asyncio
import datetime
import json
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from tuvl_console.state import RunState
from tuvl_console.views import actions_of, drawing, lit, loop_row, page, run_row
from tuvl_core import DeniedError, Principal, RunService

if TYPE_CHECKING:
    from tuvl_core import RecordedEvent, StepEvent

__all__ = ["RunPage", "follow_list", "follow_run", "list_parts", "loops_of"]

_EVERY_S: Final = 1.0
"""How often the list is looked at anew."""
_GATHER_S: Final = 0.15
"""For how long a run's events are gathered before the page is told."""

Parts = dict[str, str]
"""What stands in each part of a page, by the part's id: HTML."""


async def loops_of(service: RunService, principal: Principal) -> tuple[list[dict[str, Any]], str | None]:
    """The loops that the caller may see, and what could not be seen."""
    try:
        found = await service.loops(principal)
    except DeniedError as error:
        return [], f"agents' turns are not shown: {error}"
    return found.items, found.missing


async def list_parts(service: RunService, principal: Principal) -> Parts:
    """The list of runs."""
    runs = await service.runs(principal)
    loops, missing = await loops_of(service, principal)
    now = datetime.datetime.now(datetime.UTC)
    rows = [run_row(run, loops, now) for run in runs.items]
    live = [row for row in rows if row["status"] in ("running", "paused")]
    over = [row for row in rows if row["status"] not in ("running", "paused")][:50]
    note = runs.missing or missing
    return {
        "note": page("note.html", note=note),
        "live": page("rows.html", rows=live, empty="Nothing runs right now.", live=True),
        "over": page("rows.html", rows=over, empty="No run has ended yet.", live=False),
    }


class RunPage:
    """One run as a page shows it, kept current from its events.

    Args:
        service: Where it is found.
        principal: Who looks.
        run_id: The run.
    """

    def __init__(self, service: RunService, principal: Principal, run_id: str) -> None:
        self._service = service
        self._principal = principal
        self._run_id = run_id
        self.state = RunState()
        self.workflow = ""

    async def parts(self) -> Parts:
        """The page's parts as things stand.

        Raises:
            UnknownRunError: There is no such run, or none that the caller may see.
        """
        run = await self._service.run(self._run_id, self._principal)
        self.workflow = run["workflow"]
        loops, missing = await loops_of(self._service, self._principal)
        own = [loop for loop in loops if loop["run_id"] == self._run_id]
        now = datetime.datetime.now(datetime.UTC)
        shown = [{**loop_row(loop, now), "may": actions_of(self._principal, loop)} for loop in own]
        live = run["status"] in ("running", "paused")
        svg = drawing(self._service, self.workflow)
        return {
            "note": page("note.html", note=missing),
            "facts": page("facts.html", run=run_row(run, loops, now)),
            "graph": lit(svg, self.state) if svg is not None else "",
            "numbers": page("numbers.html", loops=shown),
            "controls": page("controls.html", loops=shown, run_id=self._run_id, live=live),
            "lines": page("lines.html", state=self.state),
        }

    async def catch_up(self) -> None:
        """Take what is kept of the run's events."""
        record = self._service.store.get(self._run_id)
        if record is not None:
            for event in record.log.kept(self.state.seq):
                self.state.feed(event.to_dict())


async def follow_list(service: RunService, principal: Principal) -> AsyncIterator[str]:
    """Tell what of the list has changed, about once a second, for ever."""
    told: Parts = {}
    while True:
        frame = _changed(await list_parts(service, principal), told)
        if frame:
            yield frame
        await asyncio.sleep(_EVERY_S)


async def follow_run(shown: RunPage, events: AsyncIterator[StepEvent | RecordedEvent]) -> AsyncIterator[str]:
    """Tell what of a run's page has changed, as its events come, to its last."""
    told: Parts = {}
    yield _changed(await shown.parts(), told)
    queue: asyncio.Queue[Mapping[str, Any] | None] = asyncio.Queue(1000)
    reader = asyncio.create_task(_read(events, queue))
    try:
        over = False
        while not over:
            over = await _gather(queue, shown.state)
            frame = _changed(await shown.parts(), told)
            if frame:
                yield frame
        await asyncio.sleep(_GATHER_S)  # the store learns of the end a moment after the last event
        yield _changed(await shown.parts(), told) or "{}"
    finally:
        reader.cancel()
        await asyncio.gather(reader, return_exceptions=True)


async def _read(
    events: AsyncIterator[StepEvent | RecordedEvent], queue: asyncio.Queue[Mapping[str, Any] | None]
) -> None:
    try:
        async for event in events:
            await queue.put(event.to_dict())
    finally:
        await queue.put(None)


async def _gather(queue: asyncio.Queue[Mapping[str, Any] | None], state: RunState) -> bool:
    """Feed what comes within a moment, or after a second nothing: clocks go on; True once nothing more comes."""
    try:
        async with asyncio.timeout(_EVERY_S):
            event = await queue.get()
    except TimeoutError:
        return False
    await asyncio.sleep(_GATHER_S)
    while event is not None:
        if event["seq"] > state.seq:
            state.feed(event)
        if queue.empty():
            return False
        event = queue.get_nowait()
    return True


def _changed(parts: Parts, told: Parts) -> str:
    """The parts that differ from what was told last, as JSON; empty if none."""
    news = {id: html for id, html in parts.items() if told.get(id) != html}
    told.update(news)
    return json.dumps(news) if news else ""
