"""What a run can cost at most, over every way through the workflow."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tuvl_core import FlowGraph, Plugins, RunBound, bound_run, check_project, load_project, plan_workflow

KINDS = '''
import attrs
from tuvl_core import Cost, Effects, Section, Signals, StepKind, hookimpl

TUVL_API = 1


@attrs.frozen(kw_only=True)
class Config:
    leaves: list[str] = ["default"]
    calls: int | None = 1
    tokens: int | None = 0
    call_tokens: int | None = None
    seconds: float | None = 1.0
    effects: str = "reads"
    whole: bool = False
    broken: str = ""


class Pay(StepKind):
    """Costs what it says."""
    name = "t.Pay"
    Config = Config

    def signals(self, step, plan):
        return Signals(*step.config.leaves)

    def effects(self, step, plan):
        return Effects(step.config.effects)

    def transactional(self, step, plan):
        return step.config.whole

    def cost(self, step, plan):
        config = step.config
        if config.broken == "raises":
            raise ValueError("no idea")
        if config.broken:
            return 7
        return Cost(model_calls=config.calls, tokens=config.tokens, seconds=config.seconds,
                    call_tokens=config.call_tokens, why="it never ends")


class Silent(StepKind):
    """Says nothing."""
    name = "t.Silent"


@attrs.frozen(kw_only=True)
class Judge:
    every: int = 1


def judged(value, plan, steps):
    return Cost(model_calls=None if steps.model_calls is None else steps.model_calls // value.every,
                tokens=5, seconds=0.0, why="judges judge steps")


@hookimpl
def tuvl_step_kinds():
    return [Pay, Silent]


@hookimpl
def tuvl_workflow_sections():
    return [Section(key="t_judge", spec=Judge, cost=judged)]
'''


def loaded(root: Path, steps: list[dict[str, Any]], **spec: Any) -> Any:
    (root / "plugins").mkdir(exist_ok=True)
    (root / "plugins" / "pay.py").write_text(KINDS)
    body = {**spec, "steps": [{"kind": "t.Pay", **step} for step in steps]}
    (root / "w.yaml").write_text(json.dumps({"kind": "Workflow", "metadata": {"name": "w"}, "spec": body}))
    return load_project(root, plugins=Plugins.load(root=root, environ={}), environ={})


def bound(root: Path, *steps: dict[str, Any], **spec: Any) -> RunBound:
    return bound_run(plan_workflow(loaded(root, list(steps), **spec), "w"))


def step(id: str, calls: int | None = 1, *leaves: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "calls": calls, "leaves": list(leaves) or ["default"], **more}


def test_the_dearest_way_counts(tmp_path: Path):
    steps = (
        step("a", 1, "x", "y", routes={"x": "b", "y": "c"}),
        step("b", 5, routes={"default": "END"}),
        step("c", 2),
        step("d", 2),
    )
    found = bound(tmp_path, *steps).run["model_calls"]
    assert found.value == 6
    assert [leg.steps for leg in found.way] == [("a", "b")]


def test_a_way_that_a_failure_takes_counts(tmp_path: Path):
    steps = step("a", routes={"default": "END", "error": "b"}), step("b", 9)
    assert bound(tmp_path, *steps).run["model_calls"].value == 10


def test_a_round_goes_on_until_max_steps(tmp_path: Path):
    steps = step("a"), step("b", 2, "x", "default", routes={"x": "a"}), step("c", 3)
    found = bound(tmp_path, *steps, limits={"max_steps": 9}).run["model_calls"]
    # a b a b a b a b c
    assert found.value == 4 * 3 + 3
    assert [str(leg) for leg in found.way] == ["(a → b) × 4", "c"]


def test_very_many_steps_are_bounded_too(tmp_path: Path):
    steps = step("a"), step("b", 3, routes={"default": "a"})
    found = bound(tmp_path, *steps, limits={"max_steps": 1_000_000}).run["model_calls"]
    assert 2_000_000 <= found.value <= 3_000_000


def test_what_no_way_leads_to_costs_nothing(tmp_path: Path):
    steps = step("a", routes={"default": "END"}), step("b", None)
    assert bound(tmp_path, *steps).run["model_calls"].value == 1


def test_what_is_not_bounded_says_why(tmp_path: Path):
    steps = [step("a"), step("b", None), {"id": "c", "kind": "t.Silent"}]
    found = bound(tmp_path, *steps)
    assert found.run["model_calls"].value is None
    assert found.run["model_calls"].why == {"b": "it never ends", "c": "the kind declares no cost"}


@pytest.mark.parametrize(("broken", "why"), [("raises", "ValueError"), ("lies", "declares no Cost")])
def test_a_kind_that_is_broken_is_unbounded(tmp_path: Path, broken: str, why: str):
    assert why in bound(tmp_path, step("a", broken=broken)).run["model_calls"].why["a"]


def test_limits_of_steps_and_of_the_run_bound_time(tmp_path: Path):
    steps = step("a", seconds=None, timeout=5), step("b", seconds=2.0, timeout=90)
    assert bound(tmp_path, *steps).run["seconds"].value == 7
    held = bound(tmp_path, *steps, limits={"timeout_s": 3}).run["seconds"]
    assert (held.value, held.limited_by) == (3, "spec.limits.timeout_s")
    assert bound(tmp_path, step("a", seconds=None), limits={"timeout_s": 3}).run["seconds"].value == 3


def test_a_budget_of_tokens_holds_who_asks_for_it(tmp_path: Path):
    asks = step("a", tokens=None, call_tokens=40), step("b", tokens=900, call_tokens=30)
    held = bound(tmp_path, *asks, limits={"token_budget": 100}).run["tokens"]
    assert (held.value, held.limited_by) == (99 + 40, "spec.limits.token_budget")
    deaf = step("a", tokens=50, call_tokens=40), step("b", tokens=900)
    assert bound(tmp_path, *deaf, limits={"token_budget": 100}).run["tokens"].value == 950


def test_a_run_that_is_done_again_costs_as_often(tmp_path: Path):
    safe = step("a", 3), step("b", 2, effects="writes", whole=True)
    assert bound(tmp_path, *safe).run["model_calls"].value == 4 * 5
    # Behind what cannot be undone nothing is done again.
    final = step("a", 3), step("b", 2, effects="irreversible"), step("c", 1, effects="writes", whole=True)
    assert bound(tmp_path, *final).run["model_calls"].value == 6 + 3 * 3


def test_what_a_section_costs_is_added(tmp_path: Path):
    found = bound(tmp_path, step("a", 6, tokens=None, call_tokens=10), t_judge={"every": 2}, limits={"token_budget": 9})
    assert found.run["model_calls"].value == 9
    assert found.run["tokens"].value == 8 + 10 + 5  # judges ask no budget
    found = bound(tmp_path, step("a", None), t_judge={"every": 2})
    assert found.run["model_calls"].why == {"a": "it never ends", "spec.t_judge": "judges judge steps"}


@pytest.mark.parametrize(("most", "fires"), [(4, True), (5, False)])
def test_a_demand(tmp_path: Path, most: int, fires: bool):
    project = loaded(tmp_path, [step("a", 2), step("b", 3)], limits={"max_model_calls": most})
    found = [item for item in check_project(project) if item.code == "TUVL-W023"]
    assert bool(found) is fires
    if fires:
        assert "a → b" in found[0].message and found[0].location is not None


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_it_is_the_most_of_all_ways(data: Any):
    ids = [f"s{number}" for number in range(data.draw(st.integers(1, 4)))]
    targets = st.sampled_from([*ids, "END"])
    steps = []
    for id in ids:
        leaves = data.draw(st.lists(st.sampled_from(["x", "y", "default"]), min_size=1, unique=True))
        routes = data.draw(st.dictionaries(st.sampled_from([*leaves, "error"]), targets))
        steps.append(step(id, data.draw(st.integers(0, 5)), *leaves, routes=routes))
    most = data.draw(st.integers(1, 7))
    with tempfile.TemporaryDirectory() as folder:
        plan = plan_workflow(loaded(Path(folder), steps, limits={"max_steps": most}), "w")
    graph = FlowGraph.of(plan)
    found = bound_run(plan, graph).run["model_calls"]
    weights = {item["id"]: item["calls"] for item in steps}

    def dearest(id: str, left: int) -> int:
        rest = [dearest(target, left - 1) for target in graph.successors(id)] if left > 1 else []
        return weights[id] + max(rest, default=0)

    assert found.value == dearest(ids[0], most)
    walked = [id for leg in found.way for _ in range(leg.times) for id in leg.steps]
    assert sum(weights[id] for id in walked) == found.value and len(walked) <= most
