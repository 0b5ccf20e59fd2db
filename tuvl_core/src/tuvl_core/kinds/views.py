"""A step and its workflow, as a kind's declarations see them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from tuvl_core.kinds.kind import StepKind

__all__ = ["PlanView", "StepView", "UsageMeter"]


class StepView(Protocol):
    """A step as its declarations see it: typed, not yet running."""

    @property
    def id(self) -> str:
        """Its id."""
        ...

    @property
    def kind_name(self) -> str:
        """Its kind, as it is written in documents."""
        ...

    @property
    def config(self) -> Any:
        """Its own keys, typed: an instance of the kind's `config`."""
        ...

    @property
    def description(self) -> str | None:
        """What it is for: what a model reads of it where it is a tool."""
        ...

    @property
    def routes(self) -> Mapping[str, str]:
        """Where each signal leads: a step's id, or `END`."""
        ...

    @property
    def timeout(self) -> float | None:
        """How long it may take, in seconds; None: as long as the run may."""
        ...

    @property
    def sections(self) -> Mapping[str, Any]:
        """What it says in sections that plugins bring, by key."""
        ...

    @property
    def on_spine(self) -> bool:
        """Whether runs walk over it; False where only another step's call reaches it: its routes never count."""
        ...

    @property
    def prepared(self) -> Any:
        """What `StepKind.prepare` returned; None before that."""
        ...

    def locate(self, *path: str | int) -> Any:
        """The `Location` of a key below the step's mapping, or of the step itself."""
        ...


class PlanView(Protocol):
    """A workflow as declarations see it."""

    @property
    def workflow(self) -> str:
        """The workflow's name."""
        ...

    @property
    def steps(self) -> Mapping[str, StepView]:
        """Its steps that can be read, by id, in file order."""
        ...

    @property
    def project(self) -> Any:
        """The `Project` the workflow belongs to."""
        ...

    def kind_of(self, step: StepView) -> StepKind:
        """The kind that runs `step`."""
        ...

    def tool_parameters(self, step: StepView) -> dict[str, Any]:
        """JSON Schema of a step's arguments as a tool: declared, overridden by a hook, or derived."""
        ...


class UsageMeter(Protocol):
    """Counts what a step consumes; whatever is added counts in every enclosing loop and the run."""

    tokens: int
    llm_calls: int
    llm_attempts: int
    tool_calls: int

    def add(self, *, tokens: int = 0, llm_calls: int = 0, llm_attempts: int = 0, tool_calls: int = 0) -> None:
        """Count what has just been used."""
        ...
