"""The kind Agent: one completion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tuvl_core import (
    Capabilities,
    Cost,
    Diagnostic,
    Effects,
    Keys,
    PlanView,
    Signals,
    Sink,
    StepCall,
    StepKind,
    StepResult,
    StepView,
    reads_of,
)
from tuvl_kinds_agent.agent_checks import check_agent
from tuvl_kinds_agent.config import AgentConfig, AgentSpec

if TYPE_CHECKING:
    from tuvl_models import BoundModel

__all__ = ["Agent"]


class Agent(StepKind):
    """Ask a language model once, and keep its answer as text or as fields."""

    name = "Agent"
    Config = AgentConfig
    composite = True
    mutates_context = False
    effects = Effects.READS
    capabilities = Capabilities(model=True)

    def signals(self, step: StepView, plan: PlanView) -> Signals:
        """The fixed exits, of which a text has one less; with `signal_from`, whatever is routed."""
        output = step.config.agent.output
        routed = tuple(step.routes) if output.signal_from else ()
        exits = ("timeout",) if output.format == "text" else ("parse_error", "timeout")
        named = output.signal_from
        fallback = f"every value of `{named}` in the answer that has no route" if named else None
        return Signals("default", *exits, *routed, fallback=fallback)

    def output_key(self, step: StepView, plan: PlanView) -> str | None:
        """The key of a text; fields have keys of their own."""
        return f"{step.id}_result" if step.config.agent.output.format == "text" else None

    def reads(self, step: StepView, plan: PlanView) -> Keys:
        """First names of what the prompts read, and the keys sent along."""
        agent: AgentSpec = step.config.agent
        roots = {read.path[0] for text in (agent.system, agent.prompt) for read in reads_of(text)}
        return Keys(*roots, *agent.context_injection)

    def writes(self, step: StepView, plan: PlanView) -> Keys:
        """The text's key or the mapped ones; without `map`, whatever fields the answer has."""
        output = step.config.agent.output
        if output.format == "text":
            return Keys(f"{step.id}_result")
        return Keys(*output.map.values()) if output.map is not None else Keys.anything()

    def sinks(self, step: StepView, plan: PlanView) -> Sequence[Sink]:
        """The prompts."""
        agent: AgentSpec = step.config.agent
        return [
            Sink("prompt", tuple(read.path[0] for read in reads_of(text)), ("agent", key))
            for key, text in (("system", agent.system), ("prompt", agent.prompt))
        ]

    def cost(self, step: StepView, plan: PlanView) -> Cost:
        """As many questions as tries, each with the model's own attempts."""
        from tuvl_kinds_agent.costs import cost_of_question

        return cost_of_question(step, plan)

    def validate(self, step: StepView, plan: PlanView) -> Iterable[Diagnostic]:
        """Check model, prompts, output and routes."""
        return list(check_agent(step, plan))

    def prepare(self, step: StepView, plan: PlanView) -> BoundModel:
        """Find the model."""
        from tuvl_models import resolve_model

        model: Any = step.config.agent.model
        return resolve_model(plan.project, model)

    async def run(self, call: StepCall) -> StepResult:
        """Ask, and take the answer apart."""
        from tuvl_kinds_agent.completion import complete
        from tuvl_kinds_agent.parsing import parse_reply

        outcome = await complete(call)
        return outcome if isinstance(outcome, StepResult) else parse_reply(call, outcome)
