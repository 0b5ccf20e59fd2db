"""The lossless form: the same value comes back, of the same types; secrets do not."""

from __future__ import annotations

import datetime as dt
import enum
import json
import math
from collections import OrderedDict
from decimal import Decimal
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuvl_core.codec import (
    SealedSecret,
    Secret,
    from_lossless,
    lossless_dumps,
    lossless_loads,
    register_lossless,
    to_lossless,
)
from tuvl_core.context import same
from tuvl_core.errors import CodecError

BERLIN = ZoneInfo("Europe/Berlin")


def there_and_back(value: Any) -> Any:
    text = lossless_dumps(value)
    text.encode("utf-8")
    json.loads(text, parse_constant=pytest.fail)
    return lossless_loads(text)


VALUES: list[Any] = [
    UUID(int=7),
    Decimal("10.10"),
    Decimal("1E+3"),
    Decimal("-Infinity"),
    dt.date(2026, 1, 2),
    dt.time(3, 4, 5, 6, tzinfo=dt.UTC),
    dt.datetime(2026, 1, 2, 3, 4),
    dt.datetime(2026, 1, 2, 3, 4, tzinfo=dt.timezone(dt.timedelta(seconds=3208))),
    dt.datetime(2026, 7, 2, 3, 4, tzinfo=BERLIN),
    dt.timedelta(days=-1, microseconds=3),
    b"\xff\x00",
    bytearray(b"x"),
    {1, "1", None},
    frozenset({frozenset({1}), (2, 3)}),
    (1, (2, [3])),
    [],
    {},
    (),
    math.inf,
    -math.inf,
    -0.0,
    10**6000,
    -(10**6000),
    "half \ud800 pair",
    {"half \ud800 pair": 1},
    {1: "a", "1": "b", None: "c", (1, 2): "d"},
    {"$": "uuid", "v": "not one"},
    {"$": None},
    {"a": {"$": {"$": 1}}},
    {True: "yes", 2: "two"},
]


@pytest.mark.parametrize("value", VALUES, ids=lambda item: type(item).__name__)
def test_the_same_value_comes_back(value: Any) -> None:
    for nested in (value, {"k": [value]}, (value,)):
        assert same(there_and_back(nested), nested)


def test_zone_and_fold_come_back() -> None:
    second_two_o_clock = dt.datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN, fold=1)
    back = there_and_back(second_two_o_clock)
    assert (back, back.fold, back.tzinfo) == (second_two_o_clock, 1, BERLIN)
    assert there_and_back(dt.time(2, 30, fold=1, tzinfo=BERLIN)).tzinfo is BERLIN


def test_signs_of_zero_and_nan_come_back() -> None:
    assert math.copysign(1, there_and_back([-0.0])[0]) == -1
    assert math.isnan(there_and_back({"n": math.nan})["n"])


def test_ordinary_data_is_written_as_it_is() -> None:
    value = {"a": [1, 2.5, "x", None, True], "b": {"c": "ä"}}
    assert to_lossless(value) == value
    assert lossless_dumps(value) == '{"a":[1,2.5,"x",null,true],"b":{"c":"ä"}}'


def test_a_set_is_written_the_same_way_each_time() -> None:
    assert lossless_dumps({"c", "a", "b"}) == '{"$":"set","v":["a","b","c"]}'


class Color(enum.Enum):
    RED = "red"


class Season(enum.Enum):
    MAY = "may"


class Grade(enum.IntEnum):
    TOP = 1


class Note(str):
    pass


def test_enums_are_their_value_and_subclasses_their_base() -> None:
    value = [Season.MAY, Grade.TOP, Note("x"), OrderedDict(a=1)]
    back = there_and_back(value)
    assert back == ["may", 1, "x", {"a": 1}]
    assert [type(item) for item in back] == [str, int, str, dict]


@attrs.define
class Money:
    amount: Decimal
    note: Any = None


@attrs.define
class Other:
    x: int = 1


register_lossless(
    Money,
    "values-test.Money",
    lambda money: {"amount": money.amount, "note": money.note},
    lambda parts: Money(**parts),
)
register_lossless(Color, "values-test.Color", lambda color: color.name, lambda name: Color[name])


def test_registered_classes_come_back_with_what_they_hold() -> None:
    value = {"m": Money(amount=Decimal("1.50"), note=(1, {"$": 2}, Money(amount=Decimal(2))))}
    assert there_and_back(value) == value


def test_a_registered_enum_comes_back_as_itself() -> None:
    assert there_and_back([Color.RED]) == [Color.RED]


# The value-only rule is for enums nobody registered; `Color` above is registered for the whole module.
def test_registering_again_is_fine_but_taking_a_name_is_not() -> None:
    register_lossless(Other, "values-test.Other", attrs.asdict, lambda parts: Other(**parts))
    register_lossless(Other, "values-test.Other", attrs.asdict, lambda parts: Other(**parts))
    with pytest.raises(CodecError, match="already registered as 'values-test.Other'"):
        register_lossless(Other, "values-test.Else", attrs.asdict, lambda parts: Other(**parts))
    with pytest.raises(CodecError, match="is taken"):
        register_lossless(int, "values-test.Other", str, int)
    with pytest.raises(CodecError, match="is taken"):
        register_lossless(Note, "uuid", str, Note)


def test_what_has_no_form_is_an_error_that_names_the_key() -> None:
    with pytest.raises(CodecError, match=r"^a\.0\.b: .*object.*register_lossless"):
        to_lossless({"a": [{"b": object()}]})
    with pytest.raises(CodecError, match=r"^k\.m\.amount: "):
        to_lossless({"m": Money(amount=object())}, "k")


def test_data_without_an_end_is_an_error() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(CodecError, match=r"^k: .*nested too deeply"):
        lossless_dumps(loop, "k")
    with pytest.raises(CodecError):
        lossless_loads("[" * 100_000)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "nonsense",
        '{"$":"nobody.Knows","v":1}',
        '{"$":"uuid","v":"x"}',
        '{"$":"uuid"}',
        '{"$":"datetime","v":1}',
        '{"$":"datetime","v":"2026-01-01","zone":"No/Where"}',
        '{"$":"decimal","v":"x"}',
        '{"$":"map","v":[1]}',
        '{"$":"set","v":[[1]]}',
        '{"$":["odd"],"v":1}',
    ],
)
def test_a_broken_record_is_an_error_of_ours(text: str) -> None:
    with pytest.raises(CodecError):
        lossless_loads(text)


def test_a_secret_is_a_keyed_hash_and_comes_back_sealed() -> None:
    text = lossless_dumps({"token": Secret("s3cr3t")}, secret_key=b"k")
    assert "s3cr3t" not in text
    sealed = lossless_loads(text)["token"]
    assert isinstance(sealed, SealedSecret)
    assert str(sealed) == "***"
    with pytest.raises(CodecError, match="only its hash"):
        sealed.reveal()
    assert lossless_loads(text)["token"] == sealed
    assert to_lossless(sealed) == to_lossless(Secret("s3cr3t"), secret_key=b"k")  # once is enough


def test_the_hash_depends_on_key_and_value() -> None:
    def digest(value: Any, key: bytes | None = None) -> str:
        return from_lossless(to_lossless(Secret(value), secret_key=key)).digest

    assert digest("a", b"k") == digest("a", b"k")
    assert digest("a", b"k") != digest("a", b"other")
    assert digest("a", b"k") != digest("b", b"k")
    assert digest("1", b"k") != digest(1, b"k")
    assert digest({"a": "x"}) == digest({"a": "x"})  # the process has a key of its own
    assert digest("a") != digest("a", b"k")


text = st.text(st.characters())  # half pairs included
keys = text | st.integers() | st.booleans() | st.none() | st.dates() | st.just("$")
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | text,
    lambda inner: st.lists(inner) | st.dictionaries(text | st.just("$"), inner),
    max_leaves=20,
)
values = st.recursive(
    json_values
    | st.binary()
    | st.uuids()
    | st.decimals(allow_nan=False)
    | st.dates()
    | st.datetimes(timezones=st.none() | st.timezones())
    | st.times()
    | st.timedeltas(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(keys, inner) | st.tuples(inner, inner) | st.frozensets(keys) | st.sets(keys)
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), json_values))
def test_any_json_context_survives(context: dict[str, Any]) -> None:
    assert same(there_and_back(context), context)


@given(values)
def test_any_value_survives_with_its_types(value: Any) -> None:
    assert same(there_and_back(value), value)


@given(values, values)
def test_different_values_have_different_records(one: Any, other: Any) -> None:
    if not same(one, other):
        assert lossless_dumps(one) != lossless_dumps(other) or one == other
