"""Every value, and every character of a text, leads back to its place in the file."""

from __future__ import annotations

import pytest

from tuvl_core.documents import Document, read_text

TEXT = """\
kind: Workflow
spec:
  steps:
    - id: triage
      agent:
        model: default
        tools: [{ ref: lookup }, { ref: pay }]
        outcome:
          enum: [yes, no]
      timeout:
    - id: off
"""


def read(text: str) -> Document:
    documents, problems = read_text(text, "w.yaml")
    assert not problems
    return documents[0]


@pytest.mark.parametrize(
    ("path", "line", "column"),
    [
        ((), 1, 1),
        (("kind",), 1, 7),
        (("spec",), 2, 1),
        (("spec", "steps"), 3, 3),
        (("spec", "steps", 0), 4, 7),
        (("spec", "steps", 0, "id"), 4, 11),
        (("spec", "steps", 0, "agent"), 5, 7),
        (("spec", "steps", 0, "agent", "model"), 6, 16),
        (("spec", "steps", 0, "agent", "tools"), 7, 16),
        (("spec", "steps", 0, "agent", "tools", 1), 7, 34),
        (("spec", "steps", 0, "agent", "tools", 1, "ref"), 7, 41),
        (("spec", "steps", 0, "agent", "outcome", "enum", 1), 9, 23),
        (("spec", "steps", 0, "timeout"), 10, 7),
        (("spec", "steps", 0, "agent", "steering"), 5, 7),
        (("spec", "steps", 0, "agent", "outcome", "x", "y"), 8, 9),
        (("spec", "steps", 9), 3, 3),
        (("spec", "steps", "x"), 3, 3),
    ],
)
def test_values_are_located(path: tuple[str | int, ...], line: int, column: int) -> None:
    where = read(TEXT).locate(path)
    assert (where.path, where.line, where.column) == ("w.yaml", line, column)


def test_keys_are_located() -> None:
    document = read(TEXT)
    assert str(document.locate(("spec", "steps", 0, "id"), key=True)) == "w.yaml:4:7"
    assert str(document.locate(("kind",), key=True)) == "w.yaml:1:1"


def test_source_text_and_lines() -> None:
    document = read(TEXT)
    enum = ("spec", "steps", 0, "agent", "outcome", "enum")
    assert [document.raw((*enum, i)) for i in range(3)] == ["yes", "no", None]
    assert document.raw(("spec",)) is None
    assert document.raw(("spec", "steps", 0, "timeout")) is None
    assert document.source_line(1) == "kind: Workflow"
    assert document.source_line(99) == "" == document.source_line(0)
    assert document.get(("spec", "steps", 1, "id")) == "off"
    with pytest.raises(KeyError, match=r"spec\.steps\.7"):
        document.get(("spec", "steps", 7))


@pytest.mark.parametrize(
    ("source", "line", "column"),
    [
        ("ab X", 1, 7),
        ("'it''s X'", 1, 11),
        ('"\\t\\u00e4\\"\\x20 X"', 1, 20),
        ("|\n  first\n\n    X\n", 4, 5),
        ("|2-\n   first\n   X", 3, 4),
        (">\n  folded\n  text X\n", 3, 8),
        ("plain\n  over\n  lines X", 3, 9),
        ('"one\n\n  two\\\n  X"', 4, 3),
        ("&anchor !!str X", 1, 18),
        ("'äöü X'", 1, 9),
    ],
)
def test_characters_of_a_text_are_located(source: str, line: int, column: int) -> None:
    document = read(f"k: {source}")
    offset = document.data["k"].index("X")
    where = document.locate(("k",), offset=offset)
    assert (where.line, where.column) == (line, column)


def test_an_offset_past_the_end_stays_in_the_file() -> None:
    document = read("k: abc")
    assert str(document.locate(("k",), offset=99)) == "w.yaml:1:6"
    assert str(document.locate(("k",), offset=0)) == "w.yaml:1:4"
    assert str(document.locate(("nothing",), offset=3)) == "w.yaml:1:1"
