"""`kinds`, `plugins`, `config`, `rule`: for people and for programs."""

from __future__ import annotations

import os
from pathlib import Path

DECLARED = [
    "signals",
    "children",
    "composite",
    "callable_as_tool",
    "tool_parameters",
    "output_key",
    "mutates_context",
    "reads",
    "writes",
    "effects",
    "transactional",
    "capabilities",
    "cost",
    "model_writes",
    "sinks",
]
KINDS = """
import attrs
from tuvl_core import Capabilities, Cost, DocumentKind, Effects, Keys, Section, Signals, StepKind, hookimpl

@attrs.frozen(kw_only=True)
class DelayConfig:
    '''How long.

    Attributes:
        seconds: As many.
    '''
    seconds: float = 1.0

class Delay(StepKind):
    '''Wait, then go on.

    More about it.
    '''
    name = "acme.Delay"
    Config = DelayConfig
    signals = Signals("default")
    reads = Keys()
    effects = Effects.PURE
    capabilities = Capabilities(network=("api.example.test",))

    def cost(self, step, plan):
        return Cost(seconds=step.config.seconds)

    async def run(self, call): ...

class Silent(StepKind):
    name = "acme.Silent"
    async def run(self, call): ...

@hookimpl
def tuvl_step_kinds():
    return [Delay, Silent]

@hookimpl
def tuvl_document_kinds():
    return [DocumentKind(kind="acme.Region", spec=DelayConfig)]

@hookimpl
def tuvl_workflow_sections():
    return [Section(key="acme_audit", spec=DelayConfig)]

@hookimpl
def tuvl_step_sections():
    return [Section(key="acme_note", spec=str)]
"""


def test_kinds(desk):
    desk.write("plugins/mine.py", KINDS)
    text = desk("kinds").stdout
    assert "acme.Delay" in text
    assert "Wait, then go on.\n" in text
    assert "More about it" not in text
    for name in ("Functional", "tuvl-kinds-functional 3.0.0", "acme.Region", "spec.acme_audit", "steps[].acme_note"):
        assert name in text
    found = desk.json("kinds", "--json")
    kinds = {item["name"]: item for item in found["kinds"]}
    assert all(set(DECLARED) <= set(item) for item in kinds.values())
    delay = kinds["acme.Delay"]
    assert (delay["distribution"], delay["version"]) == ("plugins/mine.py", None)
    assert delay["signals"] == {"names": ["default"], "open": False}
    assert delay["effects"] == "pure"
    assert delay["capabilities"]["network"] == ["api.example.test"]
    assert delay["depends_on_step"] == ["cost"]
    assert delay["cost"] == {
        "model_calls": None, "tool_calls": None, "tokens": None, "seconds": None, "money": None,
        "why": "it depends on the step",
    }  # fmt: skip
    assert delay["schema"]["properties"]["seconds"]
    silent = kinds["acme.Silent"]
    assert silent["silent_on"] == DECLARED
    assert silent["signals"] == {"names": ["default"], "open": True}
    assert silent["reads"] == {"names": [], "open": True}
    assert (silent["effects"], silent["mutates_context"], silent["callable_as_tool"]) == ("irreversible", True, True)
    assert silent["capabilities"]["network"] == ["*"]
    assert {item["kind"]: item["distribution"] for item in found["documents"]}["acme.Region"] == "plugins/mine.py"
    assert {item["key"] for item in found["sections"]} >= {"spec.acme_audit", "steps[].acme_note"}


def test_plugins(desk):
    desk.write("plugins/bad.py", "import nothing_of_that_name\n")
    desk.write(
        "plugins/half.py", KINDS.replace("return [Delay, Silent]", "yield Delay\n    raise RuntimeError('half')")
    )
    found = {item["dist"]: item for item in desk.json("plugins", "--json")["plugins"]}
    assert found["tuvl-cli"]["state"] == "ready"
    assert found["tuvl-cli"]["hooks"] == ["tuvl_cli_commands"]
    assert found["plugins/bad.py"]["state"] == "failed"
    assert "nothing_of_that_name" in found["plugins/bad.py"]["error"]
    assert found["plugins/bad.py"]["remedy"]
    assert found["plugins/bad.py"]["load_ms"] > 0
    assert "half" in found["plugins/half.py"]["error"]  # only collecting what it brings shows that
    done = desk("plugins")
    assert done.returncode == 0
    left_out = done.stdout.partition("Left out:")[2]
    assert "plugins/bad.py: failed\n    cause:  ModuleNotFoundError" in left_out
    assert "rename it to _bad.py" in left_out
    assert "2 left out" in left_out
    assert desk("--strict-plugins", "plugins").returncode == 1


def test_kind_level_twins(desk):
    for name in ("one", "two"):
        desk.write(f"plugins/{name}.py", KINDS)
    found = {item["dist"]: item for item in desk.json("plugins", "--json")["plugins"]}
    states = {found["plugins/one.py"]["state"], found["plugins/two.py"]["state"]}
    problems = desk.json("plugins", "--json")["problems"]
    assert states != {"ready"} or problems
    said = desk("plugins")
    assert "plugins/one.py" in said.stdout + said.stderr
    assert "acme.Delay" in said.stdout + said.stderr


def test_hooks(desk):
    names = {item["dist"] for item in desk.json("plugins", "--json", "--hook", "tuvl_cli_commands")["plugins"]}
    assert names >= {"tuvl-cli", "tuvl-kinds-mcp"}
    assert desk("plugins", "--hook", "cli_commands").returncode == 0


def test_config(desk):
    desk.write("tuvl.toml", "[agent]\npause_max_s = 7\ntool_timeout_s = -1\n")
    desk.write(".env", "TUVL_FUNCTIONAL_THREADS=3\n")
    desk.environ["TUVL_PLUGINS_BLOCK"] = "acme-a, acme-b"
    found = desk.json("config", "--json")
    rows = {item["name"]: item for item in found["settings"]}
    assert (rows["agent.pause_max_s"]["value"], rows["agent.pause_max_s"]["source"]) == (7.0, "tuvl.toml")
    assert rows["functional.threads"]["value"] == 3
    assert rows["plugins.block"]["value"] == ["acme-a", "acme-b"]
    assert rows["plugins.block"]["source"] == "environment TUVL_PLUGINS_BLOCK"
    assert rows["default_kind"] == {
        "name": "default_kind", "value": "Functional", "source": "default",
        "help": "The kind of a step that names none.",
    }  # fmt: skip
    assert [item["code"] for item in found["problems"]] == ["TUVL-S050"]
    done = desk("config")
    assert done.returncode == 0
    assert "tuvl.toml:3:1: error TUVL-S050" in done.stderr
    assert "acme-a, acme-b" in done.stdout


def test_rule(desk):
    text = desk("rule", "TUVL-W014").stdout
    assert text.startswith("TUVL-W014: a route to a step that does not exist\n")
    assert "exit code 3" in text
    assert "## Fires\n\n```yaml\nkind: Workflow\n" in text and "## Fixed\n" in text
    row = desk.json("rule", "tuvl-w014", "--json")
    assert row.pop("page").startswith("# TUVL-W014: ")
    assert row == {
        "code": "TUVL-W014", "severity": "error", "class": "structure",
        "title": "a route to a step that does not exist",
    }  # fmt: skip
    rules = {item["code"] for item in desk.json("rule", "--json")["rules"]}
    # One of each room of the kernel, and one of a plugin.
    assert {"TUVL-Y001", "TUVL-S001", "TUVL-S020", "TUVL-S050", "TUVL-P001", "TUVL-W001", "TUVL-A001"} <= rules


def test_new_project(desk):
    done = desk("new", "project", "hello")
    assert done.returncode == 0
    assert desk("validate", "-C", "hello", "--strict").returncode == 0
    assert desk("run", "greet", "-C", "hello").stdout == "Hello, world!\n"
    assert desk("run", "greet", "-C", "hello", "--input", '{"name": "Ada", "loud": true}').stdout == "HELLO, ADA!\n"
    assert desk("run", "greet", "-C", "hello", "--input", '{"nam": "Ada"}').returncode == 2
    for name in ("README.md", "tuvl.toml", ".gitignore"):
        assert (desk.root / "hello" / name).read_text()
    config = {item["name"]: item for item in desk.json("config", "-C", "hello", "--json")["settings"]}
    assert config["agent.tool_timeout_s"]["source"] == "tuvl.toml"


def test_a_name_that_a_shell_would_split_is_quoted(desk):
    assert "\n  cd 'a b'\n" in desk("new", "project", "a b").stdout


def test_new_project_spoils_nothing(desk):
    desk.write("full/notes.txt", "mine")
    desk.write("file", "mine")
    for name in ("full", "file"):
        done = desk("new", "project", name)
        assert done.returncode == 2
        assert "choose another name" in done.stderr
    assert sorted(path.name for path in (desk.root / "full").iterdir()) == ["notes.txt"]
    with open("/dev/full" if Path("/dev/full").exists() else os.devnull, "w") as full:
        desk.start("new", "project", "unseen", stdout=full).communicate(timeout=60)
    assert desk("validate", "-C", "unseen").stdout.startswith("1 file, no errors")
    (desk.root / "empty").mkdir()
    assert desk("new", "project", "empty").returncode == 0
    assert desk("new", "projct", "x").returncode == 2


def test_version_and_help(desk):
    assert desk("--version").stdout.startswith("tuvl, version 3.")
    for name in ("run", "validate", "kinds", "plugins", "config", "rule", "new"):
        assert f"\n  {name} " in desk("--help").stdout
        assert desk(name, "--help").returncode == 0
