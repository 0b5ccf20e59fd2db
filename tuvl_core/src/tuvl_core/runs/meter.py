"""What a run consumes."""

from __future__ import annotations

__all__ = ["Meter"]


class Meter:
    """Counts what a step consumes, and adds it to every enclosing meter up to the run's."""

    __slots__ = ("llm_attempts", "llm_calls", "parent", "tokens", "tool_calls")

    def __init__(self, parent: Meter | None = None) -> None:
        self.tokens = 0
        self.llm_calls = 0
        self.llm_attempts = 0
        self.tool_calls = 0
        self.parent = parent

    def add(self, *, tokens: int = 0, llm_calls: int = 0, llm_attempts: int = 0, tool_calls: int = 0) -> None:
        """Add to this meter and to every one around it."""
        meter: Meter | None = self
        while meter is not None:
            meter.tokens += tokens
            meter.llm_calls += llm_calls
            meter.llm_attempts += llm_attempts
            meter.tool_calls += tool_calls
            meter = meter.parent

    def to_dict(self) -> dict[str, int]:
        """The counts as JSON-ready data."""
        return {
            "tokens": self.tokens,
            "llm_calls": self.llm_calls,
            "llm_attempts": self.llm_attempts,
            "tool_calls": self.tool_calls,
        }
