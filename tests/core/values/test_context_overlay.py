"""The context: what a step does to it stays with the step until its changes are merged."""

from __future__ import annotations

import copy
import datetime as dt
import threading
from collections import defaultdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tuvl_core.codec import Secret, lossless_dumps, lossless_loads
from tuvl_core.context import Names, Overlay, clone, merge, public_delta, same


def test_reads_are_isolated_at_every_depth() -> None:
    base = {"order": {"items": [{"id": 1}], "tags": {"a"}, "pair": ([1],)}}
    before = copy.deepcopy(base)
    view = Overlay(base)
    view["order"]["items"][0]["id"] = 2
    view["order"]["tags"].add("b")
    view["order"]["pair"][0].append(2)
    view.get("order")["new"] = 1
    assert view["order"]["items"][0]["id"] == 2, "a step sees what it did"
    assert base == before
    assert view.changes() == ({}, ())


def test_no_way_of_reading_goes_around_the_isolation() -> None:
    base = {"a": [1], "b": {"c": [2]}}
    before = copy.deepcopy(base)
    view = Overlay(base)
    {**view}["a"].append(9)
    dict(view)["b"]["c"].append(9)
    for value in view.values():
        value.clear()
    for _, value in Overlay(base).items():
        value.clear()
    Overlay(base).pop("a").clear()
    Overlay(base).setdefault("b", {}).clear()
    Overlay(base).popitem()[1].clear()
    assert base == before
    assert not isinstance(view, dict)


def test_only_setting_and_deleting_by_key_counts() -> None:
    view = Overlay({"a": 1, "b": 2, "c": [3]}, {"arg": 4})
    view["c"].append(4)
    view["a"] = 1  # the same value still is a write
    view["new"] = 5
    del view["b"]
    view["gone"] = 6
    del view["gone"]
    del view["arg"]
    assert view.changes() == ({"a": 1, "new": 5}, ("b", "arg"))
    view["b"] = 7
    assert view.changes() == ({"a": 1, "b": 7, "new": 5}, ("arg",))
    del view["b"]
    assert view.changes() == ({"a": 1, "new": 5}, ("b", "arg"))


def test_lookup_goes_own_then_arguments_then_base() -> None:
    view = Overlay({"a": "base", "b": "base"}, {"a": "argument", "d": "argument"})
    assert (view["a"], view["b"], view["d"]) == ("argument", "base", "argument")
    view["a"] = "own"
    assert view["a"] == "own"
    assert list(view) == ["a", "b", "d"]
    assert len(view) == 3
    del view["a"]
    assert "a" not in view
    assert view.get("a", "none") == "none"
    assert view.peek("a", "none") == "none"
    assert list(view) == ["b", "d"]


def test_missing_keys() -> None:
    view = Overlay({"a": None})
    assert view["a"] is None
    assert "a" in view
    assert view.get("a", 1) is None
    assert view.get("x") is None
    for act in (lambda: view["x"], lambda: view.pop("x")):
        with pytest.raises(KeyError, match="x"):
            act()
    with pytest.raises(KeyError):
        del view["x"]
    del view["a"]
    with pytest.raises(KeyError):
        del view["a"]


def test_overlays_nest() -> None:
    base = {"a": [1], "b": 2}
    outer = Overlay(base)
    outer["a"].append(2)
    outer["c"] = {"x": 1}
    del outer["b"]
    inner = Overlay(outer, {"arg": 1})
    assert inner["a"] == [1, 2], "the inner step sees the outer's view"
    inner["a"].append(3)
    inner["c"]["x"] = 2
    inner["d"] = 4
    assert "b" not in inner
    assert outer["a"] == [1, 2]
    assert outer["c"] == {"x": 1}
    assert base == {"a": [1], "b": 2}
    outer.apply(*inner.changes())
    assert outer.changes() == ({"c": {"x": 1}, "d": 4}, ("b",))


def test_apply_takes_over_deletions() -> None:
    outer = Overlay({"a": 1, "b": 2})
    outer.apply({"c": 3}, ["a", "unknown"])
    assert outer == {"b": 2, "c": 3}
    assert outer.changes() == ({"c": 3}, ("a",))


def test_peek_and_fixed_values_are_not_copied() -> None:
    data = [1]
    secret = Secret([1])
    view = Overlay({"data": data, "secret": secret, "text": "x"})
    assert view.peek("data") is data
    assert view["secret"] is secret
    assert view["data"] is view["data"] is view.peek("data") is not data


def test_a_repr_shows_keys_only() -> None:
    assert repr(Overlay({"a": "private"})) == "<Overlay of a>"
    assert repr(Names({"a": "private", "_x": 1})) == "<Names a>"


def test_a_tool_leaves_no_trace_in_the_shared_context() -> None:
    """Whatever a tool does, the context changes through `merge` and nothing else."""
    context: dict[str, Any] = {"order": {"status": "open", "lines": [1]}, "_session": object()}
    before = dict(context, order=copy.deepcopy(context["order"]))
    tool = Overlay(context, {"status": "open"})
    tool["order"]["status"] = "closed"
    tool["order"]["lines"] += [2]
    tool["result"] = tool["order"]
    tool["_session"] = None
    del tool["status"]
    assert context == before


# --- clone ------------------------------------------------------------------------------------


def test_clone_copies_what_can_change() -> None:
    value = {"l": [{"s": {1}, "t": ([1],)}], "d": defaultdict(list, a=[1]), "b": bytearray(b"x")}
    copied = clone(value)
    assert copied == value
    copied["l"][0]["s"].add(2)
    copied["l"][0]["t"][0].append(2)
    copied["d"]["a"].append(2)
    copied["b"].append(1)
    assert value["l"] == [{"s": {1}, "t": ([1],)}]
    assert value["d"] == {"a": [1]}
    assert value["b"] == b"x"
    assert type(copied["d"]) is defaultdict


def test_clone_shares_what_cannot_be_copied() -> None:
    lock = threading.Lock()
    copied = clone({"lock": [lock], "data": [1]})
    assert copied["lock"][0] is lock


def test_clone_ends_on_data_that_holds_itself() -> None:
    loop: dict[str, Any] = {"n": [1]}
    loop["self"] = loop
    copied = clone(loop)
    assert copied["self"] is copied
    assert copied["n"] is not loop["n"]


# --- delta and merge ----------------------------------------------------------------------------


def test_the_delta_holds_public_keys_that_changed() -> None:
    before = {"same": [1], "old": 1, "gone": 1, "_x": 1}
    writes = {"same": [1], "old": 2, "new": None, "_x": 2, "_y": 3}
    assert public_delta(before, writes, ("gone", "_x")) == ({"old": 2, "new": None}, ("gone",))


def test_arguments_are_no_change() -> None:
    arguments = {"order_id": "A-1", "n": {"deep": 1}}
    view = Overlay({"a": 1}, arguments)
    view["order_id"] = view["order_id"]
    view["n"] = view["n"]
    view["found"] = True
    names = Overlay({"a": 1}, arguments)
    assert public_delta(names, *view.changes()) == ({"found": True}, ())
    view["order_id"] = "B-2"
    assert public_delta(names, *view.changes()) == ({"order_id": "B-2", "found": True}, ())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (1, 1.0),
        (0, False),
        ([1], [True]),
        ([1], (1,)),
        ({"a": {"b": [1.0]}}, {"a": {"b": [1]}}),
        ({1: "x"}, {True: "x"}),
        (None, 0),
        ("1", 1),
        (float("nan"), float("nan")),
        (Secret("a"), "a"),
        (dt.datetime(2026, 1, 1), dt.datetime(2026, 1, 1, tzinfo=dt.UTC)),
    ],
)
def test_values_that_only_look_alike_are_different(one: Any, other: Any) -> None:
    assert not same(one, other)
    assert public_delta({"k": one}, {"k": other}) == ({"k": other}, ())


def test_values_that_are_alike_are_no_change() -> None:
    nan = float("nan")
    for value in (nan, [1, {"a": (2, "x")}], Secret("a"), None, {1: True}):
        assert same(value, clone(value)) or value is nan
        assert public_delta({"k": value}, {"k": clone(value)}) == ({}, ())


def test_what_cannot_be_compared_is_different() -> None:
    class Odd:
        def __eq__(self, other: object) -> bool:
            raise ValueError("ambiguous")

        __hash__ = None  # type: ignore[assignment]

    odd = Odd()
    assert same(odd, odd)
    assert not same(odd, Odd())
    one: list[Any] = []
    other: list[Any] = []
    one.append(one)
    other.append(other)
    assert not same(one, other)


def test_merge_sets_and_removes() -> None:
    context = {"a": 1, "b": 2}
    merge(context, {"b": 3, "c": 4}, ("a", "b", "unknown"))
    assert context == {"b": 3, "c": 4}


# --- names --------------------------------------------------------------------------------------


def test_templates_see_public_names_and_three_of_the_engine() -> None:
    context = {
        "a": 1,
        "none": None,
        "_run_id": "r",
        "_last_error": "e",
        "_last_error_type": "t",
        "_session": "private",
    }
    names = Names(context)
    assert dict(names) == {k: v for k, v in context.items() if k != "_session"}
    assert len(names) == 5
    assert "_session" not in names
    assert names.get("_session", "absent") == "absent"
    with pytest.raises(KeyError):
        names["_session"]
    assert names["none"] is None
    assert "none" in names
    assert 1 not in names


def test_arguments_hide_the_context_but_never_the_engine() -> None:
    arguments = {"a": "argument", "_run_id": "forged", "_last_error": "forged", "b": None}
    for context in ({"a": "context", "_run_id": "r"}, Overlay({"a": "context", "_run_id": "r"})):
        names = Names(context, arguments)
        assert names["a"] == "argument"
        assert names["b"] is None
        assert names["_run_id"] == "r"
        assert "_last_error" not in names
        assert sorted(names) == ["_run_id", "a", "b"]


def test_names_copy_nothing() -> None:
    data = [1]
    assert Names(Overlay({"data": data}))["data"] is data


# --- for all contexts ---------------------------------------------------------------------------

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
contexts = st.dictionaries(st.text(), json_values)


@given(contexts)
def test_any_json_context_passes_unchanged(context: dict[str, Any]) -> None:
    before = copy.deepcopy(context)
    view = Overlay(context)
    read = {key: view[key] for key in view}
    assert same(read, before)
    for key, value in read.items():
        view[key] = value
    writes, deletes = view.changes()
    assert public_delta(context, writes, deletes) == ({}, ())
    target: dict[str, Any] = {}
    merge(target, lossless_loads(lossless_dumps(writes)), deletes)
    assert same(target, before)
    assert same(context, before)


@given(contexts, contexts)
def test_delta_and_merge_give_the_public_part(before: dict[str, Any], after: dict[str, Any]) -> None:
    view = Overlay(before)
    for key in [key for key in before if key not in after]:
        del view[key]
    view.update(after)
    delta, deletes = public_delta(before, *view.changes())
    merged = dict(before)
    merge(merged, delta, deletes)
    public = {key: value for key, value in merged.items() if key[:1] != "_"}
    assert same(public, {key: value for key, value in after.items() if key[:1] != "_"})


class OverlayIsADict(RuleBasedStateMachine):
    """Whatever is done to an overlay, it looks like a dict to which the same was done."""

    BASE: dict[str, Any] = {"a": [1], "b": {"x": [2]}, "c": 3}
    ARGUMENTS: dict[str, Any] = {"a": {"y": [4]}, "d": 5}
    keys = st.sampled_from("abcde")

    def __init__(self) -> None:
        super().__init__()
        self.base, self.arguments = copy.deepcopy(self.BASE), copy.deepcopy(self.ARGUMENTS)
        self.view = Overlay(Overlay(self.base), self.arguments)
        self.model = copy.deepcopy({**self.BASE, **self.ARGUMENTS})
        self.written: set[str] = set()

    @rule(key=keys, value=json_values)
    def write(self, key: str, value: Any) -> None:
        self.view[key] = value
        self.model[key] = copy.deepcopy(value)
        self.written.add(key)

    @rule(key=keys)
    def delete(self, key: str) -> None:
        assert (self.view.pop(key, None) is None) == (self.model.pop(key, None) is None)
        self.written.discard(key)

    @rule(key=keys)
    def change_in_place(self, key: str) -> None:
        for side in (self.view, self.model):
            value = side.get(key)
            if isinstance(value, list):
                value.append(0)
            elif isinstance(value, dict):
                value["in place"] = []

    @invariant()
    def looks_alike(self) -> None:
        assert dict(self.view) == self.model
        assert set(self.view) == set(self.model)
        assert len(self.view) == len(self.model)
        assert all((key in self.view) == (key in self.model) for key in "abcde")

    @invariant()
    def below_is_untouched(self) -> None:
        assert self.base == self.BASE
        assert self.arguments == self.ARGUMENTS

    @invariant()
    def changes_are_explicit(self) -> None:
        writes, deletes = self.view.changes()
        assert set(writes) == self.written
        below = {*self.BASE, *self.ARGUMENTS}
        assert set(deletes) == {key for key in below if key not in self.model}


TestOverlayIsADict = OverlayIsADict.TestCase
