"""Turns a run's events into lines for people; how they look is the view's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from tuvl_core import StepEvent

__all__ = ["Line", "Narrator", "Now", "seconds"]

_CHANNEL: Final = "agent_progress"
_BAD: Final = frozenset({"error", "aborted", "parse_error", "timeout", "max_iterations", "budget_exceeded"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One line about a run.

    Attributes:
        text: What it says, a step's id first.
        depth: 0 for a step, more for what happens inside one.
        good: Whether it tells of a step that is done; None for one that goes on.
    """

    text: str
    depth: int = 0
    good: bool | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Now:
    """What a run does at the moment.

    Attributes:
        step: The step it is at.
        kind: The step's kind.
        since: Unix time at which the step began.
        detail: How far the step is, where it says so.
    """

    step: str
    kind: str
    since: float
    detail: str = ""


class Narrator:
    """Tells a run, event by event.

    Args:
        kinds: The kind of each step of the workflow, by id: columns are as wide as these need.
    """

    def __init__(self, kinds: Mapping[str, str]) -> None:
        self.now: Now | None = None
        self._names = min(max(map(len, kinds), default=0), 32)
        self._kinds = min(max(map(len, kinds.values()), default=0), 32)
        self._headed: tuple[str, int] | None = None

    def tell(self, event: StepEvent, limits: Mapping[str, Any], failure: str | None = None) -> Iterator[Line]:
        """Give the lines that an event is worth.

        Args:
            event: The event.
            limits: `max_iterations` and `token_budget` of the loop it comes from, where they are known.
            failure: Why the tool call that the event tells of failed, where that is known.
        """
        if event.type == "step" and event.signal == "running":
            self.now = Now(step=_name(event), kind=event.kind or "", since=event.time)
        elif event.type == "step":
            yield self._left(event)
        elif event.type == "progress":
            yield from self._progress(event, limits, failure)

    def _left(self, event: StepEvent) -> Line:
        began = self.now.since if self.now is not None else event.time
        self.now = None
        signal = event.signal or ""
        head = self._head(event)
        return Line(text=f"{head}  {printable(signal)}  {seconds(event.time - began)}", good=signal not in _BAD)

    def _progress(self, event: StepEvent, limits: Mapping[str, Any], failure: str | None) -> Iterator[Line]:
        snapshot = event.snapshot
        fields = dict(snapshot.get(_CHANNEL) or next(iter((snapshot.get("progress") or {}).values()), {}))
        what = str(fields.pop("type", ""))
        text = _told(what, fields, limits)
        depth = 1 + (event.parent.count("/") + 1 if event.parent else 0)
        if depth == 1 and what == "outcome":
            return  # the step's own line says it
        if depth == 1 and what != "tool_call" and self.now is not None:
            self.now = replace(self.now, detail=text)
        here = (event.step_id or "", event.visit or 0)
        if depth == 1 and self._headed != here:
            self._headed = here
            yield Line(text=self._head(event).rstrip())
        inner = f"{printable(event.step_id or '')}: " if event.parent else ""
        yield Line(text=f"{inner}{text}", depth=depth)
        if failure is not None and what == "tool_call":
            yield Line(text=printable(failure), depth=depth + 1)

    def _head(self, event: StepEvent) -> str:
        return f"{_name(event):<{self._names}}  {event.kind or '':<{self._kinds}}"


def _told(what: str, fields: Mapping[str, Any], limits: Mapping[str, Any]) -> str:
    if what == "iteration":
        calls = fields.get("tool_calls", 0)
        called = "1 tool call" if calls == 1 else f"{calls} tool calls"
        turn = _of(fields.get("iteration"), limits.get("max_iterations"))
        return f"turn {turn}: {called}, {_of(fields.get('tokens_used'), limits.get('token_budget'))} tokens"
    if what == "tool_call":
        repeats = fields.get("repeats")
        again = f", {repeats} times in a row" if repeats and repeats > 1 else ""
        return printable(f"{fields.get('tool')}: {fields.get('signal')}{again}")
    if what == "outcome":
        return printable(f"outcome: {fields.get('signal')}")
    return printable(" ".join([what, *(f"{key}={value}" for key, value in fields.items())]))


def _of(value: object, limit: object) -> str:
    return f"{value}" if limit is None else f"{value}/{limit}"


def _name(event: StepEvent) -> str:
    """The step, and which visit to it, from the second on."""
    name = event.step_id or ""
    return f"{name} #{event.visit}" if event.visit is not None and event.visit > 1 else name


def seconds(value: float) -> str:
    """A duration for people."""
    if value < 1:
        return f"{max(value, 0) * 1000:.0f} ms"
    if value < 60:
        return f"{value:.1f} s"
    minutes, rest = divmod(int(value), 60)
    return f"{minutes} min {rest:02} s"


def printable(text: str) -> str:
    """Text that a terminal shows and does not obey: a model may have chosen it."""
    shown = text if len(text) <= 200 else f"{text[:200]}…"
    return "".join(char if char.isprintable() else "\ufffd" for char in shown)
