"""What a run's events come to: where it is, what its agents do, and who has intervened."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, Final

import attrs

__all__ = ["Line", "RunState"]

_MOST_LINES: Final = 200


@attrs.frozen(kw_only=True)
class Line:
    """One line of what happened.

    Attributes:
        seq: The event's number.
        time: Its time of day, UTC.
        what: `step`, `turn`, `tool`, `exit`, `supervisor` or `run`.
        step: The step it is about.
        text: What happened.
        signal: The signal that it left by, if it left.
        inner: Whether it is inside the tool call of another step.
    """

    seq: int
    time: str
    what: str
    step: str
    text: str
    signal: str = ""
    inner: bool = False


@attrs.define
class RunState:
    """A run as its events tell it; feed them in their order.

    Attributes:
        seq: The number of the last event.
        current: The step that it is at, or None.
        left: By what signal each step was left last.
        tools: How often each tool was called.
        active: Tools and steps that something happens in right now.
        lines: What happened, the latest last.
        missed: How many events were no longer kept.
        over: The last event, once it has come.
    """

    seq: int = 0
    current: str | None = None
    left: dict[str, str] = attrs.field(factory=dict)
    tools: dict[str, int] = attrs.field(factory=dict)
    active: str | None = None
    lines: deque[Line] = attrs.field(factory=lambda: deque(maxlen=_MOST_LINES))
    missed: int = 0
    over: Mapping[str, Any] | None = None

    def feed(self, event: Mapping[str, Any]) -> None:
        """Take one event."""
        self.missed += event["seq"] - self.seq - 1
        self.seq = event["seq"]
        match event["type"]:
            case "step":
                self._step(event)
            case "progress":
                self._progress(event)
            case _:
                self.over, self.current, self.active = event, None, None
                error = event.get("error") or {}
                text = f"{event['status']}: {error['message']}" if error else str(event["status"])
                self._line(event, "run", text)

    def _step(self, event: Mapping[str, Any]) -> None:
        id, signal = event["step_id"], event["signal"]
        if signal == "running":
            self.current, self.active = id, None
            self._line(event, "step", "begins")
        else:
            self.left[id], self.active = signal, None
            self._line(event, "step", "left", signal)

    def _progress(self, event: Mapping[str, Any]) -> None:
        told = event["snapshot"].get("agent_progress")
        if not isinstance(told, Mapping):
            return
        match told.get("type"):
            case "iteration":
                calls = _counted(told.get("tool_calls", 0), "tool call")
                tokens = _counted(told.get("tokens_used", 0), "token")
                self._line(event, "turn", f"turn {told.get('iteration')}: {calls}, {tokens} so far")
            case "tool_call":
                tool = str(told.get("tool"))
                self.tools[tool] = self.tools.get(tool, 0) + 1
                self.active = tool
                again = f", {told['repeats']} times in a row" if told.get("repeats", 1) > 1 else ""
                self._line(event, "tool", f"{tool}{again}", str(told.get("signal")))
            case "outcome":
                self.active = None
                self._line(event, "exit", "ends", str(told.get("signal")))
            case "supervisor":
                by = f"rule {told['rule']}" if told.get("rule") else str(told.get("source"))
                self._line(event, "supervisor", f"{told.get('action')} by {by}")

    def _line(self, event: Mapping[str, Any], what: str, text: str, signal: str = "") -> None:
        self.lines.append(
            Line(
                seq=event["seq"],
                time=str(event["ts"])[11:19],
                what=what,
                step=event["step_id"] or "",
                text=text,
                signal=signal,
                inner=event.get("parent") is not None,
            )
        )


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
