"""What `bound_run` says that agents cost at most: as tight as can be known, and never exceeded."""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

import attrs
import pytest
from agent_stage import NODES
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tuvl_core import App, Plugins, RunBound, bound_run, check_project, compile_workflow, load_project
from tuvl_models import ChatReply, ChatRequest, ModelError, ModelFamily, ModelLimits, ToolCall, Usage, add_family

WINDOW = 10


@attrs.define
class Greedy:
    """Costs as much as it may: fails until its last attempt, uses its whole window, calls the dearest tools."""

    calls: int
    attempts: int
    tool_calling: str = "native"
    tried: int = 0

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.tried += 1
        if request.response_format is not None:
            return await self.judge()
        if self.tried % self.attempts:
            raise ModelError("once more", retryable=True)
        await asyncio.sleep(0)  # as every model that is asked over a network: its judge has a turn meanwhile
        usage = Usage(prompt_tokens=WINDOW - 1, completion_tokens=1, total_tokens=WINDOW)
        names = sorted((tool["function"]["name"] for tool in request.tools), key=lambda name: (name == "ping", name))
        if names:
            calls = [ToolCall(id=None, name=names[0], arguments="{}") for _ in range(self.calls)]
            return ChatReply(tool_calls=calls, finish_reason="tool_calls", usage=usage)
        answer = {"outcome": "resolved", "result": 1} if request.outcomes else {"no": "answer"}
        content = json.dumps(answer) if request.outcomes else "no JSON"
        return ChatReply(content=content, finish_reason="stop", usage=usage)

    async def judge(self) -> ChatReply:
        """A verdict, which costs as much as one may; every other one fails."""
        if self.tried % 2:
            raise ModelError("once more", retryable=True)
        usage = Usage(prompt_tokens=WINDOW - 1, completion_tokens=1, total_tokens=WINDOW)
        return ChatReply(content='{"passed": false, "reason": "greed"}', finish_reason="stop", usage=usage)


LIMITS = ModelLimits(window=WINDOW, usd_per_prompt_token=0.5, usd_per_answer_token=1.0)


def opened(root: Path, steps: list[Any], attempts: int = 1, calls: int = 1, model_limits: Any = None, **spec: Any):
    (root / "nodes").mkdir(exist_ok=True)
    (root / "nodes" / "tools.py").write_text(NODES)
    script = {
        "kind": "AgentModel",
        "metadata": {"name": "m"},
        "spec": {"model": "test/m", "timeout": 7, "retry": {"attempts": attempts, "backoff": 0}},
    }
    flow = {"kind": "Workflow", "metadata": {"name": "w"}, "spec": {**spec, "steps": steps}}
    (root / "model.yaml").write_text(json.dumps(script))
    (root / "w.yaml").write_text(json.dumps(flow))
    project = load_project(root, plugins=Plugins.load(root=root, environ={}), environ={})
    found = attrs.evolve(LIMITS, tool_calls=calls) if model_limits is None else model_limits
    add_family(
        project,
        ModelFamily(prefix="test", create=lambda settings: Greedy(calls, attempts), limits=lambda settings: found),
    )
    return project


def bound_of(project: Any) -> RunBound:
    return bound_run(compile_workflow(project, "w"))


def loop(id: str, *tools: str, turns: int = 1, **more: Any) -> dict[str, Any]:
    routes = more.pop("routes", {})
    exits = ("resolved", "max_iterations", "budget_exceeded", "error", "aborted")
    return {
        "id": id,
        "kind": "AutonomousAgent",
        "description": "Works.",
        "agent": {
            "model": "m",
            "steering": "Work.",
            "tools": [{"ref": ref} for ref in tools],
            "outcome": {"enum": ["resolved"]},
            "max_iterations": turns,
            **more,
        },
        "routes": {name: routes.get(name, routes.get("*", "END")) for name in exits},
    }


PING = {"id": "ping", "kind": "Functional", "runner": "ping", "description": "Pings."}


def values(bound: RunBound) -> dict[str, Any]:
    return {name: item.value for name, item in bound.run.items()}


def test_turns_attempts_and_calls_are_multiplied(tmp_path: Path):
    found = values(bound_of(opened(tmp_path, [loop("work", "ping", turns=3), PING], attempts=2, calls=4)))
    assert found["model_calls"] == 6
    assert found["tool_calls"] == 12
    assert found["tokens"] == 30
    assert found["money"] == 6 * (10 * 0.5 + 10 * 1.0)
    assert found["seconds"] == 3 * 7 + 12 * 300


def test_a_budget_is_overshot_by_one_call(tmp_path: Path):
    found = values(bound_of(opened(tmp_path, [loop("work", "ping", turns=9, token_budget=25), PING])))
    assert found["tokens"] == 24 + 10


def test_a_budget_bounds_the_price_of_what_is_asked(tmp_path: Path):
    sizes = ModelLimits(prompt_tokens=1000, answer_tokens=10, usd_per_prompt_token=1, usd_per_answer_token=2)
    steps = [loop("work", turns=9, token_budget=500)]
    found = values(bound_of(opened(tmp_path, steps, attempts=2, model_limits=sizes)))
    # Twice what was asked and answered within the budget, and once more all attempts of a call that fails.
    assert found["money"] == 2 * ((499 + 1010) * 1 + 9 * 10 * 2 + 1020)
    steps[0]["agent"]["token_budget"] = 10**9
    assert values(bound_of(opened(tmp_path, steps, attempts=2, model_limits=sizes)))["money"] == 2 * 9 * 1020


class Stubborn:
    """Takes no JSON Schema, fails once more, and answers."""

    tool_calling = "schema"

    def __init__(self) -> None:
        self.calls = 0

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.calls += 1
        if request.response_format is not None:
            raise ModelError("no schema", schema_refused=True)
        if self.calls < 3:
            raise ModelError("once more", retryable=True)
        return ChatReply(
            content='{"outcome": "resolved", "result": 1}', finish_reason="stop", usage=Usage(total_tokens=10)
        )


async def test_a_schema_that_is_refused_costs_an_attempt(tmp_path: Path):
    project = opened(tmp_path, [loop("work", "ping"), PING], attempts=2)
    model = Stubborn()
    family = ModelFamily(prefix="test", create=lambda settings: model, tool_calling="schema")
    add_family(project, family)
    assert bound_of(project).run["model_calls"].value == 3
    async with App(project) as app:
        used = (await app.run("w")).usage
    assert (used if isinstance(used, dict) else used.to_dict())["llm_attempts"] == 3 == model.calls


def test_an_agent_that_is_a_tool_counts_in_the_last_turn_of_a_budget(tmp_path: Path):
    steps = [loop("work", "inner", turns=9, token_budget=25), loop("inner", "ping", turns=2), PING]
    found = bound_of(opened(tmp_path, steps, calls=3))
    assert found.steps["inner"].tokens == 20
    assert found.run["tokens"].value == 24 + 10 + 3 * 20
    assert found.run["model_calls"].value == 9 + 9 * 3 * 2
    assert found.run["tool_calls"].value == 9 * 3 + 9 * 3 * 2 * 3


def test_the_run_s_budget_holds_all_of_it(tmp_path: Path):
    steps = [loop("work", "inner", turns=9), loop("inner", "ping", turns=2), PING]
    found = bound_of(opened(tmp_path, steps, calls=3, limits={"token_budget": 50, "timeout_s": 20}))
    assert found.run["tokens"].value == 49 + 10
    assert found.run["tokens"].limited_by == "spec.limits.token_budget"
    assert found.run["seconds"].value == 20


def test_without_a_known_window_calls_are_bounded_and_tokens_are_not(tmp_path: Path):
    found = bound_of(opened(tmp_path, [loop("work", "ping", turns=3), PING], model_limits=ModelLimits()))
    assert found.run["model_calls"].value == 3
    assert found.run["tokens"].value is None and "'m'" in found.run["tokens"].why["work"]
    assert found.run["tool_calls"].value is None and "any number of tools" in found.run["tool_calls"].why["work"]
    assert found.run["money"].value is None


def test_an_answer_of_known_length_bounds_the_tools_it_can_call(tmp_path: Path):
    limits = ModelLimits(prompt_tokens=100, answer_tokens=20)
    found = values(bound_of(opened(tmp_path, [loop("work", "ping", turns=3), PING], model_limits=limits)))
    assert found["tool_calls"] == 60 and found["tokens"] == 360


def test_an_agent_s_question_has_tries_and_attempts(tmp_path: Path):
    step = {
        "id": "ask",
        "kind": "Agent",
        "agent": {
            "model": "m",
            "prompt": "Say.",
            "output": {"format": "json"},
            "retry": {"attempts": 3, "backoff": 1.0},
            "timeout": 5,
        },
    }
    found = values(bound_of(opened(tmp_path, [step], attempts=2)))
    assert found["model_calls"] == 6 and found["tokens"] == 30 and found["seconds"] == 3 * 5 + 1 + 2


def demand(project: Any) -> list[str]:
    return [item.message for item in check_project(project) if item.code == "TUVL-W023"]


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"max_model_calls": 5}, "6 model calls, by work"),
        ({"max_model_calls": 6}, None),
        ({"max_tool_calls": 11}, "12 tool calls, by work"),
        ({"max_tool_calls": 12}, None),
        ({"max_cost_usd": 89.5}, "90 US dollars, by work"),
        ({"max_cost_usd": 90}, None),
    ],
)
def test_a_demand_is_an_error_where_it_cannot_be_shown(tmp_path: Path, limits: Any, said: str | None):
    steps = [loop("work", "ping", turns=3), PING]
    found = demand(opened(tmp_path, steps, attempts=2, calls=4, limits=limits))
    assert bool(found) is (said is not None)
    assert said is None or said in found[0]


def test_agents_that_call_each_other_are_not_bounded(tmp_path: Path):
    steps = [loop("a", "b"), loop("b", "c"), loop("c", "b")]
    [message] = demand(opened(tmp_path, steps, limits={"max_model_calls": 5}))
    assert "a is not bounded" in message and "without end" in message


def test_a_model_that_is_not_there_bounds_nothing(tmp_path: Path):
    steps = [loop("a", model="other/m")]
    [message] = demand(opened(tmp_path, steps, limits={"max_cost_usd": 5}))
    assert "a is not bounded" in message


# --- soundness ------------------------------------------------------------------------------

INNER = ["inner", "deepest", "ping"]


@st.composite
def agents(draw: Any) -> list[dict[str, Any]]:
    """Up to three agents on the spine, going round as they like, over agents that are tools."""
    ids = [f"s{number}" for number in range(draw(st.integers(1, 3)))]
    targets = st.sampled_from([*ids, "END"])
    bounds = st.fixed_dictionaries({"turns": st.integers(1, 3)}, optional={"token_budget": st.integers(1, 80)})
    steps = []
    for id in ids:
        tools = draw(st.lists(st.sampled_from(INNER), unique=True, max_size=2))
        steps.append(loop(id, *tools, routes={"*": draw(targets)}, **draw(bounds)))
    steps.append(loop("inner", *draw(st.lists(st.sampled_from(INNER[1:]), unique=True)), **draw(bounds)))
    steps.append(loop("deepest", "ping", **draw(bounds)))
    owned = {entry["ref"] for step in steps for entry in step["agent"]["tools"]}
    if draw(st.booleans()):
        output, retry = {"format": "json"}, {"attempts": draw(st.integers(1, 3)), "backoff": 0}
        question = {"model": "m", "prompt": "Say.", "output": output, "retry": retry}
        target = draw(targets)
        routes = dict.fromkeys(("default", "parse_error", "timeout", "error"), target)
        steps.insert(0, {"id": "ask", "kind": "Agent", "agent": question, "routes": routes})
    return [step for step in [*steps, PING] if step["id"] not in INNER or step["id"] in owned]


@st.composite
def supervisors(draw: Any) -> dict[str, Any]:
    """A supervisor with a judge, or none; it steers, so that the agents go on as long as they may."""
    if draw(st.booleans()):
        return {}
    every = draw(st.integers(1, 3))
    then = draw(st.sampled_from(["steer", "abort"]))
    judge = {"model": "m", "criteria": "No greed.", "every_n_iterations": every, "on_violation": then}
    return {"supervisor": judge}


def test_judges_are_bounded_by_the_turns_of_agents(tmp_path: Path):
    judge = {"model": "m", "criteria": "No greed.", "every_n_iterations": 2}
    found = bound_of(opened(tmp_path, [loop("work", "ping", turns=9), PING], attempts=2, calls=3, supervisor=judge))
    # 18 model calls at most, so 9 verdicts, each asked for with two attempts and once without a schema.
    assert found.run["model_calls"].value == 18 + 9 * 3
    assert found.run["tokens"].value == 9 * WINDOW + 9 * WINDOW
    assert found.run["money"].value == (18 + 27) * (10 * 0.5 + 10 * 1.0)
    assert found.run["seconds"].value == 9 * 7 + 27 * 300
    assert found.run["tool_calls"].value == 27


def test_a_judge_of_unknown_size_bounds_no_tokens(tmp_path: Path):
    judge = {"model": "m", "criteria": "No greed."}
    limits = ModelLimits()
    found = bound_of(opened(tmp_path, [loop("work", "ping", turns=9), PING], model_limits=limits, supervisor=judge))
    assert found.run["model_calls"].value == 9 + 9 * 2
    assert "judge" in found.run["tokens"].why["spec.supervisor"]
    demanded = {"max_model_calls": 26}
    steps = [loop("work", "ping", turns=9), PING]
    [said] = demand(opened(tmp_path, steps, model_limits=limits, supervisor=judge, limits=demanded))
    assert "27 model calls" in said


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    steps=agents(),
    attempts=st.integers(1, 3),
    calls=st.integers(1, 2),
    limits=st.fixed_dictionaries({"max_steps": st.integers(1, 6)}, optional={"token_budget": st.integers(1, 120)}),
    supervisor=supervisors(),
)
def test_no_run_exceeds_its_bound(steps: Any, attempts: int, calls: int, limits: Any, supervisor: Any):
    with tempfile.TemporaryDirectory() as folder:
        project = opened(Path(folder), steps, attempts, calls, limits=limits, **supervisor)
        bound = values(bound_of(project))

        async def usage() -> Any:
            async with App(project) as app:
                return (await app.run("w")).usage

        used = asyncio.run(usage())
    used = used if isinstance(used, dict) else used.to_dict()
    assert used["llm_calls"] <= used["llm_attempts"] <= bound["model_calls"]
    assert used["tool_calls"] <= bound["tool_calls"]
    assert used["tokens"] <= bound["tokens"]
