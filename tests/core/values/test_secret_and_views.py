"""Secrets: they do not show, in any view, at any depth, unless somebody says so."""

from __future__ import annotations

import copy
import json
import logging
import pickle
from collections import UserDict
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuvl_core.codec import lossless_dumps, to_wire, wire_dumps
from tuvl_core.context import Overlay, clone
from tuvl_core.views import MASK, Secret, SnapshotCache, contains_secret, mask, open_secrets, public_view, secret_texts

TEXT = "s3cr3t-value"


def test_a_secret_does_not_show(caplog: pytest.LogCaptureFixture) -> None:
    secret = Secret(TEXT)
    logging.getLogger("t").warning("%s %r %s", secret, secret, {"k": [secret]})
    shown = [str(secret), repr(secret), f"{secret}", f"{secret:>40}", f"{secret!r:>9}"]
    shown += [f"{[secret]}", "%s" % secret, f"{secret:d}", caplog.text, repr({secret})]
    assert all(TEXT not in text and MASK in text for text in shown)
    assert not hasattr(secret, "__dict__")


def test_a_secret_gives_its_value_on_demand_only() -> None:
    assert Secret(TEXT).reveal() == TEXT
    assert Secret(Secret(TEXT)).reveal() == TEXT
    assert not isinstance(Secret(TEXT), str)


def test_secrets_are_equal_by_value_and_never_to_plain_text() -> None:
    assert Secret("a") == Secret("a")
    assert hash(Secret("a")) == hash(Secret("a"))
    assert Secret("a") != Secret("b")
    assert Secret("a") != "a"
    assert len({Secret("a"), Secret("a"), "a"}) == 2


def test_an_empty_secret_is_false() -> None:
    assert not Secret("")
    assert Secret("x")


def test_a_secret_is_shared_by_copies_fixed_and_never_pickled() -> None:
    secret = Secret([1])
    assert copy.copy(secret) is secret
    assert copy.deepcopy({"k": secret})["k"] is secret
    assert clone({"k": [secret]})["k"][0] is secret
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="never pickled"):
            pickle.dumps({"k": secret}, protocol)
    with pytest.raises(AttributeError):
        secret._value = 2
    with pytest.raises(AttributeError):
        del secret._value
    with pytest.raises(TypeError):
        json.dumps(secret)


class Pair(NamedTuple):
    left: Any
    right: Any


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Secret(TEXT), MASK),
        ({"a": {"b": [1, (Secret(TEXT),)]}}, {"a": {"b": [1, (MASK,)]}}),
        ({Secret(TEXT), 1}, {MASK, 1}),
        (frozenset({Secret(TEXT)}), frozenset({MASK})),
        (Pair(1, Secret(TEXT)), (1, MASK)),
        (UserDict(a=Secret(TEXT)), {"a": MASK}),
        ({Secret(TEXT): 1}, {MASK: 1}),
        ({Secret("a"): Secret("b"), "c": Secret("d")}, {MASK: MASK, "c": MASK}),
        (Overlay({"a": Secret(TEXT)}), {"a": MASK}),
    ],
)
def test_mask_finds_secrets_at_any_depth(value: Any, shown: Any) -> None:
    assert contains_secret(value)
    assert mask(value) == shown
    assert not contains_secret(mask(value))


@pytest.mark.parametrize(
    "value", [1, "x", [1, {"a": (2,)}], {"a": {1, 2}}, None, object()], ids=lambda item: type(item).__name__
)
def test_mask_copies_nothing_where_nothing_is_hidden(value: Any) -> None:
    assert mask(value) is value
    assert open_secrets(value) is value
    assert not contains_secret(value)


def test_mask_leaves_the_value_alone_and_shares_what_is_clean() -> None:
    clean = {"x": [1]}
    value = {"clean": clean, "token": Secret(TEXT)}
    shown = mask(value)
    assert shown["clean"] is clean
    assert value["token"] == Secret(TEXT)


def test_reveal_opens_what_lies_under_a_name_at_any_depth() -> None:
    rows = [{"email": Secret("a@b.c"), "iban": Secret("DE1")}]
    assert mask({"rows": rows}, {"email"}) == {"rows": [{"email": "a@b.c", "iban": MASK}]}
    assert mask({"rows": rows}, ["rows"]) == {"rows": [{"email": "a@b.c", "iban": "DE1"}]}
    assert mask(rows, ()) == [{"email": MASK, "iban": MASK}]


def test_open_secrets_opens_all_of_them() -> None:
    value = {"a": [Secret({"b": [Secret(1)]})], "c": ({Secret("k"): 1},), "d": {Secret("e")}}
    assert open_secrets(value) == {"a": [{"b": [1]}], "c": ({"k": 1},), "d": {"e"}}
    assert open_secrets(frozenset({Secret((1,)), 2})) == frozenset({(1,), 2})


def test_public_view_has_public_keys_masked() -> None:
    context = {"a": 1, "_session": object(), "_last_error": "x", "t": Secret(TEXT), 5: "odd"}
    assert public_view(context) == {"a": 1, "t": MASK, 5: "odd"}
    assert public_view(context, ["t", "_session"]) == {"a": 1, "t": TEXT, 5: "odd"}
    assert list(context) == ["a", "_session", "_last_error", "t", 5]


def test_public_view_is_a_mapping_of_its_own() -> None:
    context = {"a": 1}
    public_view(context)["b"] = 2
    assert context == {"a": 1}


def test_secret_texts_collects_what_must_not_show() -> None:
    value = {
        "a": [Secret("one"), Secret({"k": ["two", 3, True, None]})],
        "b": (Secret(b"four"), {Secret("five")}),
        "plain": "six",
    }
    assert secret_texts(value) == {"one", "two", "3", "four", "five"}
    sealed = {"a": json.loads(lossless_dumps("x"))}
    assert secret_texts(sealed) == set()


# --- the snapshot -----------------------------------------------------------------------------


def test_a_snapshot_is_the_public_view_as_json() -> None:
    context = {"b": [1, {"x": "ä"}], "_x": 1, "a": Secret(TEXT), 'q"': None}
    assert SnapshotCache().json(context) == '{"b":[1,{"x":"ä"}],"a":"***","q\\"":null}'
    assert SnapshotCache().json({}) == "{}"


def test_a_snapshot_follows_what_it_is_told() -> None:
    cache, context = SnapshotCache(), {"a": 1, "b": 2, "_c": 3}
    assert cache.json(context) == '{"a":1,"b":2}'
    context["a"] = 5
    assert cache.json(context) == '{"a":1,"b":2}'  # nobody said so
    cache.forget(["a", "unknown"])
    assert cache.json(context) == '{"a":5,"b":2}'
    del context["b"]
    context["d"] = 4
    assert cache.json(context) == '{"a":5,"d":4}'


def test_a_snapshot_reveals_what_is_named() -> None:
    cache, context = (
        SnapshotCache(),
        {"t": Secret(TEXT), "o": {"t": Secret(TEXT), "u": Secret("U")}},
    )
    assert cache.json(context) == '{"t":"***","o":{"t":"***","u":"***"}}'
    assert json.loads(cache.json(context, {"t"})) == {"t": TEXT, "o": {"t": TEXT, "u": MASK}}
    assert cache.json(context) == '{"t":"***","o":{"t":"***","u":"***"}}'


def test_a_value_without_a_form_does_not_break_a_snapshot() -> None:
    class Awkward(dict[str, Any]):
        def values(self) -> Any:
            raise RuntimeError

    loop: list[Any] = []
    loop.append(loop)
    context = {"ok": 1, "o": object(), "l": loop, "w": Awkward(), "s": {1, 2}}
    assert json.loads(SnapshotCache().json(context)) == {
        "ok": 1,
        "o": "<unserialisable: object>",
        "l": "<unserialisable: list>",
        "w": "<unserialisable: Awkward>",
        "s": [1, 2],
    }


# --- for all values ---------------------------------------------------------------------------

MARK = "q9-sentinel-9q"
leaves = st.none() | st.integers() | st.text() | st.just(Secret(MARK)) | st.just(Secret({"k": MARK}))
hashable = st.text() | st.integers() | st.just(Secret(MARK))
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text(), inner)
        | st.tuples(inner, inner)
        | st.sets(hashable)
        | st.frozensets(hashable)
    ),
    max_leaves=15,
)


@given(st.dictionaries(st.text(), values))
def test_no_secret_is_in_any_view(context: dict[str, Any]) -> None:
    view = public_view(context)
    assert not contains_secret(view)
    views = [
        repr(context),
        repr(view),
        wire_dumps(context),
        wire_dumps(view),
        repr(to_wire(context)),
        SnapshotCache().json(context),
        lossless_dumps(context),
        repr(Overlay(context)),
    ]
    assert all(MARK not in text for text in views)
    assert json.loads(SnapshotCache().json(context)) == to_wire(view)
    assert contains_secret(open_secrets(context)) is False


@given(values)
def test_values_without_a_secret_come_through_untouched(value: Any) -> None:
    assert (mask(value) is value) is not contains_secret(value)
