"""The document AgentModel: a model with its settings, under a name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import attrs

from tuvl_core import Secret
from tuvl_core import field as key

if TYPE_CHECKING:
    from tuvl_core import Project

__all__ = ["AgentModelSpec", "ModelSettings", "RetrySpec"]

ToolCalling = Literal["auto", "native", "schema"]


@attrs.frozen(kw_only=True)
class RetrySpec:
    """How often a failing model call is tried, inside its timeout."""

    attempts: int = key(default=2, min=1, doc="Tries together.")
    backoff: float = key(default=1.0, min=0, doc="Seconds before the second try; doubled each time.")


@attrs.frozen(kw_only=True)
class AgentModelSpec:
    """A language model and how it is asked."""

    model: str = key(min=1, doc="Model string: `openai/gpt-4o-mini`, `local/smollm2-135m`, `scripted/name`.")
    api_base: str | None = key(default=None, doc="Base URL, where it is not the provider's own.")
    api_key: Secret | None = key(default=None, doc="Key; without it, the provider's own variable counts.")
    temperature: float | None = key(default=None, min=0, doc="How freely it answers; 0: as likely as can be.")
    max_tokens: int | None = key(default=None, min=1, doc="The most tokens of one answer.")
    timeout: float = key(default=120.0, above=0, doc="Seconds for one call with its retries.")
    tool_calling: ToolCalling = key(
        default="auto", doc="How tools are offered: `native`, `schema`, or `auto`: as the family declares."
    )
    retry: RetrySpec = key(factory=RetrySpec, doc="Retries of a failing call.")


@attrs.frozen(kw_only=True, eq=False)
class ModelSettings:
    """What a model family makes a model of: the document's keys, and where it is used.

    Attributes:
        name: Name of the AgentModel document; None for a bare model string.
        model: The model string.
        api_base: Base URL, or None.
        api_key: Key, or None.
        temperature: As in the document.
        max_tokens: As in the document.
        timeout: Seconds for one call with its retries.
        tool_calling: As in the document.
        retry: As in the document.
        project: The project it is used in.
    """

    model: str
    name: str | None = None
    api_base: str | None = None
    api_key: Secret | None = attrs.field(default=None, repr=False)
    temperature: float | None = None
    max_tokens: int | None = None
    timeout: float = 120.0
    tool_calling: ToolCalling = "auto"
    retry: RetrySpec = attrs.field(factory=RetrySpec)
    project: Project | None = attrs.field(default=None, repr=False)

    @property
    def rest(self) -> str:
        """What stands behind the family's prefix and its `/`."""
        return self.model.partition("/")[2]

    @classmethod
    def of(cls, spec: AgentModelSpec, name: str | None, project: Any) -> ModelSettings:
        """Take the keys of a document."""
        return cls(name=name, project=project, **attrs.asdict(spec, recurse=False))
