"""The keys of Agent and AutonomousAgent steps."""

from __future__ import annotations

from typing import Any, Literal

import attrs

from tuvl_core import Template
from tuvl_core import field as key

__all__ = [
    "AgentConfig",
    "AgentSpec",
    "AutonomousAgentConfig",
    "AutonomousAgentSpec",
    "ModelRetry",
    "Outcome",
    "Output",
    "Retry",
    "ToolEntry",
]

MODEL_DOC = "Name of an AgentModel document, or a model string with a `/`."


def _public(instance: Any, attribute: Any, value: str | None) -> None:
    if value is not None and (not value or value.startswith("_")):
        raise ValueError("must be a key of the context that does not begin with `_`")


# --- AutonomousAgent ------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class ToolEntry:
    """A step of this workflow that the model may call."""

    ref: str | None = key(default=None, source_text=True, refers="step", doc="Id of the step. Must be given.")
    description: str | None = key(
        default=None, prose=True, doc="What the model reads, where the step itself has no description."
    )
    parameters: dict[str, Any] | None = key(
        default=None, doc="JSON Schema of the arguments; without it, derived from the step."
    )
    writes_context: bool = key(default=False, doc="Whether what the step changes goes into the shared context.")
    reveal: tuple[str, ...] = key(
        default=(), source_text=True, doc="Secure fields of the result that the model may see."
    )


@attrs.frozen(kw_only=True)
class Outcome:
    """How an AutonomousAgent may end its work."""

    enum: tuple[str, ...] = key(default=(), source_text=True, doc="The exits the model chooses from; none: `default`.")
    output_key: str | None = key(
        default=None,
        source_text=True,
        validator=_public,
        doc="Context key of the result; `<id>_result` if not given.",
    )


@attrs.frozen(kw_only=True)
class ModelRetry:
    """How often a failing model call is tried, inside its timeout."""

    attempts: int = key(default=2, min=1, doc="Tries together.")
    backoff: float = key(default=1.0, min=0, doc="Seconds before the second try; doubled each time.")


@attrs.frozen(kw_only=True)
class AutonomousAgentSpec:
    """The loop: model, instructions, tools, exits and bounds."""

    model: str | None = key(default=None, refers="AgentModel", doc=f"{MODEL_DOC} Must be given.")
    steering: str | None = key(
        default=None,
        prose=True,
        lookalikes=("goal", "system", "prompt", "instructions"),
        doc="Persistent instruction: the model always follows it.",
    )
    steering_files: tuple[str, ...] = key(
        default=(), doc="Markdown files followed like `steering`, by paths from the root."
    )
    skills: tuple[str, ...] = key(default=(), doc="Markdown files that the model applies when they are relevant.")
    tools: tuple[ToolEntry, ...] = key(default=(), doc="The steps the model may call: its whole set of actions.")
    outcome: Outcome = key(factory=Outcome, doc="The exits, and where the result goes.")
    max_iterations: int = key(default=8, min=1, doc="The most turns, each one model call.")
    token_budget: int | None = key(
        default=None, min=1, doc="The most tokens, inner agents included; reaching it ends the loop."
    )
    timeout: float | None = key(default=None, above=0, doc="Seconds for one model call with its retries.")
    retry: ModelRetry | None = key(default=None, doc="Retries of a model call.")
    goal: Any = key(default=None, doc="Not a key: write `steering`.")


@attrs.frozen(kw_only=True)
class AutonomousAgentConfig:
    """The keys of an AutonomousAgent step."""

    agent: AutonomousAgentSpec = key(doc="The agent.")


# --- Agent ----------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Output:
    """What becomes of an Agent's answer."""

    format: Literal["text", "json"] = key(
        default="text", doc="`text`: kept as it is; `json`: one object, whose fields are merged."
    )
    map: dict[str, str] | None = key(
        default=None, source_text=True, doc="Field of the answer to context key; only these are taken."
    )
    signal_from: str | None = key(
        default=None, source_text=True, doc="Field of the answer whose value is the signal, where it is routed."
    )


@attrs.frozen(kw_only=True)
class Retry:
    """When an Agent asks its model again."""

    attempts: int = key(default=1, min=1, doc="Tries together.")
    on: tuple[str, ...] = key(default=("parse_error", "timeout"), doc="After what: `parse_error`, `timeout`.")
    backoff: float = key(default=1.0, min=0, doc="Seconds before the second try; doubled each time.")


@attrs.frozen(kw_only=True)
class AgentSpec:
    """One completion: model, prompt, and what becomes of the answer."""

    model: str | None = key(default=None, refers="AgentModel", doc=f"{MODEL_DOC} Must be given.")
    system: Template[str] | None = key(default=None, prose=True, doc="The system prompt.")
    prompt: Template[str] | None = key(default=None, prose=True, doc="What is asked.")
    context_injection: tuple[str, ...] = key(
        default=(), source_text=True, doc="Context keys that are sent along as one JSON object."
    )
    output: Output = key(factory=Output, doc="What becomes of the answer.")
    retry: Retry = key(factory=Retry, doc="When the model is asked again.")
    timeout: float | None = key(default=None, above=0, doc="Seconds for one try.")


@attrs.frozen(kw_only=True)
class AgentConfig:
    """The keys of an Agent step."""

    agent: AgentSpec = key(doc="The agent.")
