"""The kind AutonomousAgent: the bounded tool loop."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tuvl_core import (
    Capabilities,
    Child,
    Cost,
    Diagnostic,
    Effects,
    Keys,
    LoopShape,
    PlanView,
    Signals,
    StepCall,
    StepKind,
    StepResult,
    StepView,
)
from tuvl_kinds_agent.bounds import output_key_of, worst_effects, written_by
from tuvl_kinds_agent.checks import check_autonomous_agent
from tuvl_kinds_agent.config import AutonomousAgentConfig
from tuvl_kinds_agent.outcome import RESERVED_EXITS

if TYPE_CHECKING:
    from tuvl_kinds_agent.prepared import Prepared

__all__ = ["AutonomousAgent"]


class AutonomousAgent(StepKind):
    """A language model that chooses among declared tools, turn by turn, until it is done or bounded."""

    name = "AutonomousAgent"
    Config = AutonomousAgentConfig
    progress_channel = "agent_progress"
    composite = True
    capabilities = Capabilities(model=True)

    def signals(self, step: StepView, plan: PlanView) -> Signals:
        """The declared outcomes, else `default`; and the reserved exits."""
        return Signals(*(step.config.agent.outcome.enum or ("default",)), *RESERVED_EXITS)

    def children(self, step: StepView, plan: PlanView) -> Sequence[Child]:
        """The tools."""
        return [
            Child(entry.ref, "tool", ("agent", "tools", index, "ref"), entry.parameters, entry.reveal)
            for index, entry in enumerate(step.config.agent.tools)
            if entry.ref and entry.ref != step.id
        ]

    def output_key(self, step: StepView, plan: PlanView) -> str:
        """Where the result goes."""
        return output_key_of(step)

    def writes(self, step: StepView, plan: PlanView) -> Keys:
        """The result, and what tools with `writes_context` write."""
        return written_by(step, plan)

    def model_writes(self, step: StepView, plan: PlanView) -> Keys:
        """All of it: the result, and what tools make of the model's arguments."""
        return written_by(step, plan)

    def effects(self, step: StepView, plan: PlanView) -> Effects:
        """As harmful as its most harmful tool; a model call by itself changes nothing."""
        return worst_effects(step, plan)

    def cost(self, step: StepView, plan: PlanView) -> Cost:
        """So many turns, each a model call with its attempts and the tool calls that one answer can hold."""
        from tuvl_kinds_agent.costs import cost_of_loop

        return cost_of_loop(step, plan)

    def loop(self, step: StepView, plan: PlanView) -> LoopShape:
        """Its turns, its budget and its tools."""
        from tuvl_kinds_agent.bounds import shape_of_loop

        return shape_of_loop(step, plan)

    def validate(self, step: StepView, plan: PlanView) -> Iterable[Diagnostic]:
        """Check instructions, tools, exits and their routes."""
        return list(check_autonomous_agent(step, plan))

    def prepare(self, step: StepView, plan: PlanView) -> Prepared:
        """Find the model, read the instructions, build the tools."""
        from tuvl_kinds_agent.prepared import prepare

        return prepare(step, plan)

    async def run(self, call: StepCall) -> StepResult:
        """Loop until an exit."""
        import asyncio  # which checking a project can do without

        from tuvl_kinds_agent.loop import aborted, begin, conclude, take_turns

        loop = begin(call)
        try:
            return conclude(loop, await take_turns(loop))
        except asyncio.CancelledError:
            if not loop.handle.take_forced():
                raise
            return conclude(loop, aborted(loop.handle.control.aborted))
        finally:
            loop.handle.close()
