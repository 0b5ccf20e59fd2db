"""A section may say what a run's input is, in the place of `spec.input`."""

from __future__ import annotations

import pytest

from tuvl_core import InputError, Plugins, compile_workflow, load_project

PLUGIN = """
import attrs
from tuvl_core import Section, hookimpl


@attrs.frozen(kw_only=True)
class Door:
    takes: dict | None = None


@hookimpl
def tuvl_workflow_sections():
    return [Section(key="acme_door", spec=Door, input=lambda door: door.takes)]
"""
STRICT = "{ type: object, required: [n], properties: { n: { type: integer } } }"


def plan(root, spec):
    (root / "plugins").mkdir()
    (root / "plugins" / "door.py").write_text(PLUGIN)
    (root / "w.yaml").write_text(
        f"kind: Workflow\nmetadata: {{ name: w }}\nspec:\n{spec}\n  steps: [{{ id: s, kind: Response, source: n }}]\n"
    )
    return compile_workflow(load_project(root, plugins=Plugins.load(root=root, environ={}), environ={}), "w")


def refuses(plan, value):
    from tuvl_core.engine.inputs import initial_context

    with pytest.raises(InputError):
        initial_context(plan, value)


def test_a_section_gives_the_schema(tmp_path):
    found = plan(tmp_path, f"  acme_door: {{ takes: {STRICT} }}")
    assert found.spec.input is found.spec.sections["acme_door"].takes
    refuses(found, {"n": "one"})


def test_the_workflows_own_schema_comes_first(tmp_path):
    found = plan(tmp_path, f"  input: {{ type: object, required: [m] }}\n  acme_door: {{ takes: {STRICT} }}")
    assert found.spec.input["required"] == ["m"]


def test_a_section_that_gives_none_changes_nothing(tmp_path):
    assert plan(tmp_path, "  acme_door: {}").spec.input is None
