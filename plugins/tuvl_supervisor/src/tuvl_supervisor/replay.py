"""What rules would have done on a recorded run, from its events alone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import attrs

from tuvl_core import InputError, Plan
from tuvl_supervisor.kinds import Rule
from tuvl_supervisor.supervision import DeclaredRule, Supervision, rules_of, shape_of

__all__ = ["Fired", "Loop", "Replayed", "missing_events", "read_events", "replay"]

_CHANNEL: Final = "agent_progress"
_OTHER_FIELDS: Final = ("id:", "event:", "retry:", ":")
"""What else stands in an event stream (WHATWG HTML, section 9.2)."""


@attrs.frozen(kw_only=True)
class Fired:
    """A rule that would have fired.

    Attributes:
        seq: The number of the event at which it would have.
        number: The rule's place in the list, from 0.
        rule: Its kind.
        then: What it would have done.
        found: What it would have said.
        iteration: The turn.
    """

    seq: int
    number: int
    rule: str
    then: str
    found: str
    iteration: int | None


@attrs.define(kw_only=True)
class Loop:
    """One recorded loop.

    Attributes:
        run_id: Its run.
        step_id: Its step.
        visit: Which visit of the run to that step.
        parent: The key of the step whose tool it was, or None.
        events: How many events tell of it.
        watched: Whether the supervisor watches it.
        fired: What would have fired, in order.
        exit: The signal that it left by, if the events say so.
    """

    run_id: str
    step_id: str
    visit: int
    parent: str | None
    watched: bool
    events: int = 0
    fired: list[Fired] = attrs.field(factory=list)
    exit: str | None = None
    numbers: dict[str, Any] = attrs.field(factory=dict, repr=False)
    waiting: list[tuple[DeclaredRule, Rule]] = attrs.field(factory=list, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The loop as JSON-ready data."""
        return {
            "run_id": self.run_id,
            "step_id": self.step_id,
            "visit": self.visit,
            "parent": self.parent,
            "watched": self.watched,
            "events": self.events,
            "exit": self.exit,
            "fired": [attrs.asdict(item) for item in self.fired],
        }


@attrs.frozen(kw_only=True)
class Replayed:
    """What the rules of a workflow would have done.

    Attributes:
        workflow: Its name.
        loops: The recorded loops, in the order in which they began.
    """

    workflow: str
    loops: tuple[Loop, ...]

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON-ready data."""
        return {"workflow": self.workflow, "loops": [loop.to_dict() for loop in self.loops]}


def read_events(lines: Iterable[str], name: str) -> list[dict[str, Any]]:
    """Read recorded events, one JSON object a line, as `tuvl run --events` prints them.

    Raises:
        InputError: A line is none; names it.
    """
    events: list[dict[str, Any]] = []
    for number, line in enumerate(lines, 1):
        # An event stream that was saved from a server reads as well: its `data` lines are the events.
        line = line.strip().removeprefix("data:")
        if not line or line.startswith(_OTHER_FIELDS):
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{name}:{number}: it is no JSON: {error}", [(str(number), "is no JSON")]) from None
        if not isinstance(event, dict) or not isinstance(event.get("type"), str) or "run_id" not in event:
            text = "it is no event: an event has a `type` and a `run_id`"
            raise InputError(f"{name}:{number}: {text}", [(str(number), text)])
        events.append(event)
    return events


def missing_events(events: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """How many events of each run are not there, by the numbers of those that are; runs that are whole are left out."""
    seen: dict[str, set[int]] = {}
    for event in events:
        if isinstance(event.get("seq"), int):
            seen.setdefault(str(event["run_id"]), set()).add(event["seq"])
    lacking = {id: max(numbers) - len(numbers) for id, numbers in seen.items()}
    return {id: count for id, count in lacking.items() if count > 0}


def replay(plan: Plan, events: Iterable[Mapping[str, Any]]) -> Replayed:
    """Show recorded events to the rules of a workflow as they are now; nothing is asked, and nothing runs.

    A rule that would have paused, steered or aborted changes nothing of what follows: the record goes on as it did.

    Args:
        plan: The workflow; events of others are passed over.
        events: What `read_events` gave.

    Raises:
        ProjectError: The supervisor cannot be read.
    """
    supervision = rules_of(plan)
    loops: list[Loop] = []
    going: dict[tuple[Any, ...], Loop] = {}
    for event in events:
        told = _progress_of(event)
        if event.get("workflow") != plan.workflow or told is None:
            continue
        key = (event["run_id"], event.get("step_id"), event.get("visit"), event.get("parent"))
        loop = going.get(key)
        if loop is None or loop.exit is not None:
            loop = going[key] = _begin(event, plan, supervision)
            loops.append(loop)
        loop.events += 1
        _take(loop, event, told)
    return Replayed(workflow=plan.workflow, loops=tuple(loops))


def _progress_of(event: Mapping[str, Any]) -> Mapping[str, Any] | None:
    snapshot = event.get("snapshot")
    told = snapshot.get(_CHANNEL) if event.get("type") == "progress" and isinstance(snapshot, Mapping) else None
    return told if isinstance(told, Mapping) and isinstance(told.get("type"), str) else None


def _begin(event: Mapping[str, Any], plan: Plan, supervision: Supervision | None) -> Loop:
    step = plan.steps.get(str(event.get("step_id")))
    shape = shape_of(step, plan) if step is not None else None
    watched = supervision is not None and supervision.watches(str(event.get("step_id")))
    rules = supervision.rules if supervision is not None and watched else ()
    return Loop(
        run_id=str(event["run_id"]),
        step_id=str(event.get("step_id")),
        visit=event.get("visit") or 1,
        parent=event.get("parent"),
        watched=watched,
        numbers={
            "iteration": 0,
            "max_iterations": shape.max_iterations if shape is not None else None,
            "tokens_used": 0,
            "token_budget": shape.token_budget if shape is not None else None,
            "tool_calls": dict.fromkeys((shape.tools if shape is not None else None) or (), 0),
            "undeclared_calls": 0,
            "repeated_tool": None,
            "repeats": 0,
            "unchanged": 0,
        },
        waiting=[(rule, rule.create()) for rule in rules],
    )


def _take(loop: Loop, event: Mapping[str, Any], told: Mapping[str, Any]) -> None:
    what, fields = told["type"], {key: value for key, value in told.items() if key != "type"}
    if what == "outcome":
        loop.exit = str(fields.get("signal"))
    elif what == "iteration":
        loop.numbers.update({name: fields.get(name, 0) for name in ("iteration", "tokens_used")})
    elif what == "tool_call":
        _count(loop.numbers, fields)
    if what in ("iteration", "tool_call"):
        loop.fired += _firing(loop, event, what, fields)


def _count(numbers: dict[str, Any], fields: Mapping[str, Any]) -> None:
    tool, calls = fields.get("tool"), numbers["tool_calls"]
    if tool in calls:
        calls[tool] += 1
    else:
        numbers["undeclared_calls"] += 1
    numbers["repeated_tool"] = tool if tool in calls else None
    numbers["repeats"], numbers["unchanged"] = fields.get("repeats", 1), fields.get("unchanged", 1)


def _firing(loop: Loop, event: Mapping[str, Any], what: str, fields: Mapping[str, Any]) -> Iterator[Fired]:
    for entry in tuple(loop.waiting):
        rule, watching = entry
        try:
            found = watching.check(what, fields, loop.numbers)
        except Exception as error:
            raise InputError(
                f"event {event.get('seq')}: rule {rule.number + 1} ({rule.kind.name}) raised "
                f"{type(error).__name__}: {error}; these events may come from another version",
                [(str(event.get("seq")), f"rule {rule.kind.name} raised {type(error).__name__}")],
            ) from error
        if found:
            loop.waiting.remove(entry)
            yield Fired(
                seq=event.get("seq") or 0,
                number=rule.number,
                rule=rule.kind.name,
                then=rule.then,
                found=str(found),
                iteration=fields.get("iteration"),
            )
