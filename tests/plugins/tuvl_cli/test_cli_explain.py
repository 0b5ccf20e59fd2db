"""`tuvl explain`: ways, reach and cost of a workflow, for people and for programs."""

from __future__ import annotations

import json
from typing import Any

import pytest

MODEL = {
    "kind": "AgentModel",
    "metadata": {"name": "default"},
    "spec": {"model": "openai/gpt-4o-mini", "max_tokens": 100},
}
ROUTES = {"resolved": "then", "max_iterations": "END", "budget_exceeded": "END", "error": "then", "aborted": "END"}
AGENT = {
    "id": "work",
    "kind": "AutonomousAgent",
    "agent": {"model": "default", "steering": "Work.", "tools": [{"ref": "ok"}], "outcome": {"enum": ["resolved"]}},
    "routes": ROUTES,
}
STEPS = [AGENT, {"id": "ok", "runner": "ok", "description": "Is well."}, {"id": "then", "runner": "ok"}]


@pytest.fixture
def project(desk: Any) -> Any:
    desk.simple()
    desk.write("model.yaml", json.dumps(MODEL))
    desk.workflow("w", *STEPS, limits={"timeout_s": 60})
    return desk


def test_as_json(project: Any):
    found = json.loads(project("explain", "w", "--json").stdout)
    assert found["starts_at"] == "work"
    work, ok, then = found["steps"]
    assert work["tools"] == ["ok"] and ok["tool_of"] == ["work"] and not ok["on_spine"] and not ok["signals"]
    leads = {item["signal"]: (item["leads_to"], item["target"]) for item in work["signals"]}
    assert leads["resolved"] == ("step", "then") and leads["aborted"] == ("complete", None)
    ends = {item["signal"]: item["leads_to"] for item in then["signals"]}
    assert ends == {"default": "complete", "error": "stop", "*": "fail"}
    swallowed = {item["signal"]: item["as_if_it_had_succeeded"] for item in work["swallows"]}
    assert swallowed == {"error": False, "aborted": True}
    assert work["cost"]["model_calls"] == 16 and work["cost"]["tool_calls"] == 800
    assert work["cost"]["tokens"] == 8 * (128_000 + 100)
    assert found["run"]["seconds"] == {
        "bound": 60,
        "unbounded": {},
        "path": [],
        "limited_by": "spec.limits.timeout_s",
        "includes_repetitions": False,
    }
    assert found["run"]["model_calls"]["path"] == [{"steps": ["work"], "times": 1}]
    assert 0.3 < found["run"]["money"]["bound"] < 0.4
    assert found["not_counted"] == ["ok", "then"]


def test_what_a_fallback_swallows(project: Any):
    match = {
        "id": "by",
        "kind": "Router",
        "match": {"field": "order.state"},
        "routes": {"open": "END", "default": "do"},
    }
    project.workflow("r", match, {"id": "do", "runner": "ok"})
    [swallowed] = json.loads(project("explain", "r", "--json").stdout)["steps"][0]["swallows"]
    assert swallowed == {"signal": "default", "what": "every value of `order.state` that has no route", "target": "do"}
    assert "swallows  every value of `order.state`" in project("explain", "r").stdout
    del match["routes"]["default"]
    project.workflow("r", match, {"id": "do", "runner": "ok"})
    assert json.loads(project("explain", "r", "--json").stdout)["steps"][0]["swallows"] == []


def test_as_text(project: Any):
    told = project("explain", "w").stdout
    assert "resolved → then" in told and "16 model calls" in told and "by spec.limits.timeout_s" in told


def test_a_model_behind_a_server_of_one_s_own_has_no_known_price(project: Any):
    project.write("model.yaml", json.dumps({**MODEL, "spec": {**MODEL["spec"], "api_base": "https://llm.example.com"}}))
    found = json.loads(project("explain", "w", "--json").stdout)["run"]
    assert found["money"]["bound"] is None and "'default'" in found["money"]["unbounded"]["work"]
    assert found["tool_calls"]["bound"] == 800 and found["tokens"]["bound"] is None


def test_litellm_is_not_imported(project: Any):
    done = project("explain", "w")
    assert done.returncode == 0
    project.environ["PYTHONPROFILEIMPORTTIME"] = "1"
    assert "litellm.main" not in project("explain", "w").stderr


def test_errors_elsewhere_do_not_matter(project: Any):
    before = project("explain", "w")
    project.workflow("bad", {"id": "a", "runner": "ok", "rutes": {"default": "END"}})
    project.write("model2.yaml", json.dumps({**MODEL, "metadata": {"name": "other"}, "spec": {"modl": "x"}}))
    project.write("broken.yaml", "kind: [")
    after = project("explain", "w")
    assert (after.returncode, after.stdout) == (0, before.stdout)
    assert project("graph", "w").stdout.startswith("flowchart TD")
    # A file that cannot be read may be the one that holds what is missing.
    done = project("explain", "x")
    assert done.returncode == 3 and "broken.yaml" in done.stderr and "model2.yaml" not in done.stderr
    (project.root / "broken.yaml").unlink()
    assert project("explain", "x").returncode == 2


def test_a_workflow_with_errors_is_told_as_far_as_it_can_be_read(project: Any):
    steps = [
        {"id": "a", "runner": "ok", "routes": {"default": "nowhere"}},
        {"id": "b", "kind": "Functionl"},
        {"id": "c", "kind": "Router", "condition": "x", "routes": {"true": "END", "false": "END"}},
    ]
    project.workflow("bad", *steps)
    done = project("explain", "bad")
    assert done.returncode == 3 and done.stderr == ""
    findings, _, told = done.stdout.partition("\n\nworkflow bad, starts at a\n")
    assert "error TUVL-W014" in findings and "did you mean `Functional`?" in findings
    assert "b  cannot be read" in told and "true → completes the run" in told and "costs at most is told when" in told
    found = project.json("explain", "bad", "--json", code=3)
    assert found["complete"] is False and found["run"] is None and found["left_out"] == ["b"]
    assert [step["id"] for step in found["steps"]] == ["a", "c"]
    first = found["diagnostics"][0]
    assert (first["code"], first["path"], first["step"]) == ("TUVL-W014", "bad.yaml", "a")
    [node] = [node for node in project.json("graph", "bad", "--format", "json")["nodes"] if node["id"] == "a"]
    assert first in node["diagnostics"]


def test_errors_that_refuse_no_run_come_first(project: Any):
    project.workflow("w", {**AGENT, "routes": {**ROUTES, "resolvd": "then"}}, *STEPS[1:])
    done = project("explain", "w")
    assert done.returncode == 0 and "a run costs at most" in done.stdout
    assert done.stdout.index(" TUVL-") < done.stdout.index("workflow w, starts at work")


NOTHING = {
    "steps are no list": "spec: { steps: 5 }",
    "the spec is no mapping": "spec: 7",
    "no spec": "",
    "a step is no mapping": "spec: { steps: [5] }",
    "an empty id": 'spec: { steps: [{ id: "", kind: Router }] }',
}


@pytest.mark.parametrize("text", NOTHING.values(), ids=NOTHING)
def test_a_workflow_of_which_nothing_can_be_read(project: Any, text: str):
    project.write("odd.yaml", f"kind: Workflow\nmetadata: {{ name: odd }}\n{text}\n")
    done = project("explain", "odd")
    assert done.returncode == 3 and "error TUVL-" in done.stdout and "nothing that can be read" in done.stdout
    assert project.json("explain", "odd", "--json", code=3)["steps"] == []
    drawn = project("graph", "odd")
    assert drawn.returncode == 0 and "✗ TUVL-" in drawn.stdout
