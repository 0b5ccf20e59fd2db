"""What `validate` says of declarations together: signals without a route, a result that nobody writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tuvl_core import Plugins, check_project, load_project

KINDS = """
from tuvl_core import Child, Keys, Signals, StepKind, StepResult, hookimpl
import attrs


@attrs.frozen(kw_only=True)
class Tools:
    tools: list[str] = attrs.field(factory=list)


class Gate(StepKind):
    name = "acme.Gate"
    signals = Signals("default", "open", "shut", "error", "aborted")
    writes = Keys("opened", "_private")

    async def run(self, call):
        return StepResult()


class Owner(StepKind):
    name = "acme.Owner"
    Config = Tools
    signals = Signals("default")

    def writes(self, step, plan):
        return Keys("owned", open="open" in step.config.tools)

    def children(self, step, plan):
        return [Child(ref) for ref in step.config.tools]

    async def run(self, call):
        return StepResult()


class Broken(StepKind):
    name = "acme.Broken"

    def signals(self, step, plan):
        raise RuntimeError("no")

    def writes(self, step, plan):
        raise RuntimeError("no")

    async def run(self, call):
        return StepResult()


@hookimpl
def tuvl_step_kinds():
    return [Gate, Owner, Broken]
"""
GATE = "{ id: gate, kind: acme.Gate, routes: { open: END, shut: END } }"
OWNER = "{ id: own, kind: acme.Owner }"


def findings(root: Path, *steps: str, head: str = "") -> list[str]:
    (root / "plugins").mkdir()
    (root / "plugins" / "kinds.py").write_text(KINDS)
    body = "".join(f"    - {step}\n" for step in steps)
    (root / "w.yaml").write_text(f"kind: Workflow\nmetadata: {{ name: w }}\nspec:\n{head}  steps:\n{body}")
    project = load_project(root, plugins=Plugins.load(root=root, environ={}), environ={})
    return [str(item) for item in check_project(project) if item.workflow == "w"]


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([GATE], []),
        ([GATE.replace("open: END, ", "")], ["w.yaml:5:44: warning TUVL-W015: `open` has no route"]),
        (["{ id: gate, kind: acme.Gate }"], ["TUVL-W015: `open` has no", "TUVL-W015: `shut` has no"]),
        (["{ id: own, kind: acme.Owner, tools: [gate] }", "{ id: gate, kind: acme.Gate }"], []),
        (["{ id: a, kind: acme.Broken }"], []),
        (["{ id: a, kind: Router, condition: '{{ true }}' }"], ["TUVL-R004"]),
        (["{ id: a, kind: Agent, agent: { model: x/y, prompt: hi } }"], ["`timeout` has no route"]),
    ],
)
def test_declared_signals_without_a_route(tmp_path: Path, steps: list[str], said: list[str]) -> None:
    found = findings(tmp_path, *steps)
    assert len(found) == len(said), found
    assert all(part in text for part, text in zip(said, found, strict=True)), found


@pytest.mark.parametrize(
    ("steps", "head", "said"),
    [
        ([GATE], "  output: opened\n", None),
        ([GATE], "  output: open\n", "w.yaml:4:11: warning TUVL-W003: no step writes `open`"),
        ([GATE], "  output: opend\n", "(did you mean `opened`?)"),
        ([GATE, OWNER], "  output: zzz\n", "(the steps write: opened, owned)"),
        ([GATE, "{ id: own, kind: acme.Owner, tools: [open] }"], "  output: zzz\n", None),
        ([GATE, "{ id: a, kind: acme.Broken }"], "  output: zzz\n", None),
        ([GATE], "  output: given\n  input: { type: object, properties: { given: {} } }\n", None),
        ([GATE, "{ id: b, kind: acme.Gate, wrong: 1 }"], "  output: zzz\n", None),
    ],
)
def test_a_result_that_no_step_writes(tmp_path: Path, steps: list[str], head: str, said: str | None) -> None:
    found = [text for text in findings(tmp_path, *steps, head=head) if "W003" in text]
    assert len(found) == (said is not None), found
    assert all(str(said) in text for text in found), found
