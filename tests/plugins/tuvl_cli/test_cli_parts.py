"""Parts that are hard to see from outside."""

from __future__ import annotations

import threading

import click
import pytest

from tuvl_cli.running.narrator import Narrator, seconds
from tuvl_cli.running.outlet import Outlet
from tuvl_cli.running.request import principal, read_input
from tuvl_core import StepEvent


def event(**fields):
    given = {"type": "step", "run_id": "r", "seq": 1, "time": 0.0, "workflow": "w", "step_id": "a", "visit": 1}
    return StepEvent(**{**given, "kind": "K", "signal": "running", **fields})


def progress(body, **fields):
    import json

    return event(type="progress", snapshot_json=json.dumps(body), **fields)


def test_outlet_keeps_order_and_the_last():
    gate, taken = threading.Event(), []

    def consume(item):
        gate.wait(10)
        taken.append(item)

    outlet = Outlet(consume, most=10)
    for number in range(100):
        outlet.put(number, 1)
    gate.set()
    outlet.close(10)
    assert taken[-1] == 99
    assert taken == sorted(taken)
    assert outlet.lost == 100 - len(taken)
    assert len(taken) <= 11


def test_an_item_larger_than_all_room_is_still_told():
    taken = []
    outlet = Outlet(taken.append, most=10)
    outlet.put("large", 1000)
    outlet.close(10)
    assert taken == ["large"]


def test_outlet_says_that_its_consumer_is_gone():
    gone = threading.Event()

    def consume(item):
        raise BrokenPipeError

    outlet = Outlet(consume, broken=gone.set)
    outlet.put(1, 1)
    assert gone.wait(10)
    outlet.close(10)
    outlet.put(2, 1)
    assert isinstance(outlet.failure, BrokenPipeError)


def test_narrator():
    tell = Narrator({"a": "K", "longer": "Kind"}).tell
    assert not list(tell(event(), {}))
    turn = {"agent_progress": {"type": "iteration", "iteration": 2, "tool_calls": 2, "tokens_used": 90}}
    lines = list(tell(progress(turn), {"max_iterations": 8, "token_budget": None}))
    assert [(line.text, line.depth) for line in lines] == [("a       K", 0), ("turn 2/8: 2 tool calls, 90 tokens", 1)]
    inner = list(tell(progress(turn, step_id="b", parent="a#1/tool#1:b"), {}))
    assert [(line.text, line.depth) for line in inner] == [("b: turn 2: 2 tool calls, 90 tokens", 3)]
    other = list(tell(progress({"progress": {"acme": {"type": "page", "n": 3}}}), {}))
    assert [line.text for line in other] == ["page n=3"]
    assert not list(tell(progress({"agent_progress": {"type": "outcome", "signal": "x"}}), {}))
    left = list(tell(event(signal="error", time=2.5, visit=1), {}))
    assert [(line.text, line.good) for line in left] == [("a       K     error  2.5 s", False)]
    list(tell(event(visit=2), {}))
    assert next(tell(event(signal="done", visit=2), {})).text.startswith("a #2")


def test_seconds():
    assert [seconds(value) for value in (0.0123, 1.25, 59.9, 61, 3725)] == [
        "12 ms",
        "1.2 s",
        "59.9 s",
        "1 min 01 s",
        "62 min 05 s",
    ]


def test_principal():
    local = principal(None, None, ())
    assert (local.subject, local.tenant, local.has_scope("anything")) == ("local", "default", True)
    assert principal(None, "acme", ()).tenant == "acme"
    assert not principal(None, None, ("a",)).has_scope("b")
    named = principal("ann", None, ("a b", "c"))
    assert (named.subject, named.tenant, named.scopes) == ("ann", None, frozenset("abc"))


@pytest.mark.parametrize("levels", [300, 900, 100_000])
def test_input_that_is_nested_too_deeply(tmp_path, levels):
    file = tmp_path / "deep.json"
    file.write_text('{"a": ' + "[" * levels + "]" * levels + "}")
    with pytest.raises(click.BadParameter, match="nested too deeply"):
        read_input(f"@{file}")
    assert read_input('{"a": ' + "[" * 100 + "]" * 100 + "}")
