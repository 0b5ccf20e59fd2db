"""`tuvl graph`: a workflow as Mermaid, SVG, PNG and JSON."""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tuvl_graph.layout import lay_out
from tuvl_graph.mermaid import as_mermaid
from tuvl_graph.picture import Edge, Node, Picture
from tuvl_graph.svg import as_svg

AGENT = {
    "id": "work",
    "kind": "AutonomousAgent",
    "agent": {"model": "x/y", "steering": "Work.", "tools": [{"ref": "ok"}], "outcome": {"enum": ["resolved"]}},
    "routes": {"resolved": "then", "max_iterations": "work", "error": "then"},
}
STEPS = [
    AGENT,
    {"id": "ok", "runner": "ok", "description": "Is well."},
    {"id": "then", "runner": "ok", "routes": {"default": "nowhere"}},
    {"id": "odd", "kind": "Functionl"},
]


@pytest.fixture
def project(desk: Any) -> Any:
    desk.simple()
    desk.workflow("w", *STEPS)
    return desk


def test_as_json(project: Any):
    found = json.loads(project("graph", "w", "--format", "json").stdout)
    nodes = {node["id"]: node for node in found["nodes"]}
    roles = {id: node["role"] for id, node in nodes.items()}
    assert roles == {
        "@start": "start",
        "work": "step",
        "ok": "tool",
        "then": "step",
        "odd": "unreadable",
        "nowhere": "missing",
        "@stop": "stop",
        "@fail": "fail",
    }
    edges = {(edge["source"], edge["target"]): (edge["role"], edge["signals"]) for edge in found["edges"]}
    assert edges["@start", "work"] == ("signal", [])
    assert edges["work", "then"] == ("signal", ["resolved", "error"])
    assert edges["work", "work"] == ("signal", ["max_iterations"])
    assert edges["work", "@fail"] == ("signal", ["budget_exceeded"])
    assert edges["work", "ok"] == ("tool", [])
    assert "TUVL-W014" in [item["code"] for item in nodes["then"]["diagnostics"]]


SUPERVISOR = """
from tuvl_core import Section, hookimpl

@hookimpl
def tuvl_workflow_sections():
    return [Section(key="supervisor", spec=dict)]
"""


def test_a_supervisor_watches_agents(project: Any):
    project.write("plugins/watch.py", SUPERVISOR)
    project.workflow("w", *STEPS, supervisor={"watches": ["agents"]})
    found = json.loads(project("graph", "w", "--format", "json").stdout)
    watched = [(edge["source"], edge["target"]) for edge in found["edges"] if edge["role"] == "watches"]
    assert watched == [("@supervisor", "work")]
    assert "-. watches .->" in project("graph", "w").stdout
    ElementTree.fromstring(project("graph", "w", "--format", "svg").stdout)


def test_as_mermaid(project: Any):
    told = project("graph", "w").stdout
    assert told.startswith("flowchart TD\n")
    assert '-->|"resolved, error"|' in told and "-. tool .->" in told and "✗ TUVL-W014" in told
    assert "classDef error" in told


def test_mermaid_shows_whatever_a_signal_is_called():
    nodes = (Node(id="a", role="step", label="a"), Node(id="end", role="step", label="end"))
    edge = Edge(source="a", target="end", signals=('say "hi" | <b>#1</b>',))
    told = as_mermaid(Picture(workflow="w", nodes=nodes, edges=(edge,)))
    assert '-->|"say #quot;hi#quot; | #lt;b#gt;#35;1#lt;/b#gt;"|' in told
    assert "\n  n0" in told and "end -->" not in told  # `end` is a word of Mermaid's


def test_as_svg(project: Any):
    root = ElementTree.fromstring(project("graph", "w", "--format", "svg").stdout)
    told = " ".join(root.itertext())
    assert "AutonomousAgent" in told and "✗ TUVL-W014" in told and "nowhere?" in told
    assert "http" not in told.replace("http://www.w3.org/2000/svg", "")


def test_as_png(project: Any):
    done = project("graph", "w", "--format", "png", "-o", "w.png")
    assert done.returncode == 0, done.stderr
    assert (project.root / "w.png").read_bytes().startswith(b"\x89PNG")


def test_without_the_package_for_png(project: Any):
    project.write("without/resvg_py.py", "raise ImportError('none')")
    project.environ["PYTHONPATH"] = str(project.root / "without")
    done = project("graph", "w", "--format", "png")
    assert done.returncode == 2 and "pip install tuvl-cli[png]" in done.stderr


def test_what_is_wrong(project: Any):
    assert project("graph", "x").returncode == 2
    assert "cannot be written" in project("graph", "w", "-o", "no/such/folder.mmd").stderr


# --- the layout -----------------------------------------------------------------------------


@st.composite
def pictures(draw: Any) -> Picture:
    ids = [f"n{number}" for number in range(draw(st.integers(1, 9)))]
    roles = st.sampled_from(["step", "tool", "end", "stop"])
    nodes = tuple(Node(id=id, role=draw(roles), label=id * draw(st.integers(1, 4))) for id in ids)
    left = [node.id for node in nodes if node.role in ("step", "tool")]  # nothing leads on from an end
    ways = st.tuples(st.sampled_from(left), st.sampled_from(ids)) if left else None
    pairs = draw(st.lists(ways, max_size=16, unique=True)) if ways is not None else []
    return Picture(
        workflow="w",
        nodes=nodes,
        edges=tuple(Edge(source=one, target=other, signals=("x", "default")) for one, other in pairs),
    )


@settings(max_examples=200, deadline=None)
@given(pictures())
def test_nothing_lies_on_anything_else(picture: Picture):
    sizes = {node.id: (8.0 * len(node.label), 20.0) for node in picture.nodes}
    drawn = lay_out(picture, sizes, [(30.0, 24.0)] * len(picture.edges))
    boxes = [*drawn.nodes.values(), *(box for box in drawn.labels if box is not None)]
    for one, other in combinations(boxes, 2):
        apart = abs(one.x - other.x) >= (one.width + other.width) / 2 - 1e-6
        assert apart or abs(one.y - other.y) >= (one.height + other.height) / 2 - 1e-6
    for box in boxes:
        assert 0 <= box.x - box.width / 2 and box.x + box.width / 2 <= drawn.width
        assert 0 <= box.y - box.height / 2 and box.y + box.height / 2 <= drawn.height
    ElementTree.fromstring(as_svg(picture))
