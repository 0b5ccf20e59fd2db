"""A check that raises costs only its own findings, and the message says whose it is and where it raised."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from installed import forget, install

from tuvl_core import App, Plugins, ProjectError, check_project, load_project

PLUGIN = """\
from tuvl_core import Code, Diagnostic, StepKind, StepResult, Validator, hookimpl

class Odd(StepKind):
    '''Odd.'''
    name = "acme.Odd"

    {method}

    async def run(self, call):
        return StepResult()

def check(plan):
    yield Diagnostic.of(CODE, "found before")
    raise LookupError("of the validator")

CODE = Code(code="ACME-1", severity="error", klass="flow", title="found")

@hookimpl
def tuvl_step_kinds():
    return [Odd]

@hookimpl
def tuvl_validators():
    return [Validator(codes=[CODE], check={check})]
"""
WORKFLOW = """\
kind: Workflow
metadata: { name: w }
spec:
  steps:
    - { id: odd, kind: acme.Odd, routes: { default: answer } }
    - { id: gate, kind: Router, condition: "x", routes: { "true": END } }
    - { id: answer, kind: Response }
"""


@pytest.fixture
def project(tmp_path: Path) -> Iterator[object]:
    site = tmp_path / "site"
    site.mkdir()
    sys.path.insert(0, str(site))
    modules: list[str] = []

    def make(method: str, check: str = "check") -> object:
        root = tmp_path / "root"
        root.mkdir()
        modules.append(install(site, "acme-odd", PLUGIN.format(method=method, check=check), version="2.1"))
        (root / "w.yaml").write_text(WORKFLOW)
        return load_project(root, plugins=Plugins.load(environ={}), environ={})

    yield make
    sys.path.remove(str(site))
    forget(*modules)


@pytest.mark.parametrize(
    "method",
    [
        "def validate(self, step, plan): raise LookupError('of the kind')",
        "def children(self, step, plan): raise LookupError('of the kind')",
        "def effects(self, step, plan): raise LookupError('of the kind')",
        "def signals(self, step, plan): raise LookupError('of the kind')",
        "def writes(self, step, plan): raise LookupError('of the kind')",
    ],
)
def test_only_its_own_findings_are_lost(project, method):
    found = check_project(project(method))
    codes = {item.code for item in found}
    # What others find is there; a plugin's own findings before it raised are not, as they may be half of it.
    assert {"TUVL-R004", "TUVL-R101"} <= codes
    assert "ACME-1" not in codes
    crashed = [item for item in found if item.code == "TUVL-P020"]
    assert all(item.plugin == "acme-odd 2.1" and "acme-odd 2.1" in item.message for item in crashed), crashed
    [validator] = [item for item in crashed if "of the validator" in item.message]
    assert "LookupError" in validator.message and "(acme_odd, line 14)" in validator.message
    if "signals" not in method and "writes" not in method:  # there the worst case is taken
        [kind] = [item for item in crashed if "of the kind" in item.message]
        assert "(acme_odd, line 7)" in kind.message
        assert (kind.step, kind.location and kind.location.line) == ("odd", 5)


async def test_a_kind_that_cannot_say_what_it_declares_runs_nothing(project, tmp_path):
    loaded = project("def children(self, step, plan): raise LookupError('of the kind')", "lambda plan: ()")
    (tmp_path / "root" / "w.yaml").write_text(
        "kind: Workflow\nmetadata: { name: w }\nspec: { steps: [{ id: odd, kind: acme.Odd }] }\n"
    )
    loaded = load_project(tmp_path / "root", plugins=loaded.plugins, environ={})
    async with App(loaded) as app:
        with pytest.raises(
            ProjectError, match=r"acme\.Odd \(acme-odd 2\.1\) could not say what it declares: LookupErr"
        ):
            await app.run("w")
