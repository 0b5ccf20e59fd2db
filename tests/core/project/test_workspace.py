"""After any edits a workspace finds what a fresh load of the same files finds, and does no more than it must."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tuvl_core.workspace as module
from tuvl_core import Diagnostic, Plugins, Workspace, check_project, load_project

MODEL = "kind: AgentModel\nmetadata: {{ name: {name} }}\nspec: {{ model: openai/x }}\n"
FLOW = """kind: Workflow
metadata: {{ name: {name} }}
spec:
  steps:
    - id: a
      kind: Agent
      agent: {{ model: {model}, prompt: p }}
      routes: {{ default: {target} }}
    - id: b
      kind: Response
      mapping: {{ x: a_result }}
"""
TEXTS = [
    MODEL.format(name="m"),
    MODEL.format(name="n"),
    MODEL.format(name="m").replace("openai/x", "5"),
    FLOW.format(name="w", model="m", target="b"),
    FLOW.format(name="w", model="n", target="c"),
    FLOW.format(name="v", model="m", target="END"),
    FLOW.format(name="v", model="gone", target="END") + "---\n" + MODEL.format(name="m"),
    FLOW.format(name="u", model="m", target="END").replace("metadata:", "enabled: false\nmetadata:"),
    "kind: [broken\n",
    "",
]
PATHS = ["a.yaml", "b.yaml", "sub/c.yml"]


@pytest.fixture(scope="module")
def plugins() -> Plugins:
    return Plugins.load(root=Path(tempfile.mkdtemp()))


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from(PATHS), st.none() | st.sampled_from(TEXTS), st.booleans()), max_size=8),
)
def test_edits_end_where_a_fresh_load_does(plugins: Plugins, edits: list[tuple[str, str | None, bool]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "sub").mkdir()
        (root / "a.yaml").write_text(TEXTS[0])
        (root / "b.yaml").write_text(TEXTS[3])
        workspace = Workspace(root, plugins=plugins)
        for path, text, checked in edits:
            workspace.edit(path, text)
            if checked:
                workspace.check(seconds=0)
        assert workspace.check()
        found = workspace.diagnostics
        for path, text in {path: text for path, text, _ in edits}.items():
            if text is not None:
                (root / path).write_text(text)
        assert found == check_project(load_project(root, plugins=plugins))


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    names: list[str] = []
    real = module.check_workflow

    def check(plan: Any) -> list[Diagnostic]:
        names.append(plan.workflow)
        return real(plan)

    monkeypatch.setattr(module, "check_workflow", check)
    return names


def test_only_what_depends_on_a_change_is_checked_again(tmp_path: Path, plugins: Plugins, checked: list[str]) -> None:
    for name in "uvw":
        (tmp_path / f"{name}.yaml").write_text(FLOW.format(name=name, model="m", target="b"))
    (tmp_path / "m.yaml").write_text(MODEL.format(name="m"))
    workspace = Workspace(tmp_path, plugins=plugins)
    assert workspace.pending == 3
    assert not workspace.check(seconds=0)
    assert workspace.check()
    assert sorted(checked) == ["u", "v", "w"]
    checked.clear()
    workspace.edit("v.yaml", FLOW.format(name="v", model="m", target="END"))
    assert workspace.check()
    assert checked == ["v"]
    checked.clear()
    workspace.edit("m.yaml", MODEL.format(name="n"))
    workspace.edit("w.yaml", FLOW.format(name="w", model="n", target="b"))
    workspace.check(seconds=0)
    assert checked == ["w"], "what was edited last comes first"
    assert workspace.check()
    assert sorted(checked) == ["u", "v", "w"]
    gone = [item for item in workspace.diagnostics if "`m`" in item.message or "'m'" in item.message]
    assert {item.workflow for item in gone} == {"u", "v"}


def test_unsaved_text_counts_until_it_is_let_go(tmp_path: Path, plugins: Plugins) -> None:
    (tmp_path / "a.yaml").write_text(FLOW.format(name="w", model="a/b", target="b"))
    workspace = Workspace(tmp_path, plugins=plugins)
    workspace.edit("a.yaml", "kind: Workflw\n")
    workspace.edit("new.yaml", MODEL.format(name="m"))
    workspace.reload()
    workspace.check()
    assert [item.code for item in workspace.diagnostics] == ["TUVL-S021"]
    assert workspace.project.files == 2
    workspace.edit("a.yaml", None)
    workspace.edit("new.yaml", None)
    assert workspace.project.files == 1 and list(workspace.project.workflows) == ["w"]


def test_what_checks_look_at_besides_documents(tmp_path: Path, plugins: Plugins) -> None:
    step = "kind: Workflow\nmetadata: { name: w }\nspec: { steps: [{ id: a, runner: hello }] }\n"
    (tmp_path / "w.yaml").write_text(step)
    workspace = Workspace(tmp_path, plugins=plugins)
    workspace.check()
    assert workspace.diagnostics
    (tmp_path / "nodes").mkdir()
    node = "from tuvl_kinds_functional import node\n\n@node('hello')\ndef hello(ctx):\n    return {}\n"
    (tmp_path / "nodes/a.py").write_text(node + "raise SystemExit('never imported')\n")
    workspace.touch()
    workspace.check()
    assert not [item for item in workspace.diagnostics if item.severity == "error"]


def test_a_text_is_read_without_being_taken_in(tmp_path: Path, plugins: Plugins) -> None:
    workspace = Workspace(tmp_path, plugins=plugins)
    documents, plans = workspace.read("a.yaml", FLOW.format(name="w", model="m", target="b"))
    assert [item.name for item in documents] == ["w"]
    assert list(plans[0].steps) == ["a", "b"]
    assert not workspace.project.workflows
