"""What a step of these kinds costs at most, from its bounds, its model's and those of its tools.

No contract bounds how many tools a turn may call; but each call is written with a token of the answer at least, so
that a known limit of the answer bounds them too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from tuvl_core import Cost, PlanView, ProjectError, StepView, declared
from tuvl_kinds_agent.config import AgentSpec, AutonomousAgentSpec

if TYPE_CHECKING:
    from tuvl_models import ModelLimits

__all__ = ["cost_of_loop", "cost_of_question"]


@attrs.frozen(kw_only=True)
class _Call:
    """The most that one model call takes, with its attempts. None: not known.

    Attributes:
        name: What people call the model.
        attempts: How often it is made.
        seconds: How long it takes with all of them.
        tokens: Tokens of the answer that counts, and its question.
        money: US dollars of one attempt.
        tools: How many tool calls an answer holds.
        limits: All that is known of the model.
    """

    name: str
    attempts: int
    seconds: float
    tokens: int | None
    money: float | None
    tools: int | None
    limits: ModelLimits


def cost_of_question(step: StepView, plan: PlanView) -> Cost:
    """The most that an Agent step costs: its tries, each a model call with the model's own attempts."""
    agent: AgentSpec = step.config.agent
    try:
        call = _call(agent.model, plan, agent.timeout)
    except ProjectError as error:
        return Cost.unbounded(error.message)
    tries = agent.retry.attempts
    pauses = sum(agent.retry.backoff * 2**number for number in range(tries - 1))
    return Cost(
        model_calls=tries * call.attempts,
        tokens=_times(tries, call.tokens),
        seconds=tries * call.seconds + pauses,
        money=_times(tries * call.attempts, call.money),
        # Its tries are one call of the run: the budget is asked for before the first only.
        call_tokens=_times(tries, call.tokens),
        reasons={"tokens": _no_size(call), "money": _no_price(call)},
        how=f"{_count(tries, 'try', 'tries')}, each with up to {_count(call.attempts, 'attempt')}{_size(call)}",
    )


def cost_of_loop(step: StepView, plan: PlanView) -> Cost:
    """The most that an AutonomousAgent step costs, agents among its tools included."""
    agent: AutonomousAgentSpec = step.config.agent
    if step.id in _below(step, plan):
        return Cost.unbounded("it and its tools call each other without end")
    try:
        call = _call(agent.model, plan, agent.timeout, agent)
    except ProjectError as error:
        return Cost.unbounded(error.message)
    tools = _Tools.of(agent, plan)
    turns = agent.max_iterations
    per_turn = call.tools if tools.steps else 0
    dispatched = _times(turns, per_turn)
    return Cost(
        model_calls=_sum(turns * call.attempts, _times(dispatched, tools.most("model_calls"))),
        tool_calls=_sum(dispatched, _times(dispatched, tools.most("tool_calls"))),
        tokens=_least(
            _sum(_times(turns, call.tokens), _times(dispatched, tools.most("tokens"))),
            _within_budget(agent.token_budget, call, _times(per_turn, tools.most("tokens"))),
        ),
        seconds=_sum(turns * call.seconds, _times(dispatched, tools.most("seconds"))),
        money=_sum(_own_money(agent, call), _times(dispatched, tools.most("money"))),
        call_tokens=_largest([call.tokens, *tools.call_tokens()]),
        reasons=_reasons(call, tools, dispatched),
        how=_how(agent, call, per_turn),
    )


# --- the model ------------------------------------------------------------------------------


def _call(model: str | None, plan: PlanView, timeout: float | None, agent: AutonomousAgentSpec | None = None) -> _Call:
    """One call of a model.

    Raises:
        ProjectError: There is no such model.
    """
    from tuvl_models import model_limits, resolve_model

    if not model:
        raise ProjectError("it names no model")
    bound = resolve_model(plan.project, model)
    limits = model_limits(plan.project, bound.settings)
    attempts = bound.settings.retry.attempts
    if agent is not None:
        attempts = agent.retry.attempts if agent.retry is not None else attempts
        # A provider that takes no JSON Schema is asked once more, without.
        attempts += bound.tool_calling == "schema" and bool(agent.tools or agent.outcome.enum)
    return _Call(
        name=model,
        attempts=attempts,
        seconds=timeout if timeout is not None else bound.settings.timeout,
        tokens=limits.call_tokens,
        money=limits.usd_per_call,
        tools=limits.calls_in_an_answer,
        limits=limits,
    )


def _own_money(agent: AutonomousAgentSpec, call: _Call) -> Any:
    """The most that an agent's own model calls cost.

    Within a budget the questions of all turns that are answered hold no more tokens than that; an attempt that fails
    asks the same question as the one that is answered. In the last turn every attempt may fail.
    """
    most = _times(agent.max_iterations * call.attempts, call.money)
    asked, answered = call.limits.usd_per_prompt_token, call.limits.usd_per_answer_token
    longest = call.limits.answer_tokens if call.limits.answer_tokens is not None else call.limits.window
    tokens = _within_budget(agent.token_budget, call, 0)
    one = _sum(_times(tokens, asked), _times(_times(agent.max_iterations, longest), answered), call.money)
    return _least(most, _times(call.attempts, one))


def _no_size(call: _Call) -> str:
    return f"how much a call of model {call.name!r} can hold is not known"


def _how(agent: AutonomousAgentSpec, call: _Call, per_turn: int | None) -> str:
    turns = _count(agent.max_iterations, "turn")
    parts = [f"{turns}, each with up to {_count(call.attempts, 'attempt')}{_size(call)}"]
    if per_turn:
        parts.append(f"an answer can hold {_count(per_turn, 'tool call')}")
    if agent.token_budget is not None:
        parts.append(f"a budget of {agent.token_budget} tokens, looked at before each turn")
    return "; ".join(parts)


def _size(call: _Call) -> str:
    return f" and {call.tokens} tokens" if call.tokens is not None else ""


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _no_price(call: _Call) -> str:
    return f"what a call of model {call.name!r} can cost is not known"


# --- the tools ------------------------------------------------------------------------------


@attrs.frozen
class _Tools:
    """The tools of an agent, and what each costs."""

    steps: Sequence[StepView]
    costs: Sequence[Cost]

    @classmethod
    def of(cls, agent: AutonomousAgentSpec, plan: PlanView) -> _Tools:
        refs = dict.fromkeys(entry.ref for entry in agent.tools if entry.ref in plan.steps)
        steps = [plan.steps[ref] for ref in refs if ref is not None]
        limit = plan.project.settings["agent.tool_timeout_s"]
        return cls(steps, [_within(declared(plan.kind_of(step), "cost", step, plan), step, limit) for step in steps])

    def most(self, quantity: str) -> Any:
        """The most of a quantity that one call of any of them uses."""
        return _largest([getattr(cost, quantity) for cost in self.costs])

    def call_tokens(self) -> Iterable[int | None]:
        """The largest model call of each that makes any."""
        return [cost.call_tokens for cost in self.costs if cost.tokens != 0]

    def why(self, quantity: str) -> str | None:
        """Why a call of one of them is not bounded; None where each is."""
        for step, cost in zip(self.steps, self.costs, strict=True):
            if getattr(cost, quantity) is None:
                return f"its tool {step.id!r}: {cost.why_unbounded(quantity)}"
        return None


def _within(cost: Cost, step: StepView, limit: float) -> Cost:
    known = [seconds for seconds in (cost.seconds, step.timeout, limit) if seconds is not None]
    return attrs.evolve(cost, seconds=min(known))


def _below(step: StepView, plan: PlanView) -> set[str]:
    """Ids of the steps that a step can call, directly or through its tools."""
    found: set[str] = set()
    waiting = [step]
    while waiting:
        at = waiting.pop()
        for child in declared(plan.kind_of(at), "children", at, plan):
            if child.ref not in found and child.ref in plan.steps:
                found.add(child.ref)
                waiting.append(plan.steps[child.ref])
    return found


def _reasons(call: _Call, tools: _Tools, dispatched: int | None) -> dict[str, str]:
    """Why what is not bounded is not: a tool, the number of calls, or the model."""
    many = f"a turn may call any number of tools: how long an answer of model {call.name!r} can be is not known"
    own = {"tokens": (call.tokens, _no_size(call)), "money": (call.money, _no_price(call))}
    found = {}
    for quantity in ("model_calls", "tool_calls", "tokens", "seconds", "money"):
        amount, why = own.get(quantity, (0, ""))
        inner = tools.why(quantity)
        if inner is not None:
            found[quantity] = inner
        elif amount is None:
            found[quantity] = why
        elif dispatched is None:
            found[quantity] = many
    return found


# --- amounts --------------------------------------------------------------------------------


def _within_budget(budget: int | None, call: _Call, tools: Any) -> Any:
    """All but one token, then one more call, and the tools that it asks for: none of them asks this budget."""
    return _sum(budget - 1, call.tokens, tools) if budget is not None else None


def _times(count: Any, amount: Any) -> Any:
    """A product; nothing times whatever it may be is nothing."""
    if count == 0 or amount == 0:
        return 0
    return None if count is None or amount is None else count * amount


def _sum(*amounts: Any) -> Any:
    return None if None in amounts else sum(amounts)


def _least(*amounts: Any) -> Any:
    return min((amount for amount in amounts if amount is not None), default=None)


def _largest(amounts: Sequence[Any]) -> Any:
    return None if None in amounts else max(amounts, default=0)
