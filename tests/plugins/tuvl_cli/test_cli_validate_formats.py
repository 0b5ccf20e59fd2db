"""`tuvl validate` in each of its forms."""

from __future__ import annotations

import os
import re
import shutil
from urllib.parse import unquote_to_bytes, urljoin

import pytest
from sarif_schema import sarif_validator

BAD = """\
kind: Workflow
metadata: { name: bad }
spec:
  steps:
    - id: first
      runner: ok
      rutes: { default: END }
    - id: second
      kind: Router
      condition: { field: x, operator: eq, value: 1 }
      routes: { "true": nowhere, "false": END }
"""


@pytest.fixture
def bad(desk):
    desk.simple("ok")
    desk.write("workflows/bad.yaml", BAD)
    return desk


def test_text(bad):
    done = bad("validate")
    lines = done.stdout.splitlines()
    assert done.returncode == 1
    at = next(number for number, line in enumerate(lines) if "rutes" in line)
    assert re.match(r"workflows/bad\.yaml:7:7: error TUVL-S001: .*rutes", lines[at])
    assert lines[at + 1] == "  7 |       rutes: { default: END }"
    assert lines[at + 2] == "    |       ^"
    assert lines[at + 3] == "  hint: did you mean `routes`?"
    assert lines[-1] == "2 files, 2 errors, 0 warnings"
    assert done.stderr == ""


def test_json(bad):
    found = bad.json("validate", "--format", "json", code=1)
    assert found["summary"] == {"errors": 2, "warnings": 0, "files": 2}
    keys = ["severity", "code", "message", "path", "line", "column", "workflow", "step", "plugin", "hint"]
    assert all(list(item) == keys for item in found["diagnostics"])
    first = next(item for item in found["diagnostics"] if item["code"] == "TUVL-S001")
    assert (first["path"], first["line"], first["column"]) == ("workflows/bad.yaml", 7, 7)
    clean = bad.root / "workflows/bad.yaml"
    clean.unlink()
    assert bad.json("validate", "--format", "json") == {
        "diagnostics": [],
        "summary": {"errors": 0, "warnings": 0, "files": 1},
    }


def test_sarif(bad):
    log = bad.json("validate", "-C", ".", "--format", "sarif", code=1)
    sarif_validator().validate(log)
    run = log["runs"][0]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["TUVL-S001", "TUVL-W014"]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    result = next(item for item in run["results"] if item["ruleId"] == "TUVL-S001")
    assert result["level"] == "error"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "workflows/bad.yaml"
    assert place["region"] == {"startLine": 7, "startColumn": 7}


ODD = {
    "a name with spaces": "my flows/über [1] 50%.yaml",
    "a colon that looks like a scheme": "a:b.yaml",
    "a name that is no text": b"\xff.yaml",
}


@pytest.mark.parametrize("name", ODD.values(), ids=ODD)
def test_sarif_whatever_a_file_is_called(bad, name):
    path = os.path.join(bad.root, os.fsdecode(name))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    shutil.move(bad.root / "workflows/bad.yaml", path)
    log = bad.json("validate", "--format", "sarif", code=1)
    sarif_validator().validate(log)
    place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    uri = place["artifactLocation"]["uri"]
    assert unquote_to_bytes(urljoin(f"{bad.root.as_uri()}/", uri).removeprefix("file://")) == os.fsencode(path)


def test_sarif_of_what_has_no_place(bad):
    """A finding about plugins, and nothing found at all."""
    bad.write("plugins/broken.py", "raise ValueError('at import')\n")
    log = bad.json("validate", "--format", "sarif", code=1)
    sarif_validator().validate(log)
    (bad.root / "workflows/bad.yaml").unlink()
    (bad.root / "plugins/broken.py").unlink()
    log = bad.json("validate", "--format", "sarif")
    sarif_validator().validate(log)
    assert log["runs"][0]["results"] == []


def test_github(bad):
    done = bad("validate", "--format", "github")
    assert done.returncode == 1
    assert re.search(r"^::error file=workflows/bad\.yaml,line=7,col=7,title=TUVL-S001::.*rutes", done.stdout, re.M)
    # The path is the one from where the job runs.
    (bad.root.parent / "here").mkdir()
    done = bad("validate", "-C", str(bad.root), "--format", "github")
    assert f"file={bad.root}/workflows/bad.yaml" in done.stdout


def test_a_caret_below_wide_text(desk):
    desk.simple()
    desk.write(
        "w.yaml",
        "kind: Workflow\nmetadata: { name: w }\n"
        'spec: { steps: [{ id: a, runner: ok, description: "注文", rutes: {} }] }\n',
    )
    lines = desk("validate").stdout.splitlines()
    source = next(line for line in lines if "rutes: {}" in line)
    caret = lines[lines.index(source) + 1]
    assert caret.index("^") == source.index("rutes") + 2  # two characters, each two columns wide


def test_control_characters_are_not_obeyed(desk):
    desk.write("w.yaml", "kind: Workflow\nmetadata: { name: w }\nspec: { stps: [] } # \x9b31m red\n")
    assert "\x9b" not in desk("validate").stdout


def test_no_code_of_a_workflow_runs(desk):
    desk.write(
        "nodes/n.py",
        "import pathlib\npathlib.Path('was_here').touch()\n"
        "from tuvl_kinds_functional import node\n@node('n')\ndef n(ctx): ...\n",
    )
    desk.workflow("w", {"id": "a", "runner": "n"})
    assert desk("validate").returncode == 0
    assert not (desk.root / "was_here").exists()


def test_a_line_that_is_too_wide_is_shown_in_part(desk):
    desk.simple()
    for before, after in ((0, 400), (300, 300), (400, 0)):
        step = f'{{ id: a, runner: ok, description: "{"x" * before}", rutes: {{}}, timeout: 3{" " * after} }}'
        desk.write("w.yaml", f"kind: Workflow\nmetadata: {{ name: w }}\nspec: {{ steps: [{step}] }}\n")
        lines = desk("validate").stdout.splitlines()
        source = next(line for line in lines if "rutes: {}" in line)
        caret = lines[lines.index(source) + 1]
        assert len(source) < 180 and caret.index("^") == source.index("rutes")
