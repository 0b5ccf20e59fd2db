"""Dotted paths into data."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from tuvl_core.context import Names, Overlay
from tuvl_core.errors import TemplateError
from tuvl_core.kinds import UNSET
from tuvl_core.templates import parse_path
from tuvl_core.views import Secret

DATA: dict[str, Any] = {
    "order": {"items": [{"id": 7}, {"id": None}], "keys": 1, "line-items": ("a", "b"), "": 3},
    "0": "zero",
    "nothing": None,
}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("order.items.0.id", 7),
        ("order.items.1.id", None),
        ("order.keys", 1),
        ("order.line-items.1", "b"),
        ("0", "zero"),
        ("nothing", None),
        ("order.items.2.id", UNSET),
        ("order.items.-1", UNSET),
        ("order.items.first", UNSET),
        ("order.items.00", {"id": 7}),
        ("order.items." + "9" * 5000, UNSET),
        ("order.values", UNSET),
        ("nothing.x", UNSET),
        ("order.items.__len__", UNSET),
        ("missing", UNSET),
    ],
)
def test_a_path_looks_up_mappings_and_lists(path: str, expected: Any) -> None:
    compiled = parse_path(path)
    assert compiled.get(DATA) == expected
    assert compiled.get(Names(DATA)) == expected
    assert compiled.get(Overlay(DATA)) == expected
    assert compiled.get(MappingProxyType(DATA)) == expected
    assert compiled.get(DATA, "other") == ("other" if expected is UNSET else expected)


def test_a_path_into_a_list_or_a_scalar() -> None:
    assert parse_path("1.a").get([0, {"a": 2}]) == 2
    assert parse_path("a").get("text") is UNSET
    assert parse_path("a").get(None) is UNSET


def test_what_lies_in_a_secret_is_a_secret() -> None:
    data = {"card": Secret({"number": "4111", "tags": ["x"]})}
    assert parse_path("card.number").get(data) == Secret("4111")
    assert parse_path("card.tags.0").get(data) == Secret("x")
    assert parse_path("card.nope").get(data) is UNSET


@pytest.mark.parametrize(("text", "offset"), [("", 0), (".", 0), ("a..b", 2), ("a.", 2), (".a", 0), ("a. .b", 2)])
def test_a_path_without_a_name_is_refused(text: str, offset: int) -> None:
    with pytest.raises(TemplateError, match="a name is missing") as caught:
        parse_path(text)
    assert caught.value.offset == offset


def test_paths_are_values() -> None:
    path = parse_path("a.b")
    assert path == parse_path("a.b")
    assert hash(path) == hash(parse_path("a.b"))
    assert (path.root, path.parts, str(path)) == ("a", ("a", "b"), "a.b")
    assert path != "a.b"
