"""What a workflow and its steps look like once they are typed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import attrs

from tuvl_core.diagnostics import Location
from tuvl_core.documents import Document
from tuvl_core.structure import field

__all__ = [
    "END",
    "WORKFLOW",
    "Limits",
    "Metadata",
    "StepDefinition",
    "StepHead",
    "WorkflowBody",
    "WorkflowMetadata",
    "WorkflowSpec",
]

WORKFLOW: Final = "Workflow"
"""The document kind that the kernel itself brings."""

END: Final = "END"
"""The target of a route that completes the run."""


@attrs.frozen(kw_only=True)
class Metadata:
    """What every document says about itself."""

    name: str = field(source_text=True)
    """The name that other documents and commands use."""
    schema_version: str = field(default="v1", source_text=True)
    """Tells several versions of a document of one name apart."""
    description: str = field(default="", prose=True)
    """For people: what it is for."""


@attrs.frozen(kw_only=True)
class WorkflowMetadata(Metadata):
    """What a workflow says about itself."""

    group: str | None = None
    """Under which heading listings show it."""
    required_scope: str | None = None
    """The scope that a caller needs to run it."""
    required_group: str | None = None
    """The group that a caller needs to be in to run it."""


@attrs.frozen(kw_only=True)
class Limits:
    """Bounds of a whole run, judges and nested agents included."""

    max_steps: int = field(default=1000, min=1)
    """The most steps a run may take."""
    timeout_s: float | None = field(default=None, above=0)
    """The most seconds a run may take."""
    token_budget: int | None = field(default=None, min=1)
    """The most tokens a run may use."""
    max_model_calls: int | None = field(default=None, min=0)
    """`tuvl validate` must be able to show that no run makes more model calls, attempts included."""
    max_tool_calls: int | None = field(default=None, min=0)
    """`tuvl validate` must be able to show that no run makes more tool calls."""
    max_cost_usd: float | None = field(default=None, min=0)
    """`tuvl validate` must be able to show that the model calls of no run cost more US dollars, at list prices."""


@attrs.frozen(kw_only=True)
class WorkflowBody:
    """The kernel's own keys under a workflow's `spec`, its steps aside."""

    input: dict[str, Any] | None = None
    """JSON Schema of the run's input."""
    limits: Limits = field(factory=Limits)
    """Bounds of the whole run."""
    output: str | None = field(default=None, source_text=True)
    """The context key that is the run's result."""
    reveal: tuple[str, ...] = field(default=(), source_text=True)
    """Secure values that may leave in result and context."""


@attrs.frozen(kw_only=True)
class StepHead:
    """The keys that every step has, whatever its kind."""

    id: str = field(source_text=True)
    """Names the step: letters, digits, `_` and `-`, at most 64."""
    kind: str | None = field(default=None, source_text=True)
    """What runs the step; the project's default kind where it is absent."""
    description: str | None = field(default=None, prose=True)
    """What a model reads when this step is its tool."""
    timeout: float | None = field(default=None, above=0)
    """The most seconds the step may take."""
    routes: dict[str, str] = field(factory=dict, source_text=True, refers="step")
    """Where each signal leads: a step's id, or `END`."""


@attrs.frozen(kw_only=True, eq=False)
class StepDefinition:
    """One step as it stands in the file.

    Attributes:
        id: Its id.
        kind: Name of its kind; the default kind's where the file names none.
        config: The kind's own keys, typed; None where they could not be read.
        description: What a model reads when this step is its tool.
        timeout: The most seconds it may take.
        routes: Signal to step id, or `END`.
        sections: Keys that plugins add to every step, typed.
        document: The document it stands in.
        path: Its place there.
    """

    id: str
    kind: str
    config: Any
    description: str | None = None
    timeout: float | None = None
    routes: Mapping[str, str] = attrs.field(factory=dict)
    sections: Mapping[str, Any] = attrs.field(factory=dict)
    document: Document = attrs.field(repr=False)
    path: tuple[str | int, ...]

    @property
    def kind_name(self) -> str:
        """Name of its kind."""
        return self.kind

    def locate(self, *path: str | int, key: bool = False, offset: int | None = None) -> Location:
        """The place of something below the step, or of the step itself.

        Args:
            path: Keys and indexes below the step.
            key: The place of the key, not of the value.
            offset: For text: the place of this character of it.
        """
        return self.document.locate((*self.path, *path), key=key, offset=offset)


@attrs.frozen(kw_only=True, eq=False)
class WorkflowSpec:
    """A workflow's typed body.

    Attributes:
        input: JSON Schema of the input, or None.
        limits: Bounds of a run.
        output: The context key that is the result, or None.
        reveal: Secure values that may leave in result and context.
        steps: Its steps in file order, also those whose own keys could not be read.
        sections: Keys that plugins add to a workflow, typed.
    """

    input: Mapping[str, Any] | None = None
    limits: Limits = attrs.field(factory=Limits)
    output: str | None = None
    reveal: tuple[str, ...] = ()
    steps: tuple[StepDefinition, ...] = ()
    sections: Mapping[str, Any] = attrs.field(factory=dict)
