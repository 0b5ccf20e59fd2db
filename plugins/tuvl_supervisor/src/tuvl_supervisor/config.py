"""What stands under `spec.supervisor` of a workflow."""

from __future__ import annotations

from typing import Any, Final, Literal

import attrs

from tuvl_core import field as key

__all__ = ["ACTIONS", "Action", "OnJudgeError", "RuleHead", "SupervisorSpec"]

Action = Literal["pause", "steer", "abort"]
OnJudgeError = Literal["ignore", "pause", "abort"]
ACTIONS: Final = ("pause", "steer", "abort")


@attrs.frozen(kw_only=True)
class RuleHead:
    """What every rule has, whatever its kind."""

    when: str = key(
        min=1, doc="The kind of rule: `tool_repeated`, `budget_fraction`, `iteration_reached`, `no_progress`."
    )
    then: Action | None = key(default=None, doc="What to do when it is violated; without it, `on_violation`.")


@attrs.frozen(kw_only=True)
class SupervisorSpec:
    """Rules, and a judge, that watch the workflow's agents while they run."""

    watches: tuple[str, ...] = key(default=(), refers="step", doc="Ids of the agents it watches; without it, all.")
    rules: tuple[dict[str, Any], ...] = key(
        default=(), doc="What is looked at after each turn and each tool call: `when`, `then`, and the kind's own keys."
    )
    on_violation: Action = key(default="pause", doc="What follows a verdict that does not pass: pause, steer or abort.")
    steer_message: str | None = key(
        default=None, prose=True, min=1, max=8000, doc="The guidance of `steer`; without it, what was found."
    )
    model: str | None = key(
        default=None, min=1, refers="AgentModel", doc="The judge: an AgentModel, or a model string."
    )
    criteria: str | None = key(default=None, prose=True, min=1, doc="What the judge judges by.")
    every_n_iterations: int = key(default=1, min=1, doc="After how many turns the judge is asked again.")
    on_judge_error: OnJudgeError = key(
        default="ignore", doc="What follows a judge that gives no verdict: ignore (fail open), pause or abort."
    )
