"""The kind AutonomousAgent: the bounded tool loop."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tuvl_core import (
    Capabilities,
    Child,
    CodecError,
    Cost,
    Diagnostic,
    Effects,
    Keys,
    PlanView,
    Signals,
    StepCall,
    StepError,
    StepKind,
    StepResult,
    StepView,
)
from tuvl_kinds_agent.bounds import cost_of, output_key_of, worst_effects, written_by
from tuvl_kinds_agent.checks import check_autonomous_agent
from tuvl_kinds_agent.config import AutonomousAgentConfig
from tuvl_kinds_agent.control import directives_at_turn
from tuvl_kinds_agent.limits import over_budget
from tuvl_kinds_agent.messages import context_message, steer_message
from tuvl_kinds_agent.outcome import RESERVED_EXITS
from tuvl_kinds_agent.prepared import Prepared, prepare
from tuvl_kinds_agent.report import Report, loop_numbers
from tuvl_kinds_agent.state import Exit, Loop, conclude
from tuvl_kinds_agent.turn import take_turn, traced_turn
from tuvl_models import ChatRequest

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
            Child(entry.ref, "tool", ("agent", "tools", index, "ref"))
            for index, entry in enumerate(step.config.agent.tools)
            if entry.ref and entry.ref != step.id
        ]

    def output_key(self, step: StepView, plan: PlanView) -> str:
        """Where the result goes."""
        return output_key_of(step)

    def writes(self, step: StepView, plan: PlanView) -> Keys:
        """The result, and what tools with `writes_context` write."""
        return written_by(step, plan)

    def effects(self, step: StepView, plan: PlanView) -> Effects:
        """As harmful as its most harmful tool; a model call by itself changes nothing."""
        return worst_effects(step, plan)

    def cost(self, step: StepView, plan: PlanView) -> Cost:
        """Model calls are bounded by the turns, unless a tool calls models too."""
        return cost_of(step, plan)

    def validate(self, step: StepView, plan: PlanView) -> Iterable[Diagnostic]:
        """Check instructions, tools, exits and their routes."""
        return list(check_autonomous_agent(step, plan))

    def prepare(self, step: StepView, plan: PlanView) -> Prepared:
        """Find the model, read the instructions, build the tools."""
        return prepare(step, plan)

    async def run(self, call: StepCall) -> StepResult:
        """Loop until an exit."""
        agent: Prepared = call.step.prepared
        messages = _first_messages(call, agent)
        refs = [tool.ref for tool in agent.tools.values()]
        numbers = loop_numbers(refs, agent.max_iterations, agent.token_budget)
        handle = call.open_loop(**numbers)
        try:
            request = ChatRequest(
                messages=messages,
                tools=agent.functions,
                outcomes=agent.outcomes,
                timeout_s=agent.timeout_s,
            )
            loop = Loop(call, agent, handle, Report(call, handle), messages, request)
            return conclude(loop, await _turns(loop))
        finally:
            handle.close()


def _first_messages(call: StepCall, agent: Prepared) -> list[dict[str, Any]]:
    try:
        context = context_message(call.context)
    except CodecError as error:
        raise StepError(f"the context cannot be shown to a model: {error}", type="no_wire_form") from None
    return [{"role": "system", "content": agent.system}, {"role": "user", "content": context}]


async def _turns(loop: Loop) -> Exit:
    """Take turns: directives first, then the budget, then the model."""
    call, handle, limit = loop.call, loop.handle, loop.agent.max_iterations
    take = traced_turn if call.run.traced else take_turn
    while loop.turn < limit:
        loop.turn += 1
        if handle.touched or call.run.handlers:
            directives = await directives_at_turn(call, handle, loop.turn)
            if directives is not None:
                if directives["aborted"] is not None:
                    return _aborted(directives["aborted"])
                loop.messages += [steer_message(text) for text in directives["steer"]]
        end = over_budget(loop) or await take(loop)
        if end is not None:
            return end
    if handle.abort_requested:
        return _aborted(handle.control.aborted)
    text = f"no final answer within {limit} turns"
    return Exit("max_iterations", error=text, error_type="max_iterations")


def _aborted(reason: str | None) -> Exit:
    return Exit("aborted", error=reason or "aborted", error_type="aborted")
