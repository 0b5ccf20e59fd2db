"""How a loop is seen from outside while it runs: events, log lines, counters, the handle's numbers.

Everything is built only for someone who listens, and nothing that goes wrong here ends a loop.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any, Final

from tuvl_core import LoopHandle, StepCall, counter, log_event

__all__ = ["Report", "loop_numbers"]

ITERATIONS: Final = counter("tuvl.agent", "tuvl.agent.iterations")
TOOL_CALLS: Final = counter("tuvl.agent", "tuvl.agent.tool_calls")
ABORTS: Final = counter("tuvl.agent", "tuvl.agent.aborts")
BUDGET_EXCEEDED: Final = counter("tuvl.agent", "tuvl.agent.budget_exceeded")

_log = logging.getLogger("tuvl.agent")
_step_log = logging.getLogger("tuvl.step")
MAX_FAILURE_CHARS: Final = 300


def loop_numbers(refs: Iterable[str], max_iterations: int, token_budget: int | None) -> dict[str, Any]:
    """The metadata a supervisor may see: numbers and declared names, never a value."""
    return {
        "iteration": 0,
        "max_iterations": max_iterations,
        "tokens_used": 0,
        "token_budget": token_budget,
        "tool_calls": dict.fromkeys(refs, 0),
        "undeclared_calls": 0,
        "repeated_tool": None,
        "repeats": 0,
        "unchanged": 0,
    }


class Report:
    """Tells about one loop.

    Args:
        call: The step's call.
        loop: Its handle.
    """

    __slots__ = ("_call", "_loop", "_muted", "_numbers", "_run", "_verbose")

    def __init__(self, call: StepCall, loop: LoopHandle) -> None:
        self._call = call
        self._loop = loop
        self._run = call.run
        self._numbers = loop.metadata
        self._verbose = _step_log.isEnabledFor(logging.INFO)
        self._muted = False

    def turn(self, iteration: int, tool_calls: int, tokens_used: int) -> None:
        """The model has answered a turn."""
        numbers = self._numbers
        numbers["iteration"], numbers["tokens_used"] = iteration, tokens_used
        if self._run.measured:
            ITERATIONS.add(1, self._labels())
        if self._run.sinks or self._verbose or self._loop.watched:
            fields = {
                "iteration": iteration,
                "tool_calls": tool_calls,
                "tokens_used": tokens_used,
            }
            self._tell("iteration", "autonomous_agent.turn", fields)

    def tool_call(
        self,
        iteration: int,
        tool: str,
        declared: bool,
        signal: str,
        in_a_row: tuple[int, int],
        error: str | None = None,
    ) -> None:
        """A call of a turn has its result.

        Args:
            iteration: The turn.
            tool: The tool's ref, or what the model called in its place.
            declared: Whether it is a declared tool.
            signal: The signal it left by.
            in_a_row: How many times in a row this very call has been made, this one included; and how many of
                those, up to this one, came to the same.
            error: Why it failed, if it did; it reaches who watches here and the log, and no event.
        """
        numbers = self._numbers
        if declared:
            numbers["tool_calls"][tool] += 1
        else:
            numbers["undeclared_calls"] += 1
        repeats, unchanged = in_a_row
        numbers["repeated_tool"] = tool if declared else None
        numbers["repeats"], numbers["unchanged"] = in_a_row
        if self._run.measured:
            TOOL_CALLS.add(1, self._labels())
        if self._run.sinks or self._verbose or self._loop.watched:
            fields: dict[str, Any] = {"iteration": iteration, "tool": tool, "signal": signal}
            if repeats > 1:
                fields["repeats"] = repeats
            if unchanged > 1:
                fields["unchanged"] = unchanged
            self._loop.failure = failure = self._line(error) if error is not None else None
            self._tell("tool_call", "autonomous_agent.tool_call", fields)
            if failure is not None:
                self._loop.failure = None
                self._write(logging.DEBUG, "autonomous_agent.tool_failed", {**fields, "error": failure})

    def exit(self, iteration: int, signal: str, abnormal: str | None) -> None:
        """The loop is over.

        Args:
            iteration: The turn it ended at.
            signal: The exit.
            abnormal: Why, if it is no exit that the model chose.
        """
        if signal == "aborted":
            ABORTS.add(1, self._labels())
        elif signal == "budget_exceeded":
            BUDGET_EXCEEDED.add(1, self._labels())
        if abnormal is not None:
            fields = {"iteration": iteration, "signal": signal}
            self._write(logging.WARNING, f"autonomous_agent.{abnormal}", fields)
        if self._run.sinks:
            self._emit("outcome", {"iteration": iteration, "signal": signal})

    def warn(self, event: str, iteration: int, **fields: Any) -> None:
        """Something that a person should know and that ends nothing."""
        self._write(logging.WARNING, event, {"iteration": iteration, **fields})

    def _line(self, error: str) -> str:
        """A failure in one line without secrets, never long."""
        text = " ".join(self._run.scrub(error).split())
        return text if len(text) <= MAX_FAILURE_CHARS else f"{text[:MAX_FAILURE_CHARS]}…"

    def _labels(self) -> dict[str, str]:
        return {"tuvl.workflow.name": self._call.workflow, "tuvl.agent.step_id": self._call.step.id}

    def _tell(self, type: str, event: str, fields: dict[str, Any]) -> None:
        if self._run.sinks:
            self._emit(type, fields)
        if self._verbose:
            self._write(logging.INFO, event, fields)
        if self._loop.watched:
            self._loop.advanced(type, fields)

    def _emit(self, type: str, fields: Mapping[str, Any]) -> None:
        try:
            self._call.progress(type, fields)
        except Exception:
            if not self._muted:
                self._muted = True
                _log.warning("progress of step %s failed", self._call.step.id, exc_info=True)

    def _write(self, level: int, event: str, fields: Mapping[str, Any]) -> None:
        try:
            log_event(self._call.log, level, event, {"step_id": self._call.step.id, **fields})
        except Exception:
            self._verbose = False
