"""Suppressions: where they count, what they need, and what cannot be suppressed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tuvl_core import Plugins, check_project, load_project

PLUGINS = Plugins.load(environ={})
HEAD = "kind: Workflow\nmetadata: { name: w }\nspec:\n"
STEPS = "  steps:\n    - { id: gate, kind: Router, match: { field: state }, routes: { default: END } }\n"
DOCUMENT = HEAD + "  output: total@\n" + STEPS


@pytest.fixture
def check(tmp_path: Path):
    def run(text: str, toml: str = "", name: str = "w.yaml", **more: str) -> dict[str, list[tuple[int, str]]]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        (tmp_path / "tuvl.toml").write_text(toml)
        project = load_project(tmp_path, plugins=PLUGINS, environ={})
        found = {}
        for item in check_project(project, suppressed=True):
            if item.severity != "info":
                reason = item.suppression.reason if item.suppression else ""
                found.setdefault(item.code, []).append((item.location.line, reason))
        return found

    return run


@pytest.mark.parametrize(
    "comment",
    [
        "  # tuvl: ignore TUVL-W003 it is given",
        "  # tuvl: ignore TUVL-W003: it is given",
        "  # tuvl: ignore TUVL-W003 — it is given",
        "  # tuvl:ignore tuvl-w003 it is given",
        "   \t#tuvl: ignore  TUVL-W003  it is given",
    ],
)
def test_on_the_line(check, comment):
    assert check(DOCUMENT.replace("@", comment)) == {"TUVL-W003": [(4, "it is given")]}


@pytest.mark.parametrize("between", ["", "  # and a comment of its own\n", "# tuvl: ignore TUVL-W015 x\n"])
def test_on_the_line_above(check, between):
    text = HEAD + "  # tuvl: ignore TUVL-W003 it is given\n" + between + "  output: total\n" + STEPS
    found = check(text)
    assert found.pop("TUVL-W003") == [(4 + 1 + between.count("\n"), "it is given")]
    assert found == ({"TUVL-S061": [(5, "")]} if "tuvl" in between else {})


def test_further_off_it_counts_for_nothing(check):
    text = "# tuvl: ignore TUVL-W003 it is given\n" + DOCUMENT.replace("@", "")
    assert check(text) == {"TUVL-S061": [(1, "")], "TUVL-W003": [(5, "")]}


def test_several_codes(check):
    found = check(DOCUMENT.replace("@", "  # tuvl: ignore TUVL-W003, TUVL-W021 it is given"))
    assert found == {"TUVL-W003": [(4, "it is given")], "TUVL-S061": [(4, "")]}


@pytest.mark.parametrize(
    "comment",
    ["ignore TUVL-W003", "ignore TUVL-W003 :", "ignore it is given", "ignore", "disable TUVL-W003 it is given", ""],
)
def test_without_a_code_or_a_reason_it_is_none(check, comment):
    found = check(DOCUMENT.replace("@", f"  # tuvl: {comment}"))
    assert found == {"TUVL-W003": [(4, "")], "TUVL-S060": [(4, "")]}


@pytest.mark.parametrize(
    "text",
    [
        '    - { id: a, kind: Response, source: x, description: "# tuvl: ignore TUVL-W003 no" }\n',
        "    - id: a\n      kind: Response\n      source: x\n      description: |\n        # tuvl: ignore TUVL-W003 no\n",
        "    - { id: a, kind: Response, source: x, description: 'it''s\n        # tuvl: ignore TUVL-W003 no' }\n",
        "    - { id: a, kind: Response, source: x, description: a#tuvl: ignore }\n",
    ],
)
def test_text_is_no_comment(check, text):
    assert not {"TUVL-S060", "TUVL-S061"} & check(DOCUMENT.replace("@", "") + text).keys()


def test_a_structure_error_cannot_be_suppressed(check):
    found = check(HEAD + "  output: [1]  # tuvl: ignore TUVL-S003 I know\n" + STEPS)
    assert found == {"TUVL-S003": [(4, "")], "TUVL-S062": [(4, "")]}


def test_findings_about_suppressions_cannot_be_suppressed(check):
    toml = '[validate]\nignore = [{ code = "TUVL-S061", reason = "quiet" }]\n'
    found = check(DOCUMENT.replace("@", "  # tuvl: ignore TUVL-W021 no"), toml)
    assert sorted(found["TUVL-S061"]) == [(2, ""), (4, "")]


@pytest.mark.parametrize("path", [None, "flows/w.yaml", "flows/*", "*.yaml"])
def test_in_the_settings(check, path):
    where = f'path = "{path}", ' if path else ""
    toml = f'[validate]\nignore = [{{ code = "TUVL-W003", {where}reason = "it is given" }}]\n'
    assert check(DOCUMENT.replace("@", ""), toml, "flows/w.yaml") == {"TUVL-W003": [(4, "it is given")]}


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ('{ code = "TUVL-W003", path = "other/*", reason = "x" }', "TUVL-S061"),
        ('{ code = "TUVL-W0003", reason = "x" }', "TUVL-S061"),
        ('{ code = "TUVL-W003" }', "TUVL-S060"),
        ('{ code = "TUVL-W003", reason = "  " }', "TUVL-S060"),
        ('{ reason = "x" }', "TUVL-S060"),
        ('{ code = "TUVL-W003", resaon = "x" }', "TUVL-S060"),
        ('"TUVL-W003"', "TUVL-S050"),
        ('{ code = 3, reason = "x" }', "TUVL-S050"),
    ],
)
def test_entries_that_do_not_count(check, entry, code):
    found = check(DOCUMENT.replace("@", ""), f"[validate]\nignore = [\n  {entry},\n]\n")
    assert found == {"TUVL-W003": [(4, "")], code: [(2 if code == "TUVL-S050" else 3, "")]}


def test_entries_as_tables_of_their_own(check):
    toml = (
        '[[validate.ignore]]\ncode = "TUVL-W003"\nreason = "x"\n[[validate.ignore]]\ncode = "TUVL-W015"\nreason = "y"\n'
    )
    assert check(DOCUMENT.replace("@", ""), toml) == {"TUVL-W003": [(4, "x")], "TUVL-S061": [(4, "")]}


def test_nothing_is_told_of_what_is_turned_off(check):
    assert check("enabled: false\n" + DOCUMENT.replace("@", "  # tuvl: ignore TUVL-W003 x")) == {}
