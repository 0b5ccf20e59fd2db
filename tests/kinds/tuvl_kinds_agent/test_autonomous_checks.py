"""What `tuvl validate` says about AutonomousAgent steps: each finding seen firing and not firing."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_stage import agent, node, open_app, write_project

from tuvl_core import ProjectError, check_project

PING = node("ping")
GOOD = agent("ping") + PING


def findings(root: Path, steps: str) -> list[tuple[str, str, str]]:
    """Code, severity and the text at the place of each finding of these kinds."""
    write_project(root, steps)
    app = open_app(root, {})
    lines = (root / "w.yaml").read_text().splitlines()
    return [
        (item.code, item.severity, lines[item.location.line - 1][item.location.column - 1 :])
        for item in check_project(app.project)
        if item.code.startswith("TUVL-A")
    ]


def test_a_good_agent_has_no_findings(tmp_path: Path) -> None:
    assert findings(tmp_path, GOOD) == []


@pytest.mark.parametrize(
    ("steps", "code", "severity", "at"),
    [
        (GOOD.replace("    model: actor\n", ""), "TUVL-A001", "error", "agent:"),
        (GOOD.replace("model: actor", "model: ''"), "TUVL-A001", "error", ""),
        (GOOD.replace("model: actor", "model: missing"), "TUVL-A002", "warning", "missing"),
        (GOOD.replace("    steering: Help.\n", ""), "TUVL-A003", "warning", ""),
        (GOOD.replace("steering: Help.", "steering: ' '"), "TUVL-A003", "warning", ""),
        (agent(), "TUVL-A006", "warning", ""),
        (agent("{ description: x }") + PING, "TUVL-A007", "error", "{ description"),
        (agent("pong") + PING, "TUVL-A007", "error", "pong"),
        (agent("work", "ping") + PING, "TUVL-A007", "error", "work"),
        (GOOD.replace(", description: Does ping.", ""), "TUVL-A008", "error", "{ ref: ping"),
        (agent("ping", routes="{ resolved: END, max_iterations: END, budget_exceeded: END,"
               " aborted: END }") + PING, "TUVL-A009", "error", "escalate"),
        (GOOD.replace("max_iterations: END, ", ""), "TUVL-A010", "warning", "{ resolved"),
        (GOOD.replace("budget_exceeded: END, ", ""), "TUVL-A010", "warning", "{ resolved"),
        (GOOD.replace(", aborted: END", ""), "TUVL-A011", "warning", "{ resolved"),
        (agent("ping", more="goal: x") + PING, "TUVL-A012", "error", "x"),
        (agent("ping", enum="[resolved, aborted]") + PING, "TUVL-A013", "error", "aborted"),
        (agent("ping", enum="[resolved, resolved]") + PING, "TUVL-A013", "error", "resolved]"),
        (agent("ping", enum="[resolved, '']") + PING, "TUVL-A013", "error", "''"),
        (agent("{ ref: ping, parameters: { type: array } }") + PING, "TUVL-A014", "error", "{ type"),
        (agent("{ ref: ping, parameters: { type: object, properties: 5 } }") + PING, "TUVL-A014",
         "error", "{ type"),
        (agent("ping", "ping") + PING, "TUVL-A017", "error", "ping"),
    ],
)  # fmt: skip
def test_each_finding(tmp_path: Path, steps: str, code: str, severity: str, at: str) -> None:
    found = [item for item in findings(tmp_path, steps) if item[0] == code]
    assert found, code
    assert {item[1] for item in found} == {severity}
    assert any(text.startswith(part) for _, _, text in found for part in at.split("|"))


def test_the_entrys_description_will_do(tmp_path: Path) -> None:
    steps = agent("{ ref: ping, description: Pings. }") + PING.replace("Does ping.", "''")
    assert findings(tmp_path, steps) == []


def test_goal_is_an_unknown_key_and_steering_is_missing(tmp_path: Path) -> None:
    write_project(tmp_path, GOOD.replace("steering: Help.", "goal: Help."))
    app = open_app(tmp_path, {})
    found = {item.code: item for item in check_project(app.project)}
    assert found["TUVL-A012"].klass == "flow"
    assert "steering" in found["TUVL-A012"].hint
    assert found["TUVL-A003"].severity == "warning"
    app.plan("w")  # a flow error does not refuse the run


def test_a_tool_whose_own_keys_are_wrong_is_a_step_nevertheless(tmp_path: Path) -> None:
    write_project(tmp_path, agent("ping") + PING.replace("runner:", "runer:"))
    found = [item.code for item in check_project(open_app(tmp_path, {}).project) if item.severity == "error"]
    assert "TUVL-S001" in found
    assert "TUVL-A007" not in found


def test_a_model_string_needs_no_document(tmp_path: Path) -> None:
    assert findings(tmp_path, GOOD.replace("model: actor", "model: test/actor")) == []


def test_agents_that_are_each_others_tools_are_an_error(tmp_path: Path) -> None:
    described = "kind: AutonomousAgent\n  description: Helps."
    a, b, c = (
        agent(tool, "ping", id=id).replace("kind: AutonomousAgent", described)
        for id, tool in (("a", "b"), ("b", "c"), ("c", "a"))
    )
    start = "- { id: start, kind: Functional, runner: ping, routes: { default: a } }\n"
    steps = start + a + b + c + PING
    found = [item for item in findings(tmp_path, steps) if item[0] == "TUVL-A015"]
    assert [(severity, text[:1]) for _, severity, text in found] == [
        ("error", "b"),
        ("error", "c"),
        ("error", "a"),
    ]
    with pytest.raises(ProjectError):
        open_app(tmp_path, {}).plan("w")


def test_a_chain_of_agents_is_fine(tmp_path: Path) -> None:
    described = "kind: AutonomousAgent\n  description: Helps."
    b = agent("ping", id="b").replace("kind: AutonomousAgent", described)
    assert findings(tmp_path, agent("b", "ping", id="a") + b + PING) == []


def test_routes_of_an_agent_that_is_only_a_tool_do_not_count(tmp_path: Path) -> None:
    described = "kind: AutonomousAgent\n  description: Helps."
    b = agent("ping", id="b", routes="{}").replace("kind: AutonomousAgent", described)
    assert findings(tmp_path, agent("b", id="a") + b + PING) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("max_iterations: 3", "max_iteration: 3"),
        ("max_iterations: 3", "max_iterations: 0"),
        ("max_iterations: 3", "max_iterations: many"),
        ("max_iterations: 3", "token_budget: 0"),
        ("max_iterations: 3", "timeout: 0"),
        ("max_iterations: 3", "steering_files: [5]"),
        ("max_iterations: 3", "skills: [{ a: 1 }]"),
        ("{ ref: ping }", "{ ref: ping, writes_contxt: true }"),
        ("escalate] }", "escalate], output_key: _x }"),
    ],
)
def test_keys_and_values_of_the_wrong_shape_are_structure_errors(tmp_path, old, new) -> None:
    steps = agent("ping", more="max_iterations: 3") + PING
    assert old in steps
    write_project(tmp_path, steps.replace(old, new))
    errors = [item for item in check_project(open_app(tmp_path, {}).project) if item.severity == "error"]
    assert [item.klass for item in errors] == ["structure"]
    assert errors[0].location.line > 5
    with pytest.raises(ProjectError):
        open_app(tmp_path, {}).plan("w")


@pytest.mark.parametrize("model", ["missing", "nobody/x"])
def test_validate_says_of_a_missing_model_that_run_refuses_it(tmp_path: Path, model: str) -> None:
    (tmp_path / "tuvl.toml").write_text('[plugins]\nblock = ["tuvl-model-litellm"]\n')
    write_project(tmp_path, GOOD.replace("model: actor", f"model: {model}"))
    project = open_app(tmp_path, {}).project
    [found] = [item for item in check_project(project) if item.code == "TUVL-A002"]
    assert (found.severity, found.klass) == ("warning", "flow")
    assert "`run` refuses" in found.message
    with pytest.raises(ProjectError, match=model):
        open_app(tmp_path, {}).plan("w")


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("scripted/desk", "no ScriptedModel `desk`"),
        ("scripted/broken", "the ScriptedModel `broken` has errors: broken.yaml:3"),
        ("local/smolm", "no local model 'smolm'"),
        ("local/missing.gguf", "no file"),
    ],
)
def test_a_model_string_whose_family_has_no_such_model(tmp_path: Path, model: str, said: str) -> None:
    pytest.importorskip("tuvl_model_local")
    script = "kind: ScriptedModel\nmetadata: { name: broken }\nspec: { turn: [] }\n"
    (tmp_path / "broken.yaml").write_text(script)
    write_project(tmp_path, GOOD.replace("model: actor", f"model: {model}"))
    project = open_app(tmp_path, {}).project
    [found] = [item for item in check_project(project) if item.code == "TUVL-A018"]
    assert (found.severity, found.klass) == ("error", "flow")
    assert said in found.message
    assert said in next(item for item in check_project(project) if item.code == "TUVL-A018").message
    open_app(tmp_path, {}).plan("w")  # the run starts, and fails when the agent asks


def test_an_undefined_model_refuses_the_run(tmp_path: Path) -> None:
    write_project(tmp_path, GOOD.replace("model: actor", "model: missing"))
    with pytest.raises(ProjectError, match="missing"):
        open_app(tmp_path, {}).plan("w")


def test_what_an_agent_declares(tmp_path: Path) -> None:
    from tuvl_core import Effects, declared

    described = "kind: AutonomousAgent\n  description: Helps."
    b = agent("{ ref: note, writes_context: true }", id="b", enum="[]", routes="{}")
    b = b.replace("kind: AutonomousAgent", described)
    a = agent("{ ref: b, writes_context: true }", id="a")
    write_project(tmp_path, a + b + node("note"))
    plan = open_app(tmp_path, {}).plan("w")
    step = plan.steps["a"]
    assert plan.spine == ("a",)

    def of(what: str) -> object:
        return declared(step.kind, what, step, plan)

    assert of("output_key") == "a_result"
    assert of("signals").names[:2] == ("resolved", "escalate")
    assert {"a_result", "b_result"} <= of("writes").names
    assert of("effects") is Effects.IRREVERSIBLE
    assert of("cost").model_calls is None
