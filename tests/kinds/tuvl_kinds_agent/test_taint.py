"""Values that a model chose: where they decide what a step reaches they are errors, elsewhere they are listed."""

from __future__ import annotations

from typing import Any

import pytest

from tuvl_core import plan_workflow, tainted_uses

ROUTES = dict.fromkeys(("default", "max_iterations", "budget_exceeded", "aborted", "error"), "END")


def agent(*tools: Any, id: str = "work", to: str = "END", **more: Any) -> dict[str, Any]:
    return {
        "id": id,
        "kind": "AutonomousAgent",
        "description": "Works.",
        "agent": {"model": "x/y", "steering": "Work.", "tools": list(tools), **more},
        "routes": {**ROUTES, "default": to},
    }


def call(url: str, id: str = "call", **more: Any) -> dict[str, Any]:
    return {"id": id, "kind": "APICall", "description": "Calls.", "http": {"url": url, **more}}


def question(**more: Any) -> dict[str, Any]:
    routes = {"timeout": "END", "error": "END", "parse_error": "END"}
    return {"id": "ask", "kind": "Agent", "agent": {"model": "x/y", "prompt": "Where?", **more}, "routes": routes}


@pytest.fixture
def tainted(bench: Any) -> Any:
    """The findings about a workflow of some steps in a project that allows hosts."""

    def check(*steps: Any, allow: bool = True, **spec: Any) -> list[str]:
        bench.write("tuvl.toml", '[apicall]\nallow_hosts = ["*.example.com"]\n' if allow else "")
        found = bench.check(*steps, **spec)
        return [item.message for item in found if item.code == "TUVL-W024"]

    return check


@pytest.fixture
def listed(bench: Any) -> Any:
    """What is listed about a workflow of some steps."""

    def uses(*steps: Any, **spec: Any) -> list[tuple[Any, ...]]:
        bench.workflow(*steps, **spec)
        return [(use.step, use.path, use.name, use.sink) for use in tainted_uses(plan_workflow(bench.load(), "w"))]

    return uses


def test_an_argument_that_is_a_host(tainted: Any):
    [message] = tainted(agent({"ref": "call"}), call("https://{{ host }}.example.com/x"))
    assert "`host` decides the host of a URL" in message and "'work'" in message


def test_an_argument_in_the_path_is_none(tainted: Any, listed: Any):
    steps = agent({"ref": "call"}), call("https://a.example.com/{{ id }}")
    assert tainted(*steps) == []
    assert listed(*steps) == [("call", ("http", "url"), "id", None)]


def test_an_argument_that_is_chosen_among_an_author_s_values_is_none(tainted: Any):
    parameters = {"type": "object", "properties": {"host": {"enum": ["a", "b"]}}, "additionalProperties": False}
    assert tainted(agent({"ref": "call", "parameters": parameters}), call("https://{{ host }}.example.com/x")) == []


def test_what_is_refused_already_is_not_said_twice(tainted: Any, bench: Any):
    assert tainted(agent({"ref": "call"}), call("https://{{ host }}.example.com/x"), allow=False) == []
    assert "TUVL-H002" in [item.code for item in bench.check()]


def test_an_agent_s_result_that_is_a_host_further_on(tainted: Any):
    [message] = tainted(agent(to="call"), call("https://{{ work_result }}.example.com/x"))
    assert "the model of 'work' chose it" in message


def test_the_input_is_nobody_s_choice(tainted: Any):
    assert tainted(agent(to="call"), call("https://{{ region }}.example.com/x")) == []


def test_a_key_that_is_written_anew_is_the_new_writer_s(tainted: Any):
    first = call("https://a.example.com", id="first") | {"response": {"output_key": "work_result"}}
    steps = agent(to="first"), first, call("https://{{ work_result }}.example.com/x")
    assert tainted(*steps) == []
    first["routes"] = {"error": "call"}
    assert len(tainted(*steps)) == 1  # where it fails, it wrote nothing


def test_what_a_tool_writes_counts_only_where_it_may(tainted: Any):
    find, then = call("https://a.example.com/{{ q }}", id="find"), call("https://{{ find_result.host }}.example.com")
    assert tainted(agent({"ref": "find"}, to="call"), find, then) == []
    assert len(tainted(agent({"ref": "find", "writes_context": True}, to="call"), find, then)) == 1


def test_tools_of_an_agent_that_is_a_tool_see_what_outer_models_chose(tainted: Any):
    parameters = {"type": "object", "properties": {"host": {"type": "string"}}}
    outer = agent({"ref": "inner", "parameters": parameters})
    closed = {"type": "object", "properties": {}, "additionalProperties": False}
    inner = agent({"ref": "call", "parameters": closed}, id="inner")
    assert len(tainted(outer, inner, call("https://{{ host }}.example.com"))) == 1
    assert tainted(outer, inner, call("https://{{ region }}.example.com")) == []


def test_a_question_s_answer_that_names_a_column(bench: Any, tainted: Any):
    bench.write(
        "m.yaml",
        "kind: ModelDefinition\nmetadata: { name: Order }\n"
        "spec: { table: orders, datasource: main, fields: { id: { type: integer, primary_key: true } } }\n",
    )
    rows = {"id": "rows", "kind": "ModelOp", "model": "Order", "operation": "list", "order_by": "{{ ask_result }}"}
    [message] = tainted(question(), rows, context=["Order"])
    assert "a name in SQL" in message
    rows["order_by"] = "{{ sort }}"
    assert tainted(question(), rows, context=["Order"]) == []


def test_prompts_are_what_models_are_for(listed: Any):
    steps = agent(to="ask"), question(prompt="Say {{ work_result }}.")
    assert listed(*steps) == []


def test_a_failure_s_route_carries_what_was_chosen_before(tainted: Any):
    steps = question(), agent(to="END"), call("https://{{ ask_result }}.example.com/x")
    steps[1]["routes"]["error"] = "call"
    assert len(tainted(*steps)) == 1
