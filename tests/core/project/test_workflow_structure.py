"""Workflows and steps: every level is read for itself, and nothing is dropped silently."""

from __future__ import annotations

import pytest

from tuvl_core.project import END, Limits

HEAD = "kind: Workflow\nmetadata: { name: flow }\nspec:\n  steps:\n"


def lines(project) -> list[str]:
    return [f"{item.location} {item.code} {item.message} | {item.hint}" for item in project.diagnostics]


def steps(text: str) -> str:
    return HEAD + "".join(f"    {line}\n" for line in text.strip("\n").splitlines())


def test_a_workflow_is_typed(load):
    project = load(
        """\
        kind: Workflow
        metadata: { name: refund_desk }
        spec:
          input: { type: object, required: [id] }
          limits: { max_steps: 50, timeout_s: 2.5, token_budget: 1000 }
          output: refund
          reveal: [iban]
          acme_audit: { level: 2 }
          steps:
            - id: look-up_1
              kind: APICall
              description: Look up ${nothing} by id.
              timeout: 30
              acme_cost: 5
              http: { url: "https://x.test/{{ id }}" }
              routes: { default: END, on: yes }
            - id: yes
              runner: pay
        """
    )
    assert project.diagnostics == []
    spec = project.workflows["refund_desk"].spec
    assert spec.input == {"type": "object", "required": ["id"]}
    assert spec.limits == Limits(max_steps=50, timeout_s=2.5, token_budget=1000)
    assert (spec.output, spec.reveal, spec.sections["acme_audit"].level) == ("refund", ("iban",), 2)
    first, second = spec.steps
    assert (first.id, first.kind, first.timeout) == ("look-up_1", "APICall", 30.0)
    assert first.description == "Look up ${nothing} by id."
    assert first.routes == {"default": END, "on": "yes"}
    assert first.sections == {"acme_cost": 5}
    assert first.config.http.url.reads[0].path == ("id",)
    assert (second.kind, second.kind_name, second.config.runner) == ("Functional",) * 2 + ("pay",)
    assert str(first.locate("http", "url")) == "w.yaml:15:20"
    assert str(first.locate()) == "w.yaml:10:7"
    assert str(second.locate("nothing", "here")) == "w.yaml:17:7"


def test_plain_words_are_text_everywhere(load):
    project = load(
        steps(
            """
- id: off
  kind: AutonomousAgent
  agent: { outcome: { enum: [yes, no, true, 1.0] } }
  routes: { yes: on, no: 1x, true: NO, 1.0: END }
- { id: on, runner: n }
- { id: NO, kind: Router, routes: { on: off, off: on, NO: null } }
- { id: null, runner: n }
"""
        )
    )
    spec = project.workflows["flow"].spec
    assert [step.id for step in spec.steps] == ["off", "on", "NO", "null"]
    assert spec.steps[0].config.agent.outcome.enum == ["yes", "no", "true", "1.0"]
    assert spec.steps[0].routes == {"yes": "on", "no": "1x", "true": "NO", "1.0": "END"}
    assert spec.steps[2].routes == {"on": "off", "off": "on", "NO": "null"}
    assert lines(project) == [
        "w.yaml:8:30 TUVL-W014 the route `no` leads to `1x`, which is no step of this workflow | "
        "name a step's id, or `END`"
    ]


def test_two_routes_in_one_step_name_both_lines(load):
    project = load(
        steps(
            """
- id: a
  runner: x
  routes: { default: END }
  timeout: 5
  routes: { error: END }
"""
        )
    )
    (line,) = lines(project)
    assert line.startswith("w.yaml:9:7 TUVL-Y005 `routes` is given twice: here (line 9) and on line 7")
    assert project.diagnostics[0].workflow == "flow"


def test_an_id_used_twice_names_both_steps(load):
    project = load(steps("- { id: a, runner: x }\n- { id: b, runner: x }\n- { id: a, runner: y }"))
    (problem,) = project.diagnostics
    assert problem.code == "TUVL-W013"
    assert str(problem.location) == "w.yaml:7:13"
    assert "two steps have the id `a`: here (line 7) and on line 5" in problem.message
    assert (problem.workflow, problem.step) == ("flow", "a")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        # (c), (d), (e), (f) of the loader's requirement, and their neighbours
        (
            "- id: a\n  kind: AutonomousAgent\n  agent: { max_iteration: 2 }",
            "w.yaml:7:16 TUVL-S001 `spec.steps[0].agent.max_iteration` is no known key | did you "
            "mean `max_iterations`?",
        ),
        (
            "- id: a\n  kind: AutonomousAgent\n  tools: [{ ref: a }]\n  agent: {}",
            "w.yaml:7:7 TUVL-S001 `spec.steps[0].tools` is no known key | `tools` belongs under `agent` of the step",
        ),
        (
            "- id: a\n  kind: AutonomousAgent\n  agent:\n    tools: [{ ref: a, writes_contxt: true }]",
            "w.yaml:8:27 TUVL-S001 `spec.steps[0].agent.tools[0].writes_contxt` is no known key | "
            "did you mean `writes_context`?",
        ),
        (
            "- id: a\n  kind: AutonomousAgent\n  agent:\n    goal: be nice",
            "w.yaml:8:9 TUVL-S001 `spec.steps[0].agent.goal` is no known key | did you mean `steering`?",
        ),
        (
            "- id: a\n  kind: AutonomousAgent\n  agent: { routes: { default: END } }",
            "`routes` belongs on the step itself, beside `id`",
        ),
        ("- id: a\n  runner: x\n  max_steps: 5", "`max_steps` belongs under `spec.limits`"),
        ("- id: a\n  runner: x\n  route: { a: END }", "did you mean `routes`?"),
        ("- id: a\n  runner: x\n  http: {}", "`spec.steps[0].http` is no known key"),
        ("- id: a\n  runner: x\n  acme_cost: much", "`spec.steps[0].acme_cost`: expected a whole"),
        ("- id: a\n  runner: x\n  supervisor: {}", "comes with the package tuvl-supervisor"),
        ("- id: a\n  kind: MCP", "w.yaml:6:13 TUVL-W011 nothing that is installed knows steps of"),
        ("- id: a\n  kind: MCP", "`MCP` comes with the package tuvl-kinds-mcp: `pip install"),
        ("- id: a\n  kind: mcp", "did you mean `MCP`? `MCP` comes with the package tuvl-kinds-mcp: `pip install"),
        ("- id: a\n  kind: ApiCall", "did you mean `APICall`?"),
        (
            "- id: a\n  kind: acme.Delay",
            "brings it; what is installed knows: APICall, AutonomousAgent, Functional, Router",
        ),
        ("- runner: x", "w.yaml:5:7 TUVL-S002 `spec.steps[0].id` must be given"),
        ("- id:\n  runner: x", "w.yaml:5:7 TUVL-S003 `spec.steps[0].id`: expected text, got noth"),
        ("- id: END\n  runner: x", "w.yaml:5:11 TUVL-W012 `END` is no id"),
        ("- id: 1a\n  runner: x", "w.yaml:5:11 TUVL-W012 `1a` cannot be an id"),
        ("- id: a.b\n  runner: x", "`a.b` cannot be an id"),
        ("- id: 'a b'\n  runner: x", "`a b` cannot be an id"),
        ("- id: é\n  runner: x", "`é` cannot be an id"),
        (f"- id: {'x' * 65}\n  runner: x", "cannot be an id"),
        ('- id: "a\\n"\n  runner: x', "cannot be an id"),
        ("- id: a\n  runner: x\n  timeout: 0", "`spec.steps[0].timeout`: must be more than 0"),
        ("- id: a\n  runner: x\n  timeout: soon", "expected a number, got the text 'soon'"),
        ("- id: a\n  runner: x\n  routes: [b]", "w.yaml:7:15 TUVL-S003 `spec.steps[0].routes`"),
        (
            "- id: a\n  runner: x\n  routes: { error: [b] }",
            "`spec.steps[0].routes.error`: expected",
        ),
        ("- id: a\n  runner: x\n  routes: { error: }", "`spec.steps[0].routes.error`: expected"),
        ("- id: pay\n  runner: x\n  routes: { error: pya }", "w.yaml:7:24 TUVL-W014"),
        ("- id: pay\n  runner: x\n  routes: { error: pya }", "did you mean `pay`?"),
        ("- id: pay\n  runner: x\n  routes: { error: end }", "did you mean `END`?"),
        ("- 5", "w.yaml:5:7 TUVL-S003 `spec.steps[0]`: expected a mapping, got the number 5"),
        ("- id: a\n  kind: APICall", "`spec.steps[0].http` must be given"),
        ("- id: a\n  kind: APICall\n  http: { url: '{{ x' }", "w.yaml:7:21 TUVL-S007"),
        ("- id: a\n  kind: APICall\n  http: { url: 'a {{ x | nope }}' }", "TUVL-S007"),
        (
            "- id: a\n  kind: APICall\n  http: { url: x, output_key: y }",
            "`output_key` belongs under",
        ),
    ],
)
def test_what_is_wrong_with_a_step(load, text, says):
    project = load(steps(text))
    assert any(says in line for line in lines(project)), lines(project)
    assert all(item.workflow == "flow" for item in project.diagnostics)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("supervisor: {}", "`supervisor` comes with the package tuvl-supervisor"),
        ("stps: []", "did you mean `steps`?"),
        ("max_steps: 5", "`max_steps` belongs under `spec.limits`"),
        ("id: a", "`id` belongs on the step itself"),
        ("name: a", "`name` belongs under `metadata`"),
        ("limits: { max_steps: 0 }", "`spec.limits.max_steps`: must be at least 1"),
        ("limits: { max_step: 1 }", "did you mean `max_steps`?"),
        ("limits: { timeout_s: -1 }", "must be more than 0"),
        ("limits: { max_steps: '5' }", "remove the quotes"),
        ("input: [a]", "`spec.input`: expected a mapping, got a list"),
        ("reveal: a", "`spec.reveal`: expected a list"),
        ("acme_audit: { level: -1 }", "`spec.acme_audit.level`: must be at least 0"),
        ("acme_audit: { lvl: 1 }", "did you mean `level`?"),
        ("output: [a]", "`spec.output`: expected text"),
    ],
)
def test_what_is_wrong_with_a_body(load, text, says):
    project = load(f"{HEAD}    - {{ id: a, runner: x }}\n  {text}\n")
    assert any(says in line for line in lines(project)), lines(project)
    assert [step.id for step in project.workflows["flow"].spec.steps] == ["a"]


@pytest.mark.parametrize("body", ["steps: []", "steps:", "output: x"])
def test_a_workflow_without_steps(load, body):
    (line,) = lines(load(f"kind: Workflow\nmetadata: {{ name: w }}\nspec:\n  {body}\n"))
    assert "TUVL-W010" in line


def test_steps_that_are_no_list(load):
    (line,) = lines(load("kind: Workflow\nmetadata: { name: w }\nspec:\n  steps: { a: 1 }\n"))
    assert "`spec.steps`: expected a list, got a mapping" in line


def test_one_bad_level_hides_no_other(load):
    project = load(
        """\
        kind: Workflow
        metadata: { name: flow, nme: x }
        versoin: 1
        spec:
          limits: { max_steps: no }
          acme_audit: { level: x }
          steps:
            - id: a
              kind: AutonomousAgent
              timeout: soon
              acme_cost: much
              agent: { max_iterations: many, tools: [{}] }
              routes: { default: nowhere }
            - id: b
              kind: Nope
              routes: { default: nobody }
            - { id: a, runner: 5, nope: 1 }
            - oops
        """
    )
    assert [f"{i.location.line} {i.code} {i.step}" for i in project.diagnostics] == [
        "2 TUVL-S001 None",
        "3 TUVL-S001 None",
        "5 TUVL-S003 None",
        "6 TUVL-S003 None",
        "10 TUVL-S003 a",
        "11 TUVL-S003 a",
        "12 TUVL-S003 a",
        "12 TUVL-S002 a",
        "13 TUVL-W014 a",
        "15 TUVL-W011 b",
        "16 TUVL-W014 b",
        "17 TUVL-W013 a",
        "17 TUVL-S003 a",
        "17 TUVL-S001 a",
        "18 TUVL-S003 None",
    ]
    steps_read = project.workflows["flow"].spec.steps
    assert [(step.id, step.config) for step in steps_read] == [
        ("a", None),
        ("b", None),
        ("a", None),
    ]
    assert all(item.klass == "structure" for item in project.diagnostics)


def test_bodies_are_read_when_they_are_asked_for_and_once(load, monkeypatch):
    from tuvl_core.project import read as read_module

    seen: list[str] = []
    original = read_module.read_step

    def counted(data, *rest):
        seen.append(data["id"])
        return original(data, *rest)

    monkeypatch.setattr(read_module, "read_step", counted)
    other = steps("- { id: z, runner: x }").replace("name: flow", "name: other")
    project = load(steps("- { id: a, runner: x }"), **{"other.yaml": other})
    assert seen == []
    assert project.diagnostics_for("flow") == []
    assert project.workflows["flow"].spec.steps[0].id == "a"
    assert seen == ["a"]
    assert project.diagnostics == project.diagnostics == []
    assert sorted(seen) == ["a", "z"]


def test_every_code_is_stable_and_told_apart():
    from tuvl_core.documents import CODES as document_codes
    from tuvl_core.project import CODES as project_codes
    from tuvl_core.structure import CODES as structure_codes

    codes = [*document_codes, *structure_codes, *project_codes]
    names = [code.code for code in codes]
    assert len(set(names)) == len(names)
    assert all(code.title and code.klass == "structure" for code in codes)
