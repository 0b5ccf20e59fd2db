"""The wire form: strict JSON, one documented form for each type, an error naming the key else."""

from __future__ import annotations

import datetime as dt
import enum
import json
import math
from collections import OrderedDict, UserDict
from decimal import Decimal
from types import MappingProxyType
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuvl_core.codec import Secret, to_wire, too_deep, wire_dumps
from tuvl_core.codec.wire import MAX_DEPTH
from tuvl_core.context import Overlay
from tuvl_core.errors import CodecError

UTC = dt.UTC
CET = dt.timezone(dt.timedelta(hours=1))


class Color(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Mode(enum.StrEnum):
    ON = "on"


class Point(NamedTuple):
    x: int
    y: int


FORMS: list[tuple[Any, Any]] = [
    (UUID("12345678-1234-5678-1234-567812345678"), "12345678-1234-5678-1234-567812345678"),
    (Decimal("10.10"), "10.10"),
    (Decimal("1E+3"), "1E+3"),
    (Decimal("NaN"), None),
    (Decimal("-Infinity"), None),
    (dt.date(2026, 1, 2), "2026-01-02"),
    (dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "2026-01-02T03:04:05+00:00"),
    (dt.datetime(2026, 1, 2, 3, 4, 5, 60, tzinfo=CET), "2026-01-02T03:04:05.000060+01:00"),
    (dt.datetime(2026, 1, 2, 3, 4, 5), "2026-01-02T03:04:05"),
    (dt.time(3, 4), "03:04:00"),
    (dt.timedelta(days=1, seconds=3600, microseconds=500_000), "P1DT3600.5S"),
    (dt.timedelta(seconds=-90), "-P0DT90S"),
    (Color.RED, "red"),
    (Level.HIGH, 3),
    (Mode.ON, "on"),
    ({3, 1, 2}, [1, 2, 3]),
    ({10, 9, 8.5}, [8.5, 9, 10]),
    ({"b", "a"}, ["a", "b"]),
    (frozenset({Decimal("9"), Decimal("10")}), ["9", "10"]),
    (b"\xff\x00", {"base64": "/wA="}),
    (bytearray(b"a"), {"base64": "YQ=="}),
    (memoryview(b"a"), {"base64": "YQ=="}),
    (math.nan, None),
    (math.inf, None),
    (-math.inf, None),
    ((1, (2,)), [1, [2]]),
    (Point(1, 2), [1, 2]),
    (OrderedDict(a=1), {"a": 1}),
    (UserDict(a={1}), {"a": [1]}),
    (MappingProxyType({"a": 1}), {"a": 1}),
    (Overlay({"a": {1}}), {"a": [1]}),
    (Secret("s3cr3t"), "***"),
    (Secret({"k": "s3cr3t"}), "***"),
    ({1: "a", "b": 2, None: 3, True + 1: 4}, {"1": "a", "b": 2, "null": 3, "2": 4}),
    ({True: 1, 2.5: 2}, {"true": 1, "2.5": 2}),
    ({dt.date(2026, 1, 2): 1, Color.RED: 2}, {"2026-01-02": 1, "red": 2}),
    (2**63, 2**63),
    (-0.0, -0.0),
]


@pytest.mark.parametrize(("value", "form"), FORMS, ids=lambda item: type(item).__name__)
def test_each_type_has_one_form(value: Any, form: Any) -> None:
    for nested, expected in [
        (value, form),
        ({"k": [value]}, {"k": [form]}),
        ([{"k": value}, math.nan], [{"k": form}, None]),  # NaN sends it the slow way
    ]:
        text = json.dumps(expected, separators=(",", ":"), ensure_ascii=False)
        assert json.dumps(to_wire(nested), separators=(",", ":"), ensure_ascii=False) == text
        assert wire_dumps(nested) == text


def test_a_database_row_is_a_good_result() -> None:
    row = {
        "id": UUID(int=1),
        "total": Decimal("10.10"),
        "at": dt.datetime(2026, 1, 2, tzinfo=UTC),
        "day": dt.date(2026, 1, 2),
        "color": Color.RED,
        "tags": {"b", "a"},
        "blob": b"\xff\x00",
    }
    assert json.loads(wire_dumps({"row": row})) == {
        "row": {
            "id": "00000000-0000-0000-0000-000000000001",
            "total": "10.10",
            "at": "2026-01-02T00:00:00+00:00",
            "day": "2026-01-02",
            "color": "red",
            "tags": ["a", "b"],
            "blob": {"base64": "/wA="},
        }
    }


def test_an_offset_with_seconds_becomes_utc() -> None:
    mean_time = dt.timezone(dt.timedelta(minutes=53, seconds=28))
    value = dt.datetime(1890, 1, 1, 12, 0, tzinfo=mean_time)
    assert to_wire(value) == "1890-01-01T11:06:32+00:00"
    first = dt.datetime.min.replace(tzinfo=mean_time)  # has no instant in UTC
    assert to_wire(first).startswith("0001-01-01T00:00:00")


def test_different_values_stay_different() -> None:
    values = [1, "1", True, "true", None, "null", 1.5, [], {}, "", "[]", Decimal("1.50")]
    texts = [wire_dumps(value) for value in values]
    assert len(set(texts)) == len(texts)
    naive, aware = dt.datetime(2026, 1, 1), dt.datetime(2026, 1, 1, tzinfo=UTC)
    assert wire_dumps(naive) != wire_dumps(aware)
    assert wire_dumps(Decimal("10.1")) != wire_dumps(Decimal("10.10"))


def test_sets_are_written_the_same_way_each_time() -> None:
    naive, aware = dt.datetime(2026, 1, 1), dt.datetime(2026, 1, 1, tzinfo=UTC)
    assert to_wire({"a", 1, None}) == ["a", 1, None]
    assert to_wire({10, "9"}) == ["9", 10]
    assert to_wire({naive, aware}) == sorted([naive.isoformat(), aware.isoformat()])
    assert to_wire({2.0, math.nan, 1.0}) == [1.0, 2.0, None]
    assert to_wire({frozenset({2}), frozenset({1})}) == [[1], [2]]


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"a": [1, {"b": object()}]}, "a.1.b"),
        ({"a": {"b": range(3)}}, "a.b"),
        ({"f": test_a_database_row_is_a_good_result}, "f"),
        ({"a": complex(1, 2)}, "a"),
        ({"a": {1: "x", "1": "y"}}, "a"),
        ({"a": {None: "x", "null": "y"}}, "a"),
        ({"a": {(1, 2): "x"}}, "a"),
        ({"a": {math.nan: "x"}}, "a"),
        ({"a": {b"k": "x"}}, "a"),
        ({"a": 10**5000}, "a"),
    ],
)
def test_what_has_no_form_is_an_error_that_names_the_key(value: Any, path: str) -> None:
    for convert in (to_wire, wire_dumps):
        with pytest.raises(CodecError) as caught:
            convert(value)
        assert caught.value.path == path
        assert str(caught.value).startswith(f"{path}: ")


def test_the_error_starts_at_the_path_that_was_given() -> None:
    with pytest.raises(CodecError, match=r"^order\.x: .*object"):
        wire_dumps({"x": object()}, "order")


def test_data_without_an_end_is_an_error() -> None:
    loop: dict[str, Any] = {"ok": 1}
    loop["self"] = [loop]
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    for value, path in [(loop, "self"), ({"fine": 1, "deep": deep}, "deep"), (deep, "")]:
        for convert in (to_wire, wire_dumps):
            with pytest.raises(CodecError, match="nested too deeply") as caught:
                convert(value)
            assert caught.value.path == path


def nested(levels: int, leaf: Any = 1) -> Any:
    for number in range(levels):
        leaf = [leaf] if number % 2 else {"k": leaf}
    return leaf


def test_what_is_not_too_deep_has_a_wire_form() -> None:
    assert not any(map(too_deep, (1, "text", [], {}, [[]], nested(MAX_DEPTH), nested(MAX_DEPTH - 1, []))))
    to_wire(nested(MAX_DEPTH))
    assert all(map(too_deep, (nested(MAX_DEPTH + 1), {"ok": 1, "deep": nested(100_000)})))
    shared: Any = []
    for _ in range(MAX_DEPTH - 1):
        shared = [shared, shared]
    assert not too_deep(shared)
    shared.append(shared)
    assert too_deep(shared)


def test_half_a_surrogate_pair_is_escaped_and_the_rest_is_not() -> None:
    text = wire_dumps({"k": "ä\ud800z"})
    assert text == '{"k":"ä\\ud800z"}'
    assert json.loads(text.encode()) == {"k": "ä\ud800z"}


def test_line_ends_never_stand_raw_in_the_text() -> None:
    value = "a\nb\r\nc\rd\x0be\u2028f\u0085\n"
    text = wire_dumps({"k": value})
    assert not {"\n", "\r", "\x0b"} & set(text)
    assert json.loads(text)["k"] == value


def test_order_of_keys_is_kept() -> None:
    assert wire_dumps({"b": 1, "a": 2}) == '{"b":1,"a":2}'


def test_the_value_is_not_changed_and_not_shared() -> None:
    value = {"a": [1, {"b": 2}]}
    form = to_wire(value)
    form["a"][1]["b"] = 3
    assert value == {"a": [1, {"b": 2}]}


def test_without_the_c_encoder_the_text_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from tuvl_core.codec import wire

    monkeypatch.setattr("json.encoder.c_make_encoder", None)
    monkeypatch.setattr(wire, "_encode", wire._make_encode())
    assert wire_dumps({"a": [1, "ä", {2, 1}, math.nan]}) == '{"a":[1,"ä",[1,2],null]}'


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters())
    | st.binary()
    | st.uuids()
    | st.decimals()
    | st.dates()
    | st.datetimes(timezones=st.none() | st.timezones())
    | st.times()
    | st.timedeltas()
    | st.sampled_from([Color.RED, Level.HIGH, Mode.ON])
    | st.builds(Secret, st.text(min_size=1))
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text() | st.integers(), inner)
        | st.tuples(inner, inner)
        | st.sets(st.integers() | st.text() | st.dates())
    ),
    max_leaves=20,
)


def refuse(token: str) -> None:
    raise AssertionError(f"{token} is no JSON")


@given(values)
def test_the_wire_is_always_strict_json_in_utf8(value: Any) -> None:
    try:
        text = wire_dumps({"k": value})
    except CodecError as problem:
        assert "same text" in str(problem)  # {1: …, "1": …}
        return
    data = json.loads(text.encode("utf-8"), parse_constant=refuse)
    assert data == {"k": to_wire(value)} or "\\ud" in text
    assert text == wire_dumps(to_wire({"k": value}))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(json_values)
def test_json_data_is_its_own_wire_form(value: Any) -> None:
    assert json.loads(wire_dumps(value)) == value
    assert to_wire(value) == value
