"""The outside of documents: kinds, names, versions, and what stands where it does not belong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tuvl_core.diagnostics import Diagnostic, Location
from tuvl_core.errors import ProjectError
from tuvl_core.project import WorkflowMetadata, load_project
from tuvl_core.views import Secret

MODEL = "kind: AgentModel\nmetadata: { name: default }\nspec: { model: openai/x }\n"
FLOW = """\
kind: Workflow
metadata: { name: flow }
spec:
  steps:
    - { id: a, runner: a }
"""


def found(project) -> list[str]:
    return [f"{item.location} {item.code}" for item in project.diagnostics]


def only(project) -> str:
    (problem,) = project.diagnostics
    return f"{problem.location} {problem.code} {problem.message} | {problem.hint}"


def test_files_hold_one_or_more_documents(load):
    project = load(FLOW, **{"llms/m.yaml": f"{MODEL}---\n{MODEL.replace('default', 'other')}"})
    assert project.diagnostics == []
    assert list(project.workflows) == ["flow"]
    assert list(project.definitions("AgentModel")) == ["default", "other"]
    model = project.definitions("AgentModel")["other"]
    assert model.spec.model == "openai/x"
    assert str(model.locate("spec", "model")) == "llms/m.yaml:7:16"
    assert [document.path for document in project.documents] == ["llms/m.yaml"] * 2 + ["w.yaml"]
    assert project.files == 2


def test_metadata(load):
    text = """\
    kind: Workflow
    version: 3
    enabled: true
    metadata:
      name: 007
      schema_version: 2
      description: costs ${AMOUNT}
      group: desk
      required_scope: refunds:run
      required_group: ops
    spec: { steps: [{ id: a, runner: x }] }
    """
    project = load(text)
    assert project.diagnostics == []
    definition = project.workflows["007"]
    assert definition.metadata == WorkflowMetadata(
        name="007",
        schema_version="2",
        description="costs ${AMOUNT}",
        group="desk",
        required_scope="refunds:run",
        required_group="ops",
    )
    assert (definition.kind, definition.schema_version) == ("Workflow", "2")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: 1", "w.yaml:1:1 TUVL-S020 the document has no `kind`"),
        ("kind: Workflw\nspec: {}", "w.yaml:1:7 TUVL-S021"),
        ("kind: Workflw\nspec: {}", "did you mean `Workflow`?"),
        ("kind: MCPServer\nspec: {}", "comes with the package tuvl-kinds-mcp"),
        ("kind: agentmodel\nx: 1", "did you mean `AgentModel`?"),
        ("kind: McpServer\nx: 1", "did you mean `MCPServer`? `MCPServer` comes with the package tuvl-kinds-mcp"),
        ("kind: Banana\nx: 1", "what is installed knows: Workflow, AgentModel"),
        (MODEL.replace("name: default", ""), "w.yaml:2:11 TUVL-S002 `metadata.name` must be given"),
        (MODEL.replace("default", "' '"), "w.yaml:2:19 TUVL-S024"),
        (MODEL.replace("default", '"a\\nb"'), "TUVL-S024 `metadata.name` must be text on one line"),
        (MODEL.replace("name: default", "name: d, nam: x"), "did you mean `name`?"),
        (MODEL.replace("name: default", "name: d, group: x"), "`metadata.group` is no known key"),
        (MODEL + "enabled: no", "w.yaml:4:10 TUVL-S003 `enabled`: expected true or false"),
        (MODEL + "metdata: {}", "TUVL-S001 `metdata` is no known key | did you mean `metadata`?"),
        (MODEL + "name: x", "`name` belongs under `metadata`"),
        (MODEL.replace("model:", "modl:"), "did you mean `model`?"),
        ("kind: AgentModel\nmetadata: { name: d }", "TUVL-S002 `spec.model` must be given"),
        (
            "kind: AgentModel\nmetadata: { name: d }\nspec: 5",
            "TUVL-S003 `spec`: expected a mapping",
        ),
        ("kind: Workflow\nmetadata: { name: d }\nspec: 5", "TUVL-S003 `spec`: expected a mapping"),
        ("kind: Workflow\nmetadata: { name: d }", "TUVL-W010 a workflow needs at least one step"),
        ("- a", "TUVL-Y011"),
        ("a: [", "TUVL-Y004"),
    ],
)
def test_what_is_wrong_with_a_document(load, text, says):
    project = load(text)
    assert any(says in line for line in lines(project)), lines(project)


def lines(project) -> list[str]:
    return [f"{item.location} {item.code} {item.message} | {item.hint}" for item in project.diagnostics]


def test_a_body_outside_spec_says_so(load):
    project = load(
        """\
        kind: Workflow
        metadata: { name: flow }
        limits: { max_steps: 5 }
        steps:
          - { id: a, runner: x }
        """
    )
    assert lines(project) == [
        "w.yaml:3:1 TUVL-S022 `limits` stands outside `spec`: a document's body lies under `spec` "
        "| move it to `spec.limits`",
        "w.yaml:4:1 TUVL-S022 `steps` stands outside `spec`: a document's body lies under `spec` "
        "| move it to `spec.steps`",
    ]


def test_one_key_outside_spec_beside_a_body(load):
    assert only(load(MODEL + "temperature: 1")).startswith("w.yaml:4:1 TUVL-S022 `temperature`")


def test_two_documents_of_one_name_tell_of_each_other(load):
    project = load(FLOW, **{"x.yaml": FLOW})
    assert lines(project) == [
        "w.yaml:2:19 TUVL-S023 another Workflow is named `flow` (v1): x.yaml:2:19 | rename one of "
        "them, give it another `schema_version`, or set `enabled: false`",
        "x.yaml:2:19 TUVL-S023 another Workflow is named `flow` (v1): w.yaml:2:19 | rename one of "
        "them, give it another `schema_version`, or set `enabled: false`",
    ]
    assert [item.workflow for item in project.diagnostics_for("flow")] == ["flow", "flow"]


def test_versions_of_a_name_live_side_by_side(load):
    def version(name: str) -> str:
        return MODEL.replace("name: default", f"name: default, schema_version: {name}").replace("openai/x", name)

    project = load(version("v9"), **{"b.yaml": version("v10"), "c.yaml": version("v2")})
    assert project.diagnostics == []
    assert project.definitions("AgentModel")["default"].spec.model == "v10"
    assert project.find("AgentModel", "default").spec.model == "v10"
    assert project.find("AgentModel", "default", "v2").spec.model == "v2"


def test_what_is_turned_off_counts_for_nothing(load):
    off = MODEL.replace("openai/x", "'${NOPE}'") + "enabled: false\n"
    project = load(FLOW, **{"off.yaml": off, "same.yaml": FLOW + "enabled: false\n"})
    assert project.diagnostics == []
    assert list(project.definitions("AgentModel")) == []
    with pytest.raises(ProjectError, match=r"turned off at off\.yaml:4:10"):
        project.find("AgentModel", "default")
    assert project.workflows["flow"].document.path == "w.yaml"


def test_finding_says_what_is_wrong(load):
    broken = MODEL.replace("default", "broken").replace("model:", "modl:")
    project = load(MODEL, **{"b.yaml": broken, "c.yaml": "a: ["})
    with pytest.raises(ProjectError, match=r"no AgentModel `defalt`; did you mean `default`\?"):
        project.find("AgentModel", "defalt")
    with pytest.raises(ProjectError, match="it has: broken, default") as raised:
        project.find("AgentModel", "xyz")
    assert [item.code for item in raised.value.diagnostics] == ["TUVL-Y004"]
    with pytest.raises(ProjectError, match=r"has errors: b\.yaml:3:7") as raised:
        project.find("AgentModel", "broken")
    assert [item.code for item in raised.value.diagnostics] == ["TUVL-S002", "TUVL-S001"]
    with pytest.raises(ProjectError, match=r"no AgentModel `default` \(v7\)"):
        project.find("AgentModel", "default", "v7")
    assert "broken" not in project.definitions("AgentModel")
    broken_one = project._registry.by_name("AgentModel")["broken"]
    with pytest.raises(ValueError, match="could not be read"):
        _ = broken_one.spec


def test_the_environment(load, tmp_path: Path):
    (tmp_path / ".env").write_text("MODEL=from-dotenv\nKEY=dotenv\nbroken line\n")
    text = MODEL.replace("openai/x", "'${MODEL}', api_key: '${KEY}', temperature: '${T:0.5}'")
    project = load(text, environ={"KEY": "real"})
    spec = project.definitions("AgentModel")["default"].spec
    assert (spec.model, spec.api_key, spec.temperature) == ("from-dotenv", Secret("real"), 0.5)
    assert found(project) == [".env:3:1 TUVL-Y013"]


def test_a_missing_variable_names_variable_file_and_line(load):
    line = only(load(MODEL.replace("openai/x", "'${NOPE}'")))
    assert line.startswith("w.yaml:3:17 TUVL-S005 `spec.model`: the environment variable NOPE is ")


def test_secret_resolvers(load, plugins):
    class One:
        dist = "acme-vault"

    class Two:
        dist = "other-vault"

    plugins.resolvers = [
        (One, {"vault": lambda ref: f"<{ref}>", "twice": str}),
        (Two, {"twice": str}),
    ]
    project = load(MODEL.replace("openai/x", "m, api_key: '${vault://a/b}'"))
    assert project.definitions("AgentModel")["default"].spec.api_key == Secret("<a/b>")
    assert lines(project) == [
        "None TUVL-S025 secrets of `twice://` are resolved by acme-vault and other-vault | block "
        "one of them: TUVL_PLUGINS_BLOCK, or `[plugins] block` in tuvl.toml"
    ]


def test_a_directory_that_is_not_there(tmp_path: Path, plugins):
    with pytest.raises(ProjectError, match="there is no directory"):
        load_project(tmp_path / "nowhere", plugins=plugins, environ={})


def test_yaml_problems_of_a_document_belong_to_its_workflow(load):
    project = load(FLOW + "    - { id: b, runner: b, runner: c }\n", **{"x.yaml": "a: 1\na: 2\n"})
    assert [item.code for item in project.diagnostics_for("flow")] == ["TUVL-Y005"]
    assert [item.code for item in project.diagnostics] == ["TUVL-Y005", "TUVL-S020", "TUVL-Y005"]
    assert project.diagnostics_for("nope") == []


def test_the_text_of_an_error_shows_the_first_findings() -> None:
    where = Location(path="w.yaml", line=3, column=5)
    found = [
        Diagnostic(severity="error", code=f"T{n}", message="is wrong", location=where, hint="mend it") for n in range(7)
    ]
    error = ProjectError("workflow 'w' cannot run: 7 errors", found)
    lines = str(error).splitlines()
    assert lines[0] == error.message == "workflow 'w' cannot run: 7 errors"
    assert lines[1] == "  w.yaml:3:5: error T0: is wrong (mend it)"
    assert lines[-1] == "  … and 2 more"
    assert len(lines) == 7
    assert str(ProjectError(f"x has errors: {found[0]}", found[:1])) == f"x has errors: {found[0]}"
