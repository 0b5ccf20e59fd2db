"""No file can make the reader crash, or use more than modest time and memory."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuvl_core.documents import parse_dotenv, read_text
from tuvl_core.documents import parser as parser_module


def aliases(levels: int) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, levels)]
    return "\n".join(lines)


BOMBS = {
    "brackets": "[" * 50_000,
    "braces": "{a: " * 50_000,
    "dashes": "- " * 50_000,
    "question marks": "? " * 50_000,
    "indentation": "\n".join(" " * i + "a:" for i in range(3000)),
    "65 levels": "a: " + "[" * 65 + "]" * 65,
    "nine levels of aliases": aliases(9),
    "deep aliases": "\n".join(["a0: &a0 [x]", *(f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, 100))]),
    "items": "- a\n" * 200_000,
    "tag directives": "".join(f"%TAG !a{i}! tag:x,2000:\n" for i in range(50_000)) + "--- a",
}


@pytest.mark.parametrize("pure", [False, True], ids=["c", "pure"])
@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused_in_bounded_time(name: str, pure: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if pure:
        monkeypatch.setattr(parser_module, "_parser_class", parser_module._pure_parser_class)
    start = time.perf_counter()
    _, (problem,) = read_text(BOMBS[name], "bomb.yaml")
    assert time.perf_counter() - start < 20
    assert problem.code == "TUVL-Y003"
    assert problem.location is not None


@pytest.mark.parametrize("text", ["{" + "a, " * 40_000 + "}", "x: !" + "y" * 100_000 + " 1"])
def test_what_is_wrong_all_over_is_said_briefly(text: str) -> None:
    _, problems = read_text(text, "bomb.yaml")
    assert 0 < len(problems) <= 50
    assert all(len(str(item)) < 400 for item in problems)


def test_64_levels_are_read() -> None:
    documents, problems = read_text("a: " + "[" * 62 + "x" + "]" * 62, "deep.yaml")
    assert problems == []
    assert len(documents) == 1


@given(st.binary(max_size=300))
def test_any_bytes_give_documents_or_diagnostics(data: bytes) -> None:
    documents, problems = read_text(data, "any.yaml")
    for document in documents:
        assert isinstance(document.data, dict)
    for problem in problems:
        assert problem.location is not None
        assert problem.location.line >= 1
        assert problem.location.column >= 1


YAMLISH = st.lists(
    st.sampled_from(
        list("abx019.-+~!&*|>%@`'\"#:?,[]{}<\\\t\n\r \x85\u2028")
        + ["\n  ", "\n- ", ": ", "<<: ", "---\n", "...\n", "{{ x }}", "!!str ", "&a ", "*a", "|\n "]
    ),
    max_size=40,
).map("".join)


@given(YAMLISH)
def test_any_text_gives_documents_or_diagnostics(text: str) -> None:
    documents, problems = read_text(text, "any.yaml")
    for document in documents:
        assert document.locate().line >= 1
        assert all(isinstance(key, str) for key in document.data)
    assert all(item.severity == "error" for item in problems)


@given(YAMLISH)
def test_both_parsers_read_the_same(text: str) -> None:
    with_c, problems_c = read_text(text, "any.yaml")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parser_module, "_parser_class", parser_module._pure_parser_class)
        pure, problems = read_text(text, "any.yaml")
    if not problems_c and not problems:
        assert repr([document.data for document in with_c]) == repr([document.data for document in pure])


@given(st.text(max_size=200))
def test_any_dotenv_gives_values_or_warnings(text: str) -> None:
    values, problems = parse_dotenv(text, ".env")
    assert all(isinstance(value, str) for value in values.values())
    assert all(item.severity == "warning" for item in problems)
