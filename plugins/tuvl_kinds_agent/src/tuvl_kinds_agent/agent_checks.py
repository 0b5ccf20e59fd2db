"""What can be wrong with an Agent step, beyond the shape of its keys."""

from __future__ import annotations

from collections.abc import Iterator

from tuvl_core import Diagnostic, PlanView, StepView
from tuvl_kinds_agent import codes
from tuvl_kinds_agent.config import AgentSpec
from tuvl_kinds_agent.findings import check_model, finding

__all__ = ["check_agent"]

RETRIED = ("parse_error", "timeout")


def check_agent(step: StepView, plan: PlanView) -> Iterator[Diagnostic]:
    """Every finding about one Agent step."""
    agent: AgentSpec = step.config.agent
    yield from check_model(agent.model, step, plan)
    if agent.prompt is None and agent.system is None and not agent.context_injection:
        message = "the agent has neither `system`, `prompt` nor `context_injection`: it asks nothing"
        yield finding(codes.NO_QUESTION, message, step, plan, ("agent",))
    yield from _output(agent, step, plan)
    for index, reason in enumerate(agent.retry.on):
        if reason not in RETRIED:
            message = f"{reason!r} is nothing to ask again after; it can be: {', '.join(RETRIED)}"
            yield finding(codes.BAD_RETRY, message, step, plan, ("agent", "retry", "on", index))
    if step.on_spine:
        yield from _routes(agent, step, plan)


def _output(agent: AgentSpec, step: StepView, plan: PlanView) -> Iterator[Diagnostic]:
    output = agent.output
    if output.format != "json":
        for key in ("map", "signal_from"):
            if getattr(output, key) is not None:
                message = f"`output.{key}` takes a field of the answer, and a text has none"
                hint = "add `format: json`"
                yield finding(codes.JSON_ONLY, message, step, plan, ("agent", "output", key), hint)
    for name, target in (output.map or {}).items():
        if not target or target.startswith("_"):
            message = f"{name!r} cannot go to {target!r}: keys with a leading `_` are the engine's"
            yield finding(codes.BAD_TARGET, message, step, plan, ("agent", "output", "map", name))


def _routes(agent: AgentSpec, step: StepView, plan: PlanView) -> Iterator[Diagnostic]:
    exits = ("timeout",) if agent.output.format == "text" else ("parse_error", "timeout")
    for signal in exits:
        if signal not in step.routes:
            message = f"`{signal}` has no route: the run fails when the agent leaves by it"
            hint = f"add `{signal}: <step id or END>` to the step's routes"
            place = ("routes",) if step.routes else ()
            yield finding(codes.UNROUTED_EXIT, message, step, plan, place, hint)
