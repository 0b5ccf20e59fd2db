"""`tuvl schema`: alone on stdout, composed of what is installed, and set up in editors without harm."""

from __future__ import annotations

import json

import jsonschema_rs
import pytest
from installed import install

KINDS = """
import attrs
from tuvl_core import StepKind, StepResult, field, hookimpl

TUVL_API = 1

@attrs.frozen(kw_only=True)
class Config:
    seconds: float = field(doc="How long.", max=60)

class Wait(StepKind):
    '''Wait, then go on.'''
    name = "acme.Wait"
    Config = Config
    async def run(self, call):
        return StepResult()

@hookimpl
def tuvl_step_kinds():
    return [Wait]
"""


def workflow(step):
    return {"kind": "Workflow", "metadata": {"name": "a"}, "spec": {"steps": [{"id": "s", **step}]}}


def test_a_strangers_kind_is_part_of_it(desk, tmp_path_factory):
    site = tmp_path_factory.mktemp("site")
    install(site, "acme-kinds", KINDS)
    desk.environ["PYTHONPATH"] = str(site)
    schema = desk.json("schema")
    jsonschema_rs.meta.validate(schema)
    check = jsonschema_rs.validator_for(schema)
    assert check.is_valid(workflow({"kind": "acme.Wait", "seconds": 1}))
    assert not check.is_valid(workflow({"kind": "acme.Wait", "seconds": 61}))
    assert not check.is_valid(workflow({"kind": "acme.Wait"}))
    one = desk.json("schema", "--kind", "acme.Wait", "--json")
    assert one["$defs"]["step.acme.Wait"]["properties"]["seconds"]["description"] == "How long."


def test_the_default_kind_of_the_project_counts(desk):
    desk.write("tuvl.toml", 'default_kind = "Response"\n')
    check = jsonschema_rs.validator_for(desk.json("schema"))
    assert check.is_valid(workflow({"mapping": {"a": "b"}}))
    assert not check.is_valid(workflow({"runner": "x"}))


def test_an_unknown_kind_is_a_wrong_use(desk):
    done = desk("schema", "--kind", "Ruter")
    assert done.returncode == 2 and "did you mean `Router`" in done.stderr
    assert desk("schema", "--install", "--kind", "Router").returncode == 2


def test_install_writes_the_schema_and_the_settings(desk):
    done = desk("schema", "--install")
    assert done.returncode == 0
    assert "# yaml-language-server: $schema=.tuvl/schema.json" in done.stdout
    assert json.loads((desk.root / ".tuvl/schema.json").read_text(encoding="utf-8")) == desk.json("schema")
    settings = json.loads((desk.root / ".vscode/settings.json").read_text(encoding="utf-8"))
    assert settings["yaml.schemas"][".tuvl/schema.json"][:2] == ["*.yaml", "*.yml"]
    assert desk("validate").stdout.startswith("0 files")


def test_install_keeps_what_the_settings_say(desk):
    kept = {"editor.rulers": [120], "yaml.schemas": {"other.json": "x/*.yaml"}}
    desk.write(".vscode/settings.json", json.dumps(kept, indent=4))
    assert desk.json("schema", "--install", "--json")["settings_written"] is True
    text = (desk.root / ".vscode/settings.json").read_text(encoding="utf-8")
    settings = json.loads(text)
    assert settings["editor.rulers"] == [120]
    assert list(settings["yaml.schemas"]) == ["other.json", ".tuvl/schema.json"]
    assert '\n    "editor.rulers"' in text
    settings["yaml.schemas"][".tuvl/schema.json"] = "mine/*.yaml"
    own = json.dumps(settings)
    desk.write(".vscode/settings.json", own)
    assert desk("schema", "--install").returncode == 0
    assert (desk.root / ".vscode/settings.json").read_text(encoding="utf-8") == own


@pytest.mark.parametrize("text", ['{\n  // mine\n  "a": 1,\n}\n', "[1]", '{"yaml.schemas": []}'])
def test_settings_that_would_lose_something_are_left_alone(desk, text):
    desk.write(".vscode/settings.json", text)
    done = desk("schema", "--install")
    assert done.returncode == 1
    assert "left as it is" in done.stderr and '"yaml.schemas": {".tuvl/schema.json"' in done.stderr
    assert (desk.root / ".vscode/settings.json").read_text(encoding="utf-8") == text
    assert (desk.root / ".tuvl/schema.json").is_file()
