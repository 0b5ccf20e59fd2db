"""What every run of an AutonomousAgent step would repeat, done once at compile time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from tuvl_core import PlanView, StepView
from tuvl_kinds_agent.bounds import output_key_of
from tuvl_kinds_agent.config import AutonomousAgentSpec
from tuvl_kinds_agent.messages import system_prompt
from tuvl_kinds_agent.steering import load_guides
from tuvl_kinds_agent.tools import Tool, build_tools
from tuvl_models import BoundModel, resolve_model

__all__ = ["Prepared", "prepare"]


@attrs.frozen(kw_only=True)
class Prepared:
    """An AutonomousAgent step, ready to run.

    Attributes:
        model: Whom it asks.
        system: The system prompt.
        tools: What the model may call, by wire name.
        functions: The same as the model is told of them.
        outcomes: The exits the model chooses from.
        output_key: Where the result goes.
        max_iterations: The most turns.
        token_budget: The most tokens.
        timeout_s: The limit of one model call; None: the model's own.
        tool_timeout_s: The limit of one tool call.
    """

    model: BoundModel
    system: str
    tools: Mapping[str, Tool]
    functions: tuple[dict[str, Any], ...]
    outcomes: tuple[str, ...]
    output_key: str
    max_iterations: int
    token_budget: int | None
    timeout_s: float | None
    tool_timeout_s: float


def prepare(step: StepView, plan: PlanView) -> Prepared:
    """Find the model, read the instructions, build the tools."""
    agent: AutonomousAgentSpec = step.config.agent
    assert agent.model is not None  # a structure error otherwise
    root, project = plan.project.root, plan.project
    model = resolve_model(project, agent.model)
    if agent.retry is not None:
        model = model.with_retry(agent.retry.attempts, agent.retry.backoff)
    guides = load_guides(root, plan.workflow, step.id, "steering", agent.steering_files)
    skills = load_guides(root, plan.workflow, step.id, "skills", agent.skills)
    tools = build_tools(agent.tools, plan)
    # A model that is offered a schema is told of the answer's form together with the tools.
    shown = agent.outcome.enum if model.tool_calling == "native" else ()
    return Prepared(
        model=model,
        system=system_prompt(agent.steering, guides, skills, shown),
        tools=tools,
        functions=tuple(tool.function for tool in tools.values()),
        outcomes=agent.outcome.enum,
        output_key=output_key_of(step),
        max_iterations=agent.max_iterations,
        token_budget=agent.token_budget,
        timeout_s=agent.timeout,
        tool_timeout_s=project.settings["agent.tool_timeout_s"],
    )
