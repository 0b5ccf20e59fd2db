"""What an AutonomousAgent declares about itself from what its tools declare.

An agent may have agents for tools; where they form a circle, which is an error of its own, it is cut.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tuvl_core import Effects, Keys, LoopShape, PlanView, ProjectError, StepView, declared
from tuvl_kinds_agent.config import AutonomousAgentConfig, AutonomousAgentSpec

__all__ = ["output_key_of", "shape_of_loop", "worst_effects", "written_by"]

_BY_HARM: Final = (Effects.PURE, Effects.READS, Effects.WRITES, Effects.IRREVERSIBLE)


def output_key_of(step: StepView) -> str:
    """The context key of an AutonomousAgent's result."""
    agent: AutonomousAgentSpec = step.config.agent
    return agent.outcome.output_key or f"{step.id}_result"


def worst_effects(step: StepView, plan: PlanView) -> Effects:
    """The most harmful effects among a model call and all that tools, at any depth, do."""
    found: list[Effects] = [Effects.READS]
    found += [_of(tool, "effects", plan) for tool in _walk(step, plan) if not _is_agent(tool)]
    return max(found, key=_BY_HARM.index)


def written_by(step: StepView, plan: PlanView) -> Keys:
    """The result's key, and what tools that write the context write."""
    names, open = {output_key_of(step)}, False
    for tool in _walk(step, plan, writing=True):
        if _is_agent(tool):
            names.add(output_key_of(tool))
        else:
            keys: Keys = _of(tool, "writes", plan)
            names |= keys.names
            open = open or keys.open
    return Keys(*names, open=open)


def shape_of_loop(step: StepView, plan: PlanView) -> LoopShape:
    """What bounds the turns of an AutonomousAgent."""
    agent: AutonomousAgentSpec = step.config.agent
    return LoopShape(
        max_iterations=agent.max_iterations,
        token_budget=agent.token_budget,
        tools=tuple(entry.ref for entry in agent.tools if entry.ref),
        calls_per_turn=_calls_per_turn(agent.model, plan),
    )


def _calls_per_turn(model: str | None, plan: PlanView) -> int | None:
    from tuvl_models import model_limits, resolve_model

    if not model:
        return None
    try:
        return model_limits(plan.project, resolve_model(plan.project, model).settings).calls_in_an_answer
    except ProjectError:
        return None


def _walk(step: StepView, plan: PlanView, *, writing: bool = False) -> Iterator[StepView]:
    """Every tool below an agent, once; those of inner agents after the agent itself."""
    seen, waiting = {step.id}, [step]
    while waiting:
        for entry in waiting.pop().config.agent.tools:
            tool = plan.steps.get(entry.ref) if entry.ref else None
            if tool is None or tool.id in seen or (writing and not entry.writes_context):
                continue
            seen.add(tool.id)
            yield tool
            if _is_agent(tool):
                waiting.append(tool)


def _is_agent(step: StepView) -> bool:
    return isinstance(step.config, AutonomousAgentConfig)


def _of(step: StepView, what: str, plan: PlanView) -> Any:
    return declared(plan.kind_of(step), what, step, plan)
