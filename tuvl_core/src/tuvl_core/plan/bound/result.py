"""What is told of a bound: how much, by which way, and why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import attrs

from tuvl_core.kinds import Cost

__all__ = ["QUANTITIES", "Leg", "QuantityBound", "RunBound"]

QUANTITIES: Final = ("model_calls", "tool_calls", "tokens", "seconds", "money")
"""What is bounded: the fields of `Cost`, in the order in which they are told."""


@attrs.frozen
class Leg:
    """A part of a way: steps one after another, and how many times in a row.

    Attributes:
        steps: Ids of the steps.
        times: How many times the run goes through them.
    """

    steps: tuple[str, ...]
    times: int = 1

    def __str__(self) -> str:
        shown = " → ".join(self.steps)
        if self.times == 1:
            return shown
        return f"({shown}) × {self.times}" if len(self.steps) > 1 else f"{shown} × {self.times}"


@attrs.frozen(kw_only=True)
class QuantityBound:
    """The most of one quantity that a run can use.

    Attributes:
        value: The bound; None where there is none.
        way: A way on which the steps reach it, as far as what is known of them is tight.
        why: Where there is no bound, the reasons by step; plugins' sections stand under `spec.<key>`.
        limited_by: The key of the workflow that holds it lower than the steps by themselves.
        repeated: Whether it holds the repetitions of a run that another one got in the way of.
    """

    value: float | None
    way: tuple[Leg, ...] = ()
    why: Mapping[str, str] = attrs.field(factory=dict)
    limited_by: str | None = None
    repeated: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The bound as JSON-ready data."""
        found: dict[str, Any] = {"bound": self.value, "unbounded": dict(self.why) if self.value is None else {}}
        found["path"] = [{"steps": list(leg.steps), "times": leg.times} for leg in self.way]
        return {**found, "limited_by": self.limited_by, "includes_repetitions": self.repeated}


@attrs.frozen(kw_only=True)
class RunBound:
    """The most that a run of a workflow can cost.

    Attributes:
        steps: What one execution of each step costs at most, tools included, by id.
        run: What a run costs at most, by the names in `QUANTITIES`.
    """

    steps: Mapping[str, Cost]
    run: Mapping[str, QuantityBound]
