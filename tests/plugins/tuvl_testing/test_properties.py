"""Properties that hold for any workflow, any context and any sequence of model turns."""

from __future__ import annotations

import asyncio
import importlib
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from installed import forget, install

from tuvl_core import END, App, Plugins, Signals, StepKind, StepResult, Template, field, load_project, to_wire, to_yaml
from tuvl_testing import KindCheckError, ProjectBuilder, ScriptedModel, check_kind, use_model
from tuvl_testing.strategies import contexts, model_turns, signals, workflows

NODES = """
from tuvl_kinds_functional import node

SIGNALS = []


@node("step")
async def step(ctx):
    return SIGNALS.pop() if SIGNALS else None


@node("echo")
async def echo(ctx):
    return {"seen": ctx["value"]}
"""
RELAXED = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def write(root: Path, document: dict[str, Any]) -> None:
    (root / "nodes").mkdir(exist_ok=True)
    (root / "nodes" / "n.py").write_text(NODES)
    (root / "w.yaml").write_text(json.dumps(document))


@RELAXED
@given(workflows(), contexts(), st.lists(signals(), max_size=20))
def test_routing_never_leaves_the_plan(document: dict[str, Any], context: dict[str, Any], left: list[str]) -> None:
    with TemporaryDirectory() as folder:
        root = Path(folder)
        write(root, document)
        project = load_project(root, plugins=Plugins.load(root=root, environ={}), environ={})

        async def go() -> Any:
            async with App(project) as app:
                app.plan("generated").steps.values()
                for step in app.plan("generated").steps.values():
                    if step.kind_name == "Functional":
                        step.prepared.function.__globals__["SIGNALS"][:] = left
                return await app.run("generated", context)

        result = asyncio.run(go())
    ids = [step["id"] for step in document["spec"]["steps"]]
    assert result.status in ("completed", "stopped", "failed")
    assert len(result.path) <= document["spec"]["limits"]["max_steps"]
    routes = {step["id"]: step["routes"] for step in document["spec"]["steps"]}
    for entry, following in zip(result.path, result.path[1:], strict=False):
        position = ids.index(entry.step)
        default = ids[position + 1] if position + 1 < len(ids) and entry.signal == "default" else None
        assert following.step == routes[entry.step].get(entry.signal, default)
        assert following.step != END
    if result.status == "failed":
        assert result.error.type in ("UnroutedSignalError", "RunLimitError")


@RELAXED
@given(contexts())
def test_any_json_context_survives_a_step_a_template_and_the_merge(context: dict[str, Any]) -> None:
    steps = [
        {"id": "copy", "kind": "Functional", "runner": "echo"},
        {"id": "say", "kind": "Response", "source": "seen"},
    ]
    document = {"kind": "Workflow", "metadata": {"name": "w"}, "spec": {"steps": steps}}
    with TemporaryDirectory() as folder:
        root = Path(folder)
        write(root, document)
        project = load_project(root, plugins=Plugins.load(root=root, environ={}), environ={})

        async def go() -> Any:
            async with App(project) as app:
                return await app.run("w", {"value": context})

        result = asyncio.run(go())
    assert result.result == context
    assert to_wire(result.context["seen"]) == to_wire(context)
    assert Template.of("{{ value }}").render({"value": context}) == context


@RELAXED
@given(workflows())
def test_a_document_keeps_its_meaning_through_yaml(document: dict[str, Any]) -> None:
    with TemporaryDirectory() as folder:
        root = Path(folder)
        write(root, document)
        plugins = Plugins.load(root=root, environ={})
        first = load_project(root, plugins=plugins, environ={}).workflows["generated"]
        (root / "w.yaml").write_text(to_yaml(first.to_data()))
        second = load_project(root, plugins=plugins, environ={}).workflows["generated"]
        assert second.problems == first.problems == []
        assert [(s.id, s.kind, s.config, s.routes) for s in second.spec.steps] == [
            (s.id, s.kind, s.config, s.routes) for s in first.spec.steps
        ]
        assert second.spec.limits == first.spec.limits


AGENT: dict[str, Any] = {
    "id": "work",
    "kind": "AutonomousAgent",
    "agent": {
        "model": "scripted/x",
        "steering": "Work.",
        "tools": [{"ref": "echo"}],
        "outcome": {"enum": ["yes", "no"]},
        "max_iterations": 4,
        "token_budget": 5000,
        "retry": {"attempts": 1},
    },
    "routes": dict.fromkeys(["yes", "no", "max_iterations", "budget_exceeded", "error", "aborted"], "END"),
}
TOOL = {"id": "echo", "description": "Echo.", "runner": "echo"}


@RELAXED
@given(st.lists(model_turns(["echo"], ["yes", "no"]), min_size=1, max_size=6))
def test_any_turns_end_in_exactly_one_signal_of_the_closed_set(turns: list[Any]) -> None:
    document = {"kind": "Workflow", "metadata": {"name": "w"}, "spec": {"steps": [AGENT, TOOL]}}
    with TemporaryDirectory() as folder:
        root = Path(folder)
        write(root, document)
        project = load_project(root, plugins=Plugins.load(root=root, environ={}), environ={})
        use_model(project, ScriptedModel(*turns, then="last"))

        async def go() -> Any:
            async with App(project) as app:
                return await app.run("w", {"value": 1})

        result = asyncio.run(go())
    assert result.status == "completed", result.error
    [entry] = result.path
    assert entry.signal in AGENT["routes"]
    assert result.usage["llm_calls"] <= 4
    json.dumps(result.to_dict(), allow_nan=False)


# --- check_kind -------------------------------------------------------------------------------


class Good(StepKind):
    """Does what it says."""

    name = "acme.Good"
    signals = Signals("default")

    async def run(self, call: Any) -> StepResult:
        return StepResult(writes={"x": 1})


class Undeclared(Good):
    """Leaves by what it does not declare."""

    name = "acme.Undeclared"

    async def run(self, call: Any) -> StepResult:
        return StepResult("other")


class Crashes(Good):
    """Has a bug."""

    name = "acme.Crashes"

    async def run(self, call: Any) -> StepResult:
        raise ZeroDivisionError


async def test_a_good_kind_passes() -> None:
    assert (await check_kind(Good, {}, signal="default")).context == {"x": 1}


INSTALLED = """
import attrs
from tuvl_core import DocumentKind, Signals, StepKind, StepResult, hookimpl


@attrs.frozen(kw_only=True)
class Key:
    key: str = ""


class Installed(StepKind):
    name = "acme.Installed"
    signals = Signals("default")

    async def run(self, call):
        return StepResult(writes={"x": len(call.run.app.plugins.document_kinds)})


@hookimpl
def tuvl_step_kinds():
    return [Installed]


@hookimpl
def tuvl_document_kinds():
    return [DocumentKind(kind="acme.Key", spec=Key)]
"""


async def test_a_kind_that_is_installed_can_be_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = install(tmp_path / "site", "acme-installed", INSTALLED)
    monkeypatch.syspath_prepend(tmp_path / "site")
    try:
        kind = importlib.import_module(module).Installed
        await check_kind(Good, {})
        result = await check_kind(kind, {}, signal="default")
        assert result.context["x"] >= 1
    finally:
        forget(module)


class Stubborn(Good):
    """Waits on when it is cancelled, from its second run on."""

    name = "acme.Stubborn"
    runs = 0

    async def run(self, call: Any) -> StepResult:
        Stubborn.runs += 1
        if Stubborn.runs > 1:
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                await asyncio.sleep(3)
        return StepResult(writes={"x": 1})


FAULTY = [(Undeclared, "does not declare"), (Crashes, "crashed"), (Stubborn, "goes on after it was cancelled")]


@pytest.mark.parametrize(("kind", "said"), FAULTY)
async def test_a_faulty_kind_does_not(kind: type[StepKind], said: str) -> None:
    with pytest.raises(KindCheckError, match=said):
        await check_kind(kind, {})


async def test_the_builder_says_what_validate_would(tuvl_project: ProjectBuilder) -> None:
    tuvl_project.workflow("w", {"id": "a", "kind": "Nonsense"})
    assert [item.code for item in tuvl_project.check()] == ["TUVL-W011"]
    assert field is not None
