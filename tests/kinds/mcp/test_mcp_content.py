"""Whatever a server sends becomes a value, and no base64 comes along."""

from __future__ import annotations

import base64
import json

from hypothesis import given
from hypothesis import strategies as st

from tuvl_core import to_wire
from tuvl_kinds_mcp.content import result_text, result_value

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
MIME = st.sampled_from(["image/png", "audio/wav", "application/pdf"])
BYTES = st.binary(min_size=40, max_size=90)


def encoded(data):
    return base64.b64encode(data).decode()


TEXT = st.builds(lambda text: {"type": "text", "text": text}, st.text(max_size=20) | JSON.map(json.dumps))
IMAGE = st.builds(lambda data, mime: {"type": "image", "data": encoded(data), "mimeType": mime}, BYTES, MIME)
BLOB = st.builds(lambda data: {"type": "resource", "resource": {"uri": "file:///x", "blob": encoded(data)}}, BYTES)
LINK = st.just({"type": "resource_link", "uri": "file:///y", "name": "y"})
PART = TEXT | IMAGE | BLOB | LINK
ANYTHING = st.fixed_dictionaries({}, optional={"content": JSON | st.lists(PART | JSON), "structuredContent": JSON})


@given(st.lists(PART, max_size=5))
def test_every_part_counts_and_none_is_pasted(parts):
    value = result_value({"content": parts})
    values = value if len(parts) > 1 else [value] if parts else []
    assert len(values) == len(parts)
    told = json.dumps(value)
    for part, found in zip(parts, values, strict=True):
        data = part.get("data") or part.get("resource", {}).get("blob")
        if data is not None:
            assert data not in told
            assert found["bytes"] == len(base64.b64decode(data))


@given(ANYTHING)
def test_nothing_breaks_it_and_the_value_has_a_wire_form(result):
    to_wire(result_value(result))
    assert isinstance(result_text(result), str)


@given(JSON, st.lists(PART, max_size=4))
def test_structured_content_stands_for_texts_and_only_for_those(structured, parts):
    value = result_value({"content": parts, "structuredContent": structured})
    if structured is None:
        assert value == result_value({"content": parts})
        return
    others = [part for part in parts if part["type"] != "text"]
    assert value == ([structured, *(result_value({"content": [part]}) for part in others)] if others else structured)


@given(JSON)
def test_text_that_is_json_is_read_and_any_other_is_kept(value):
    assert result_value({"content": [{"type": "text", "text": json.dumps(value)}]}) == value


def test_texts_that_look_like_json():
    for text in ("NaN", "Infinity", "1e999", "{'a': 1}", "", " ", "[1,", "[" * 100_000, "9" * 5000):
        assert result_value({"content": [{"type": "text", "text": text}]}) == text


def test_what_a_result_says_in_words():
    text = {"type": "text", "text": "quota"}
    assert result_text({"content": [text, text]}) == "quota\nquota"
    assert result_text({"content": [], "structuredContent": {"why": "x"}}) == '{"why": "x"}'
    assert result_text({"content": []}) == ""


def test_kinds_of_parts_that_are_not_known_yet():
    part = {"type": "hologram", "data": encoded(b"abc"), "depth": 3, "annotations": {}}
    assert result_value({"content": [part]}) == {"type": "hologram", "bytes": 3, "depth": 3}
