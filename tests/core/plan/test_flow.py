"""The ways through a workflow and what each has written, told before it runs; and that runs keep to it."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tuvl_core import App, Diagnostic, FlowGraph, Plugins, check_project, load_project

KINDS = '''
import attrs
from tuvl_core import Keys, Signals, StepKind, StepResult, Template, hookimpl

TUVL_API = 1


@attrs.frozen(kw_only=True)
class Config:
    leaves: list[str] = ["default"]
    writes: list[str] = []
    reads: Template[object] | None = None
    open: bool = False


class Play(StepKind):
    """Leave by one of some signals, as the context says, and write some keys."""
    name = "t.Play"
    Config = Config
    mutates_context = False

    def signals(self, step, plan):
        return Signals(*step.config.leaves, open=step.config.open)

    def reads(self, step, plan):
        return Keys()

    def writes(self, step, plan):
        return Keys(*step.config.writes)

    async def run(self, call):
        config = call.step.config
        if config.reads is not None:
            call.render(config.reads)
        choices = [*config.leaves, "error", *(["strange"] if config.open else [])]
        signal = call.resources["choose"](choices)
        writes = {} if signal == "error" else dict.fromkeys(config.writes, 1)
        return StepResult(signal, writes, error="it failed" if signal == "error" else None)


@hookimpl
def tuvl_step_kinds():
    return [Play]
'''


def project(root: Path, steps: list[dict[str, Any]], **spec: Any) -> Any:
    """A project of one workflow `w` whose steps are of the kind that plays."""
    (root / "plugins").mkdir(exist_ok=True)
    (root / "plugins" / "play.py").write_text(KINDS)
    body = {**spec, "steps": [{"kind": "t.Play", **step} for step in steps]}
    (root / "w.yaml").write_text(json.dumps({"kind": "Workflow", "metadata": {"name": "w"}, "spec": body}, indent=1))
    return load_project(root, plugins=Plugins.load(root=root, environ={}), environ={})


def found(root: Path, steps: list[dict[str, Any]], **spec: Any) -> list[Diagnostic]:
    """What the checks say of it."""
    return [item for item in check_project(project(root, steps, **spec)) if item.workflow == "w"]


CLOSED = {
    "input": {
        "type": "object",
        "properties": {"q": {"type": "string"}},
        "required": ["q"],
        "additionalProperties": False,
    }
}
OPTIONAL = {"input": {"type": "object", "properties": {"q": {"type": "string"}}, "additionalProperties": False}}


def step(id: str, *leaves: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "leaves": list(leaves) or ["default"], **more}


@pytest.mark.parametrize(
    ("steps", "spec", "codes"),
    [
        # every way is walked
        ([step("a"), step("b")], {}, []),
        ([step("a", routes={"default": "END"}), step("b")], {}, ["TUVL-W016"]),
        ([step("a", routes={"default": "END", "error": "b"}), step("b")], {}, []),
        ([step("a", "x", routes={"x": "c"}), step("b"), step("c")], {}, ["TUVL-W016"]),
        # routes that are taken
        ([step("a", routes={"defualt": "END"})], {}, ["TUVL-W017"]),
        ([step("a", routes={"error": "END"})], {}, []),
        ([step("a", open=True, routes={"anything": "END"})], {}, []),
        # rounds
        ([step("a", routes={"default": "a"})], {}, ["TUVL-W018"]),
        ([step("a"), step("b", routes={"default": "a", "error": "END"})], {}, ["TUVL-W018"]),
        ([step("a", "x", "default", routes={"x": "a"})], {}, []),
        ([step("a", "x", routes={"x": "b"}), step("b", "y", "z", routes={"y": "a", "z": "END"})], {}, []),
        # ends
        ([step("a", "x", "aborted", routes={"x": "b"}), step("b", "aborted")], {}, ["TUVL-W019"]),
        ([step("a", "x", routes={"x": "END"})], {}, []),
        # what is read was written
        ([step("a", reads="{{ q }}")], CLOSED, []),
        ([step("a", reads="{{ p }}")], CLOSED, ["TUVL-W020"]),
        ([step("a", reads="{{ p | default(1) }}")], CLOSED, []),
        ([step("a", reads="{{ p }}")], {}, ["TUVL-W022"]),
        ([step("a", writes=["p"]), step("b", reads="{{ p.x }}")], CLOSED, []),
        ([step("a", reads="{{ p }}"), step("b", writes=["p"])], CLOSED, ["TUVL-W020"]),
        ([step("a", reads="{{ p }}", routes={"error": "b", "default": "END"}), step("b", writes=["p"], routes={"default": "a"})], CLOSED, ["TUVL-W021"]),
        ([step("a", reads="{{ q }}")], OPTIONAL, ["TUVL-W021"]),
        (
            [step("a", "x", "y", routes={"x": "b", "y": "c"}), step("b", writes=["p"]), step("c", reads="{{ p }}")],
            CLOSED,
            ["TUVL-W021"],
        ),
        (
            [step("a", "x", "y", routes={"x": "b", "y": "d"}), step("b", writes=["p"], routes={"default": "c"}),
             step("d", writes=["p"]), step("c", reads="{{ p }}")],
            CLOSED,
            [],
        ),
        ([step("a", writes=["p"], routes={"error": "b"}), step("b", reads="{{ p }}")], CLOSED, ["TUVL-W021"]),
        ([{"id": "f", "kind": "Functional", "runner": "x"}, step("b", reads="{{ p }}")], CLOSED, ["TUVL-W022"]),
    ],
)  # fmt: skip
def test_what_no_run_can_walk_or_read_is_said(
    tmp_path: Path, steps: list[dict[str, Any]], spec: dict[str, Any], codes: list[str]
) -> None:
    (tmp_path / "nodes").mkdir()
    (tmp_path / "nodes" / "n.py").write_text(
        "from tuvl_kinds_functional import node\n@node('x')\nasync def x(ctx):\n    return {}\n"
    )
    got = found(tmp_path, steps, **spec)
    assert [item.code for item in got] == codes, got
    assert all(item.step is not None or item.code == "TUVL-W019" for item in got)


def test_a_read_that_only_some_ways_have_written_names_one_that_has_not(tmp_path: Path) -> None:
    steps = [
        step("ask", "yes", "no", routes={"yes": "look", "no": "say"}),
        step("look", writes=["order"]),
        step("say", reads="{{ order.id }}"),
    ]
    [item] = found(tmp_path, steps, **CLOSED)
    assert "ask by `no`" in item.message
    assert item.location is not None
    assert item.location.line > 1


def test_an_optional_input_is_to_be_required_where_it_is_read(tmp_path: Path) -> None:
    [item] = found(tmp_path, [step("a", reads="{{ q }}")], **OPTIONAL)
    assert "`required` in spec.input" in (item.hint or "")


def test_the_ways_of_the_model_are_shortest_and_avoid_what_they_should(tmp_path: Path) -> None:
    steps = [step("a", "x", "default", routes={"x": "c"}), step("b"), step("c")]
    graph = FlowGraph.of(App(project(tmp_path, steps)).plan("w"))
    assert [edge.signal for edge in graph.way_to("c") or ()] == ["x"]
    assert [edge.source for edge in graph.way_to("b") or ()] == ["a"]
    assert graph.way_to("a") == ()
    assert graph.way_to("c", avoiding=["a"]) is None
    assert graph.successors("a") == ("c", "b")
    assert graph.cycles == ()


# --- what runs do lies within the model -------------------------------------------------------------

IDS = ["a", "b", "c", "d", "e"]
SIGNALS = ["default", "x", "y", "aborted", "error"]


@st.composite
def workflows(draw: Any) -> list[dict[str, Any]]:
    """Steps with random signals, routes, reads and writes."""
    ids = IDS[: draw(st.integers(1, len(IDS)))]
    targets = st.sampled_from([*ids, "END"])
    return [
        {
            "id": id,
            "leaves": draw(st.lists(st.sampled_from(SIGNALS[:-1]), min_size=1, max_size=3, unique=True)),
            "routes": draw(st.dictionaries(st.sampled_from(SIGNALS), targets, max_size=4)),
            "writes": draw(st.lists(st.sampled_from("pq"), max_size=2, unique=True)),
            "reads": draw(st.sampled_from([None, "{{ p }}", "{{ q }}"])),
            "open": draw(st.booleans()),
        }
        for id in ids
    ]


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(steps=workflows(), seed=st.integers(0, 2**32))
def test_runs_keep_to_the_model(tmp_path: Path, steps: list[dict[str, Any]], seed: int) -> None:
    closed = {"type": "object", "properties": {}, "additionalProperties": False}
    loaded = project(tmp_path, steps, input=closed, limits={"max_steps": 12})
    asyncio.run(hold(loaded, seed))


async def hold(loaded: Any, seed: int) -> None:
    """Run it a few times by chance; each step taken is one that the model has, and no error it tells can be avoided."""
    chance = random.Random(seed)
    async with App(loaded) as app:
        app.resources["choose"] = chance.choice
        graph = FlowGraph.of(app.plan("w"))
        never = {item.step for item in check_project(loaded) if item.code == "TUVL-W020"}
        for _ in range(4):
            result = await app.run("w")
            path = list(result.path)
            for here, there in zip(path, path[1:], strict=False):
                assert here.step in graph.reachable
                edges = {(edge.signal, edge.target) for edge in graph.edges[here.step]}
                assert (here.signal, there.step) in edges
            assert {entry.step for entry in path} <= graph.reachable
            assert all(entry.signal == "error" for entry in path if entry.step in never)
            if path and result.status in ("completed", "stopped"):
                last = path[-1]
                kinds = {edge.transition.kind for edge in graph.edges[last.step] if edge.signal == last.signal}
                assert kinds == {"complete" if result.status == "completed" else "stop"}
