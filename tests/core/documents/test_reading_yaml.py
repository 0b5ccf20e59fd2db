"""YAML 1.2 core, strictly: what was written is what is meant, and what is wrong is said."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tuvl_core.documents import Document, read_documents, read_text
from tuvl_core.documents import parser as parser_module


@pytest.fixture(params=["c", "pure"], autouse=True)
def each_parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run every test on PyYAML's C parser and on the pure one that stands in for it."""
    if request.param == "pure":
        monkeypatch.setattr(parser_module, "_parser_class", parser_module._pure_parser_class)
    elif not parser_module.has_c_parser():
        pytest.skip("PyYAML has no C extension here")
    return str(request.param)


def one(text: str) -> Document:
    documents, problems = read_text(text, "w.yaml")
    assert problems == []
    (document,) = documents
    return document


def problems_of(text: str | bytes) -> list[tuple[str, int, int]]:
    found = read_text(text, "w.yaml")[1]
    return [(item.code, item.location.line, item.location.column) for item in found if item.location]


def message_of(text: str | bytes) -> str:
    (problem,) = read_text(text, "w.yaml")[1]
    return f"{problem.message} | {problem.hint}"


@pytest.mark.parametrize("word", ["yes", "no", "on", "off", "NO", "Yes", "y", "n", "ON", "nul"])
def test_a_plain_word_is_text(word: str) -> None:
    data = one(f"value: {word}\n{word}: 1\nlist: [{word}]").data
    assert data == {"value": word, word: 1, "list": [word]}


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("true", True),
        ("FALSE", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("'true'", "true"),
        ('"1"', "1"),
        ("12", 12),
        ("-12", -12),
        ("+12", 12),
        ("010", 10),
        ("0o17", 15),
        ("0x1F", 31),
        ("0b11", "0b11"),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("2024-05-01", "2024-05-01"),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("1.2.3", "1.2.3"),
        (".", "."),
        ("-", [None]),
        ("+", "+"),
        ("0x", "0x"),
        ("-.inf", -math.inf),
        ("=", "="),
        ("!!str 12", "12"),
        ("!!int '12'", 12),
        ("!!float 1", 1.0),
        ("!!null ''", None),
        ("! 'x'", "x"),
        ("!!seq [1]", [1]),
        ("!!map {a: 1}", {"a": 1}),
        ("|\n  12\n", "12\n"),
    ],
)
def test_scalars_follow_the_core_schema(source: str, value: object) -> None:
    data = one(f"v: {source}" if source != "-" else "v:\n-").data
    assert data == {"v": value}
    assert type(data["v"]) is type(value)


def test_not_a_number_is_a_number() -> None:
    assert math.isnan(one("v: .nan").data["v"])


@pytest.mark.parametrize("key", ["true", "1", "null", "1.50", "~", "0x1f", "2024-05-01"])
def test_keys_are_their_source_text(key: str) -> None:
    assert one(f"{key}: x\nm: {{ {key}: y }}").data == {key: "x", "m": {key: "y"}}


@pytest.mark.parametrize("char", ["\x85", "\u2028", "\u2029", "\ue000"])
def test_old_line_breaks_are_characters(char: str) -> None:
    data = one(f"a{char}b: x{char}  y\nt: |\n  1{char}2\nq: '{char}'\n# \ue001").data
    assert data == {f"a{char}b": f"x{char}  y", "t": f"1{char}2\n", "q": char}


def test_aliases_are_copies() -> None:
    data = one("a: &x {k: [1]}\nb: *x\nc: [*x, *x]").data
    assert data["b"] == {"k": [1]} == data["c"][1]
    data["b"]["k"].append(2)
    assert data["a"] == {"k": [1]}


def test_several_documents_and_empty_ones() -> None:
    documents, problems = read_text("# head\n---\n---\na: 1\n---\n...\n---\nb: 2\n", "w.yaml")
    assert [document.data for document in documents] == [{"a": 1}, {"b": 2}]
    assert problems == []
    assert read_text("", "w.yaml") == ([], [])
    assert read_text("# nothing\n", "w.yaml") == ([], [])


def test_what_stands_before_a_syntax_error_is_read() -> None:
    documents, problems = read_text("a: 1\n---\nb: [\n", "w.yaml")
    assert [document.data for document in documents] == [{"a": 1}]
    assert [item.code for item in problems] == ["TUVL-Y004"]


def test_byte_order_mark_and_line_ends() -> None:
    documents, problems = read_text(b"\xef\xbb\xbfa: 1\r\nb: |\r\n  x\r\n  y\r\n", "w.yaml")
    assert documents[0].data == {"a": 1, "b": "x\ny\n"}
    assert problems == []


def test_a_key_given_twice_names_both_lines() -> None:
    text = "id: pay\nroutes: { yes: a }\nkind: Router\nroutes: { no: b }\n"
    documents, (problem,) = read_text(text, "w.yaml")
    assert problem.code == "TUVL-Y005"
    assert str(problem.location) == "w.yaml:4:1"
    assert "`routes` is given twice: here (line 4) and on line 2" in problem.message
    assert documents[0].data["routes"] == {"yes": "a"}
    assert documents[0].problems == (problem,)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: {x: 1, 'x': 2}", [("TUVL-Y005", 1, 11)]),
        ("<<: {a: 1}\nb: 1", [("TUVL-Y006", 1, 1)]),
        ("[a, b]: 1\nc: 2", [("TUVL-Y007", 1, 1)]),
        ("? {a: 1}\n: 2", [("TUVL-Y007", 1, 3)]),
        ("a: !!python/object/apply:os.system ['true']", [("TUVL-Y008", 1, 4)]),
        ("a: !!python/name:os.system ''", [("TUVL-Y008", 1, 4)]),
        ("!env a: 1", [("TUVL-Y008", 1, 1)]),
        ("a: !!binary aGk=", [("TUVL-Y008", 1, 4)]),
        ("a: !!set {x}", [("TUVL-Y008", 1, 4)]),
        ("a: !<tag:x> b", [("TUVL-Y008", 1, 4)]),
        ("a: !!int x", [("TUVL-Y010", 1, 4)]),
        ("a: !!bool yes", [("TUVL-Y010", 1, 4)]),
        ("a: 1e999", [("TUVL-Y010", 1, 4)]),
        ("a: " + "9" * 401, [("TUVL-Y010", 1, 4)]),
        ("- a\n- b", [("TUVL-Y011", 1, 1)]),
        ("just text", [("TUVL-Y011", 1, 1)]),
        ("a: &x [*x]", [("TUVL-Y012", 1, 4)]),
        ("&x {a: {b: *x}}", [("TUVL-Y012", 1, 1)]),
        ("a: 'b\nc: 1\n", [("TUVL-Y004", 1, 4)]),
        ('a: 1\nb: "x\n\n', [("TUVL-Y004", 2, 4)]),
        ("a: @x", [("TUVL-Y004", 1, 4)]),
        ("a: b: c", [("TUVL-Y004", 1, 5)]),
        ("a: *nobody", [("TUVL-Y004", 1, 4)]),
        ("%YAML 3.0\n---\na: 1", [("TUVL-Y004", 1, 1)]),
        ("a: \x07", [("TUVL-Y004", 1, 4)]),
        ("a: é\x00", [("TUVL-Y004", 1, 5)]),
        ("a: \ud800", [("TUVL-Y004", 1, 4)]),
        (b"a: 1\nb: \xe9", [("TUVL-Y002", 2, 4)]),
        ("ä: ö\n".encode("utf-16"), [("TUVL-Y002", 1, 1)]),
    ],
)
def test_what_is_refused(text: str | bytes, expected: list[tuple[str, int, int]]) -> None:
    assert problems_of(text) == expected


def test_no_tag_is_ever_constructed(tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    text = f"a: !!python/object/apply:os.system ['touch {witness}']\nb: !!python/tuple [1]\n"
    documents, problems = read_text(text, "w.yaml")
    assert [item.code for item in problems] == ["TUVL-Y008"] * 2
    assert documents[0].data == {"a": [f"touch {witness}"], "b": [1]}
    assert not witness.exists()


@pytest.mark.parametrize(
    "text",
    [
        "url: {{ base }}/orders",
        "url: {{ base }}",
        "qty: {{ order.qty | round(2, 'x') }}",
        "list: [{{ a }}]",
        "list:\n  - {{ a }}",
        "m: { k: {{ a }} }",
    ],
)
def test_an_unquoted_template_is_told_to_be_quoted(text: str) -> None:
    assert [code for code, _, _ in problems_of(text)] == ["TUVL-Y009"]
    assert "must be quoted" in message_of(text)
    assert '"{{' in message_of(text)


def test_a_quoted_template_is_text() -> None:
    text = "a: \"{{ x }}\"\nb: '{{ y }}/z'\nc: |\n  {{ z }}\nd: x {{ y }}"
    assert one(text).data == {"a": "{{ x }}", "b": "{{ y }}/z", "c": "{{ z }}\n", "d": "x {{ y }}"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a:\n\tb: 1", "tabs"),
        ("a: @x", "starts with `@`"),
        ("a: b: c", "quote a value that holds"),
        ("a: 'x", "never closed"),
        ("a: *x", "quote text that starts with `*`"),
        ('a: "\\q"', "single quotes"),
        ("- a\nb: 1", "indentation"),
        ("a: [1, 2\nb: 1", "close the bracket"),
        ("a: &x 1\nb: &x 2", "a name of its own"),
        ("a: { b: ${NAME} }", "quote text that holds braces"),
        ("a: [x/{{ b }}]", "quote text that holds braces"),
    ],
)
def test_syntax_errors_say_what_to_do(text: str, says: str) -> None:
    assert says in message_of(text)


def test_one_mistake_hides_no_other() -> None:
    text = "a: !x 1\nb: {c: 1, c: 2}\n<<: {}\nd: {{ x }}\n"
    codes = [code for code, _, _ in problems_of(text)]
    assert codes == ["TUVL-Y008", "TUVL-Y005", "TUVL-Y006", "TUVL-Y009"]


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "broken.yaml").symlink_to(tmp_path / "nowhere")
    (tmp_path / "big.yaml").write_bytes(b"#" * (4 * 1024 * 1024 + 1))
    found = {
        name: read_documents(tmp_path / name, name)[1][0].code
        for name in ("folder.yaml", "broken.yaml", "big.yaml", "missing.yaml")
    }
    assert found == {
        "folder.yaml": "TUVL-Y001",
        "broken.yaml": "TUVL-Y001",
        "big.yaml": "TUVL-Y003",
        "missing.yaml": "TUVL-Y001",
    }


def test_the_envelope_reads_as_text() -> None:
    document = one("kind: on\nenabled: false\nmetadata: { name: 007, schema_version: 2 }")
    assert (document.kind, document.name, document.schema_version) == ("on", "007", "2")
    assert not document.enabled
    empty = one("metadata: { name: }\nother: 1")
    assert (empty.kind, empty.name, empty.schema_version) == (None, None, "v1")
    assert empty.enabled
