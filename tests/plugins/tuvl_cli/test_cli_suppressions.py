"""What is suppressed is silent in text and annotations, and told with its reason in JSON and SARIF."""

from __future__ import annotations

import pytest
from sarif_schema import sarif_validator

WORKFLOW = """\
kind: Workflow
metadata: { name: w }
spec:
  output: total  # tuvl: ignore TUVL-W003 the caller gives it
  steps:
    - { id: gate, kind: Router, match: { field: state }, routes: { open: done, default: END } }
    - { id: done, kind: Router, condition: "state", routes: { "true": END } }
"""


@pytest.fixture
def shop(desk):
    desk.write("w.yaml", WORKFLOW)
    desk.write("tuvl.toml", '[validate]\nignore = [{ code = "TUVL-R004", path = "w.*", reason = "never false" }]\n')
    return desk


def test_text(shop):
    done = shop("validate", "--strict")
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-1] == "1 file, no errors, no warnings, 2 suppressed"
    assert "TUVL-W003" not in done.stdout and "TUVL-R004" not in done.stdout
    assert "W003" not in shop("validate", "--format", "github").stdout


def test_json(shop):
    found = shop.json("validate", "--format", "json")
    assert found["summary"] == {"errors": 0, "warnings": 0, "files": 1}
    told = {item["code"]: item.get("suppressions") for item in found["diagnostics"] if item["severity"] != "info"}
    assert told == {
        "TUVL-W003": [{"kind": "inSource", "justification": "the caller gives it"}],
        "TUVL-R004": [{"kind": "external", "justification": "never false"}],
    }


def test_sarif(shop):
    shop.write("other.yaml", "kind: Workflow\nmetadata: { name: o }\nspec: { stps: [] }\n")
    log = shop.json("validate", "--format", "sarif", code=1)
    sarif_validator().validate(log)
    [run] = log["runs"]
    silent = {item["ruleId"]: item["suppressions"] for item in run["results"] if "suppressions" in item}
    assert set(silent) == {"TUVL-W003", "TUVL-R004"}
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    assert rules["TUVL-R004"]["defaultConfiguration"] == {"level": "error"}
    assert rules["TUVL-R004"]["properties"] == {"class": "flow"}
    assert rules["TUVL-R004"]["help"]["markdown"].startswith("# TUVL-R004: ")
    # The schema is closed: what the standard does not know is refused.
    log["runs"][0]["results"][0]["severity"] = "error"
    assert not sarif_validator().is_valid(log)


def test_the_order_never_changes(shop):
    for form in ("text", "json", "sarif", "github"):
        assert len({shop("validate", "--format", form).stdout for _ in range(3)}) == 1
