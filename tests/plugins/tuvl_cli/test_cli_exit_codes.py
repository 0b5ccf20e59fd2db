"""C-1: exit codes are a contract, and machine output stands alone on stdout."""

from __future__ import annotations

import json

import pytest

AGENT_WARNING = {"kind": "AutonomousAgent", "agent": {"model": "a/b", "prompt": "x"}}


@pytest.mark.parametrize(
    ("runner", "code", "status", "error"),
    [
        ("ok", 0, "completed", None),
        ("boom", 1, "stopped", "ValueError"),
        ("abort", 1, "stopped", "aborted"),
        ("maybe", 1, "failed", "UnroutedSignalError"),
    ],
)
def test_how_a_run_ends(desk, runner, code, status, error):
    desk.simple(runner)
    done = desk("run", runner, "--json")
    outcome = json.loads(done.stdout)
    assert done.returncode == code
    assert outcome["status"] == status
    assert (outcome["error"] or {}).get("type") == error
    assert status in done.stderr


def test_a_limit_is_a_failure(desk):
    back = {"true": "again", "false": "END"}
    step = {"id": "again", "kind": "Router", "condition": {"field": "y", "operator": "is_empty"}, "routes": back}
    desk.workflow("ring", step, limits={"max_steps": 5})
    done = desk("run", "ring", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["type"] == "RunLimitError"


def test_a_routed_error_is_no_failure(desk):
    desk.simple()
    desk.workflow("caught", {"id": "a", "runner": "boom", "routes": {"error": "END"}})
    assert desk("run", "caught").returncode == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["run"],
        ["run", "nothing_like_it"],
        ["run", "ok", "--jsn"],
        ["run", "ok", "--json", "--events"],
        ["run", "ok", "-C", "nowhere"],
        ["run", "ok", "--as", ""],
        ["validate", "--format", "xml"],
        ["validate", "-C", "nowhere"],
        ["validate", "ok.yaml"],
        ["no_such_command"],
        ["plugins", "--hook", "nothing"],
        ["rule", "TUVL-X999"],
        ["--nope"],
    ],
)
def test_wrong_use(desk, arguments):
    desk.simple("ok")
    done = desk(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("{given: 1}", "no JSON"),
        ('{"given": 1e999}', "the number 1e999 is out of reach"),
        ('{"given": [-1e400]}', "out of reach"),
        ('{"given": NaN}', "NaN"),
        ('{"given": 1, "given": 2}', "twice"),
        ("", "empty"),
        ("[1]", "object"),
        ('{"_run_id": 1}', "_run_id"),
        ('{"given": "much"}', "given"),
        ("@nowhere.json", "nowhere.json"),
        ("@.", "cannot be read"),
        ("[" * 100_000, "nested"),
        ("9" * 5000, "--input"),
    ],
)
def test_bad_input(desk, given, said):
    desk.simple()
    desk.workflow("ok", {"id": "a", "runner": "ok"}, input={"properties": {"given": {"type": "integer"}}})
    done = desk("run", "ok", "--input", given)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_input_from_everywhere(desk):
    desk.simple("echo")
    desk.write("in.json", '\ufeff{"given": "from a file"}')
    for arguments, stdin, expected in (
        (["--input", '{"given": "as text"}'], None, "as text"),
        (["--input", "@in.json"], None, "from a file"),
        (["--input", "-"], '{"given": "from stdin"}', "from stdin"),
        ([], None, None),
    ):
        done = desk("run", "echo", "--json", *arguments, stdin=stdin)
        assert json.loads(done.stdout)["result"] == expected


def test_input_that_is_no_text(desk):
    desk.simple("echo")
    (desk.root / "in.json").write_bytes(b'{"given": "\xff"}')
    done = desk("run", "echo", "--input", "@in.json")
    assert done.returncode == 2
    assert "UTF-8" in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        "kind: Workflow\nmetadata: { name: bad }\nspec: [",
        "kind: Workflow\nmetadata: { name: bad }\nspec: { steps: [{ id: a, runner: ok, rutes: {} }] }",
        "kind: Workflow\nmetadata: { name: bad }\nspec: { steps: [{ id: a, kind: Nothing }] }",
        "kind: Workflow\nmetadata: { name: bad }\nspec: { steps: [{ id: a, runner: ok, routes: { default: b } }] }",
    ],
)
def test_structure_errors_refuse_a_run(desk, text):
    desk.simple("ok")
    desk.write("bad.yaml", text)
    done = desk("run", "bad")
    assert (done.returncode, done.stdout) == (3, "")
    assert "bad.yaml:" in done.stderr
    assert desk("validate").returncode == 1
    assert desk("run", "ok").returncode == 0  # another workflow of the project does not care


def test_denied(desk):
    desk.simple()
    desk.workflow("ok", {"id": "a", "runner": "ok"}, metadata={"required_scope": "desk:run"})
    assert desk("run", "ok").returncode == 0
    denied = desk("run", "ok", "--as", "ann", "--scope", "other")
    assert (denied.returncode, denied.stdout) == (4, "")
    assert "desk:run" in denied.stderr
    assert desk("run", "ok", "--scope", "other").returncode == 4
    assert desk("run", "ok", "--as", "ann", "--scope", "other", "--scope", "desk:run").returncode == 0
    assert desk("run", "ok", "--as", "ann", "--scope", "other desk:run").returncode == 0


def test_groups(desk):
    desk.simple()
    desk.workflow("ok", {"id": "a", "runner": "ok"}, metadata={"required_group": "desk team"})
    assert desk("run", "ok", "--as", "ann").returncode == 4
    assert desk("run", "ok", "--as", "ann", "--group", "other").returncode == 4
    assert desk("run", "ok", "--as", "ann", "--group", "other", "--group", "desk team").returncode == 0
    assert desk("run", "ok", "--group", "other").returncode == 0  # the local user may do everything


def test_validate(desk):
    desk.simple("ok")
    assert desk("validate").returncode == 0
    assert desk("validate", "--strict").returncode == 0
    desk.write("tuvl.toml", "[nobodys]\nkey = 1\n")
    warned = desk("validate")
    assert warned.returncode == 0
    assert "TUVL-S052" in warned.stdout
    assert desk("validate", "--strict").returncode == 1
    desk.write("broken.yaml", "kind: [")
    assert desk("validate").returncode == 1


def test_infos_never_count(desk):
    desk.write(
        "plugins/mine.py",
        "from tuvl_core import Code, Diagnostic, Validator, hookimpl\n"
        "NOTE = Code(code='ACME-1', severity='info', klass='flow', title='a note')\n"
        "@hookimpl\n"
        "def tuvl_validators():\n"
        "    return [Validator(codes=[NOTE], check=lambda plan: [Diagnostic.of(NOTE, 'noted')])]\n",
    )
    desk.simple("ok")
    done = desk("validate", "--strict", "--notes")
    assert done.returncode == 0
    assert "info ACME-1: noted" in done.stdout
    assert "ACME-1" in desk("rule", "acme-1").stdout


def test_did_you_mean(desk):
    desk.simple("ok")
    assert "`tuvl validate`" in desk("valdate").stderr
    assert "--format" in desk("validate", "--formt", "json").stderr
    assert "did you mean `ok`?" in desk("run", "okk").stderr
    assert "did you mean `TUVL-W014`?" in desk("rule", "TUVL-W0144").stderr
    assert "tuvl_step_kinds" in desk("plugins", "--hook", "tuvl_step_kind").stderr


def test_flow_errors_do_not_refuse_a_run(desk):
    desk.simple("ok")
    desk.write("tuvl.toml", "[agent]\ntool_timout_s = 3\n")
    assert desk("validate").returncode == 1
    done = desk("run", "ok")
    assert done.returncode == 0
    assert "did you mean `agent.tool_timeout_s`?" in done.stderr


def test_a_setting_that_reading_depends_on(desk):
    desk.simple("ok")
    desk.write("tuvl.toml", "default_kind = 3\n")
    assert desk("run", "ok").returncode == 3
    done = desk("validate")
    assert done.returncode == 1
    assert "tuvl.toml:1:1" in done.stdout
    assert "default_kind" in desk("config").stdout


def test_a_missing_required_plugin(desk):
    desk.simple("ok")
    desk.write("tuvl.toml", '[plugins]\nrequire = ["acme-audit>=2"]\n')
    done = desk("run", "ok")
    assert done.returncode == 3
    assert "acme-audit" in done.stderr
    assert desk("validate").returncode == 1
