"""What one run of an AutonomousAgent step holds, and how it may end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

from tuvl_core import UNSET, LoopHandle, StepCall, StepResult, UsageMeter
from tuvl_kinds_agent.report import Report

if TYPE_CHECKING:
    from tuvl_kinds_agent.prepared import Prepared
    from tuvl_models import ChatRequest

__all__ = ["Exit", "Loop", "conclude", "failure"]

MAX_ERROR_CHARS: Final = 2000


@attrs.define
class Exit:
    """How a loop ends.

    Attributes:
        signal: One of the declared outcomes, `default`, or a reserved exit.
        value: What goes to the output key; UNSET on an abnormal exit.
        error: What went wrong, on an abnormal exit.
        error_type: Its short name, which also names its log event.
    """

    signal: str
    value: Any = UNSET
    error: str | None = None
    error_type: str | None = None


@attrs.define(eq=False)
class Loop:
    """The state of one loop. Nothing of it outlives the step.

    Attributes:
        call: The step's call.
        agent: What was prepared when the workflow was compiled.
        handle: How supervisors see and reach the loop.
        report: How everybody else sees it.
        messages: The history; it only grows.
        request: What each turn sends: it holds the history itself.
        usage: What it has used.
        turn: The turn, from 1.
        dispatched: Tool calls that were dispatched.
        call_ids: Every tool call id in the history.
        last_call: Ref and arguments of the last call.
        last_result: What the model was told of it.
        repeats: How many times in a row that call was made.
        unchanged: How many times in a row it gave that result.
        estimated: Estimated tokens of the history up to `estimated_upto`, where a provider tells none.
        estimated_upto: How many messages they cover.
        warned: Whether it was said that the provider reports no usage.
    """

    call: StepCall
    agent: Prepared
    handle: LoopHandle
    report: Report
    messages: list[dict[str, Any]]
    request: ChatRequest
    usage: UsageMeter = attrs.field(init=False)
    turn: int = 0
    dispatched: int = 0
    call_ids: set[str] = attrs.field(factory=set)
    last_call: tuple[str, Any] = ("", None)
    last_result: str = ""
    repeats: int = 0
    unchanged: int = 0
    estimated: int = 0
    estimated_upto: int = 0
    warned: bool = False

    def __attrs_post_init__(self) -> None:
        self.usage = self.call.usage

    def count_call(self, ref: str, arguments: Any, result: str) -> None:
        """Count a call: how many times in a row it has been made now, and how many it has come to the same.

        Args:
            ref: What was called.
            arguments: Its arguments as JSON has them, in whatever order; the text itself of what is no JSON.
            result: What the model is told of it.
        """
        same = self.last_call[0] == ref and _same(self.last_call[1], arguments)
        self.repeats = self.repeats + 1 if same else 1
        self.unchanged = self.unchanged + 1 if same and result == self.last_result else 1
        self.last_call, self.last_result = (ref, arguments), result


def _same(one: Any, other: Any) -> bool:
    """Whether two values are one in JSON, whatever the order of their keys: `true` is not 1, as it is in Python."""
    try:
        return bool(one == other) and _of_same_types(one, other)
    except RecursionError:
        return False


def _of_same_types(one: Any, other: Any) -> bool:
    """Whether equal values hold booleans at the same places."""
    if isinstance(one, dict):
        return all(_of_same_types(value, other[key]) for key, value in one.items())
    if isinstance(one, (list, tuple)):
        return all(map(_of_same_types, one, other))
    return isinstance(one, bool) == isinstance(other, bool)


def failure(loop: Loop, error_type: str, message: str) -> Exit:
    """The `error` exit; its text is bounded and holds no key or header."""
    text: str = loop.call.run.scrub(message)
    if len(text) > MAX_ERROR_CHARS:
        text = f"{text[:MAX_ERROR_CHARS]}… [cut, {len(text)} characters]"
    return Exit("error", error=text, error_type=error_type)


def conclude(loop: Loop, end: Exit) -> StepResult:
    """Turn an exit into the step's result: what tools were allowed to write is kept on every exit."""
    loop.report.exit(loop.turn, end.signal, end.error_type)
    writes, deletes = loop.call.context.changes()  # type: ignore[attr-defined]
    if end.value is not UNSET:
        key = loop.agent.output_key
        writes[key] = end.value
        deletes = tuple(name for name in deletes if name != key)
    return StepResult(end.signal, writes, deletes, end.error, end.error_type)
