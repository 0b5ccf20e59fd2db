"""What is written reads back as the very same data."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tuvl_core.documents import read_text, to_yaml

TRICKY = [
    "", "no", "on", "null", "~", "true", "1", "0o17", "0x1f", "1e3", "1.5", ".5", "5.", "017", "1_0",
    "1:30", "2024-01-01", ".inf", "=", "<<", "- a", "a: b", "#", "a #b", "{{ x }}", "{a}", "[", "'",
    '"', "a\nb\n", "\n", " a ", "a\tb", "\t", "%a", "@a", "`", "*a", "&a", "!a", "|", ">", "? a", "\\",
    "a\x85b", "a\u2028b", "\u2029", "é", "\U0001f600", "\ufeff", "x" * 200, "a " * 100, "---", "...",
    "9" * 500, "\x07", "\ue085",
]  # fmt: skip
CHARACTERS = st.characters(codec="utf-8")
TEXTS = st.sampled_from(TRICKY) | st.text(CHARACTERS)
SCALARS = st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats(allow_nan=False) | TEXTS
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


def read_back(data: dict[str, Any]) -> Any:
    documents, problems = read_text(to_yaml(data), "w.yaml")
    assert problems == []
    return documents[0].data


@pytest.mark.parametrize("text", TRICKY)
def test_text_stays_text(text: str) -> None:
    data = {text: text, "list": [text], "deep": {"k": {text: [[text]]}}}
    assert read_back(data) == data


@given(st.dictionaries(TEXTS, JSON, max_size=5))
def test_any_data_survives(data: dict[str, Any]) -> None:
    got = read_back(data)
    assert repr(got) == repr(data)


@given(st.dictionaries(TEXTS, JSON, max_size=5))
def test_readers_of_yaml_1_1_see_the_same_text(data: dict[str, Any]) -> None:
    def texts(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: texts(item) for key, item in value.items()}
        if isinstance(value, list):
            return [texts(item) for item in value]
        return value if isinstance(value, str) else None

    assert texts(yaml.safe_load(to_yaml(data))) == texts(data)


def test_shared_values_are_written_out() -> None:
    shared = {"k": [1]}
    assert "&" not in to_yaml({"a": shared, "b": shared})
