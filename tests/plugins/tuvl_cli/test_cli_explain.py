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


def test_what_is_wrong(project: Any):
    assert project("explain", "x").returncode == 2
    project.workflow("bad", {"id": "a", "runner": "ok", "routes": {"default": "nowhere"}})
    done = project("explain", "bad")
    assert done.returncode == 3 and "nowhere" in done.stderr
