"""The kinds of rules that ship."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import attrs

from tuvl_core import field as key
from tuvl_supervisor.kinds import RuleKind, called

if TYPE_CHECKING:
    from tuvl_core import LoopShape

__all__ = ["BUILTIN"]


@attrs.frozen(kw_only=True)
class Repeated:
    """Keys of `tool_repeated` and `no_progress`."""

    tool: str | None = key(default=None, refers="step", doc="The tool's ref; without it, any.")
    count: int = key(default=3, min=2, doc="How many times in a row.")


@attrs.frozen(kw_only=True)
class Fraction:
    """Keys of `budget_fraction`."""

    gt: float = key(min=0, doc="The part of `token_budget` that may be used: 0.8 fires above 80 %.")


@attrs.frozen(kw_only=True)
class Reached:
    """Keys of `iteration_reached`."""

    gte: int = key(min=1, doc="The turn from which it fires.")


class _InARow:
    """Fires where the agent has counted the same thing so many times in a row."""

    def __init__(self, config: Repeated, counted: str, said: str) -> None:
        self._tool, self._count = config.tool, config.count
        self._counted, self._said = counted, said

    def check(self, what: str, fields: Mapping[str, Any], loop: Mapping[str, Any]) -> str | None:
        """Look at a tool call."""
        if what != "tool_call" or (times := fields.get(self._counted, 1)) < self._count:
            return None
        tool = fields.get("tool")
        if self._tool is not None and tool != self._tool:
            return None
        return f"{called(tool, loop)} was called {times} times in a row {self._said}"


class _OverFraction:
    """Fires where more of the budget is used than that part of it."""

    def __init__(self, config: Fraction) -> None:
        self._gt = config.gt

    def check(self, what: str, fields: Mapping[str, Any], loop: Mapping[str, Any]) -> str | None:
        """Look at the tokens after a turn."""
        budget = loop.get("token_budget")
        if what != "iteration" or not budget or fields["tokens_used"] <= self._gt * budget:
            return None
        used = fields["tokens_used"]
        return f"{used} of {budget} tokens are used, more than {self._gt:g} of the budget"


class _AtTurn:
    """Fires at a turn."""

    def __init__(self, config: Reached) -> None:
        self._gte = config.gte

    def check(self, what: str, fields: Mapping[str, Any], loop: Mapping[str, Any]) -> str | None:
        """Look at the turn's number."""
        if what != "iteration" or fields["iteration"] < self._gte:
            return None
        most = loop.get("max_iterations")
        return f"turn {fields['iteration']}" + (f" of {most}" if most else "") + " is reached"


def _repeated_never(config: Repeated, shape: LoopShape) -> str | None:
    if config.tool is not None and shape.tools is not None and config.tool not in shape.tools:
        return f"{config.tool!r} is no tool of it"
    most = _most_calls(shape)
    return f"it makes {most} calls at most" if most is not None and config.count > most else None


def _repeated_hardly(config: Repeated, shape: LoopShape) -> str | None:
    turns = shape.max_iterations
    if turns is None or config.count <= turns:
        return None
    return f"it has {turns} turns at most, so one of them would have to hold the same call more than once"


def _most_calls(shape: LoopShape) -> int | None:
    if shape.max_iterations is None or shape.calls_per_turn is None:
        return None
    return shape.max_iterations * shape.calls_per_turn


def _fraction_never(config: Fraction, shape: LoopShape) -> str | None:
    return "it has no `token_budget`" if shape.token_budget is None else None


def _fraction_hardly(config: Fraction, shape: LoopShape) -> str | None:
    if config.gt < 1:
        return None
    return "a budget that is used up ends it by itself; give a part of it, such as 0.8"


def _reached_never(config: Reached, shape: LoopShape) -> str | None:
    most = shape.max_iterations
    return f"it has {most} turns at most" if most is not None and config.gte > most else None


BUILTIN: Final = (
    RuleKind(
        name="tool_repeated",
        config=Repeated,
        create=lambda config: _InARow(config, "repeats", "with the same arguments"),
        never=_repeated_never,
        hardly=_repeated_hardly,
    ),
    RuleKind(
        name="no_progress",
        config=Repeated,
        create=lambda config: _InARow(config, "unchanged", "with the same arguments and the same result"),
        never=_repeated_never,
        hardly=_repeated_hardly,
    ),
    RuleKind(
        name="budget_fraction",
        config=Fraction,
        create=_OverFraction,
        never=_fraction_never,
        hardly=_fraction_hardly,
    ),
    RuleKind(name="iteration_reached", config=Reached, create=_AtTurn, never=_reached_never),
)
