"""Which files are read, and the project's `.env`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tuvl_core.documents import find_files, load_dotenv, parse_dotenv, read_dotenv


def names(root: Path) -> list[str]:
    return [path.relative_to(root).as_posix() for path in find_files(root)]


def write(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("a: 1\n")


def test_which_files_are_found(tmp_path: Path) -> None:
    write(
        tmp_path,
        "b.yaml",
        "a.yml",
        "x.json",
        "workflows/w.yaml",
        "workflows/deep/er.yaml",
        "workflows.yaml",
        ".hidden/h.yaml",
        ".pre-commit-config.yaml",
        "tests/t.yaml",
        "workflows/tests/t.yaml",
        "env/pyvenv.cfg",
        "env/lib/v.yaml",
        "node_modules/n.yaml",
        "nodes/__pycache__/c.yaml",
        "mytests/m.yaml",
    )
    assert names(tmp_path) == [
        "a.yml",
        "b.yaml",
        "mytests/m.yaml",
        "workflows/deep/er.yaml",
        "workflows/w.yaml",
        "workflows.yaml",
    ]


def test_a_project_inside_a_folder_that_would_be_skipped(tmp_path: Path) -> None:
    root = tmp_path / "tests" / ".project"
    write(root, "a.yaml")
    assert names(root) == ["a.yaml"]


def test_links_out_of_the_project_are_not_followed(tmp_path: Path) -> None:
    root, other = tmp_path / "root", tmp_path / "rootother"
    write(root, "real/a.yaml")
    write(other, "secret.yaml")
    (root / "out").symlink_to(other)
    (root / "loop").symlink_to(root)
    (root / "same").symlink_to(root / "real")
    (root / "zz_in.yaml").symlink_to(root / "real" / "a.yaml")
    assert names(root) == ["real/a.yaml", "zz_in.yaml"]


def test_a_missing_folder_holds_nothing(tmp_path: Path) -> None:
    assert find_files(tmp_path / "nowhere") == []


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("A=1", "1"),
        ("  export A = x y  ", "x y"),
        ("A=", ""),
        ("A=  # nothing", ""),
        ("A=x # comment", "x"),
        ("A=x#y", "x#y"),
        ("A='x # y' # c", "x # y"),
        (r"A='a\n'", r"a\n"),
        (r'A="a\n\"b\" \\ \$x"', 'a\n"b" \\ $x'),
        ('A="two\nlines"', "two\nlines"),
        ("A=a=b", "a=b"),
        ("A=${B}", "${B}"),
        ("A=1\nA=2", "2"),
        ("A=x\r\n", "x"),
        ("A=it's", "it's"),
    ],
)
def test_dotenv_values(line: str, value: str) -> None:
    assert parse_dotenv(f"# head\n\n{line}\nZ=1\n", ".env") == ({"A": value, "Z": "1"}, [])


@pytest.mark.parametrize("line", ["just words", "1A=x", "A='open", '="x"', "A='x' y"])
def test_dotenv_lines_without_sense_are_reported(line: str) -> None:
    values, (problem,) = parse_dotenv(f"B=1\n{line}\nC=2", ".env")
    assert values == {"B": "1", "C": "2"}
    assert problem.code == "TUVL-Y013"
    assert str(problem.location) == ".env:2:1"


def test_dotenv_files(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    assert read_dotenv(path) == {}
    path.write_bytes(b"\xef\xbb\xbfKEY=\xc3\xa4\n")
    assert read_dotenv(path) == {"KEY": "ä"}
    path.write_bytes(b"KEY=\xe4\n")
    values, (problem,) = load_dotenv(path, ".env")
    assert values == {}
    assert problem.code == "TUVL-Y002"
