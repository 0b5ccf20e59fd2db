"""`tuvl mcp`, `tuvl lock` and `tuvl run`, as a person uses them."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from processes import none_left

from tuvl_cli import output
from tuvl_cli.main import _run
from tuvl_core import App, Plugins, load_project

TUVL = str(Path(sys.executable).with_name("tuvl"))
DEEP = json.dumps({"result": {"content": [{"type": "text", "text": "[" * 480 + "]" * 480}]}})
FAULTS = str(Path(__file__).with_name("fault_server.py"))


class Done:
    """What a command did in this process."""

    def __init__(self):
        self.returncode, self.out, self.err = None, io.StringIO(), io.StringIO()

    @property
    def stdout(self):
        return self.out.getvalue()

    @property
    def stderr(self):
        return self.err.getvalue()


class Desk:
    """A project with the server `faults`, and the command run in it."""

    def __init__(self, root, mark, patch):
        self.root, self.mark, self.patch = root, mark, patch
        self.environ = {**os.environ, "NO_COLOR": "1"}
        self.server()

    def server(self, *flags, name="faults", **more):
        spec = {"transport": "stdio", "command": sys.executable, "args": [FAULTS, *flags, self.mark], **more}
        self.write(f"{name}.yaml", json.dumps({"kind": "MCPServer", "metadata": {"name": name}, "spec": spec}))

    def step(self, tool="echo", server="faults", **mcp):
        step = {
            "id": "call",
            "kind": "MCP",
            "mcp": {"server": server, "tool": tool, **mcp},
            "routes": {"default": "END"},
        }
        body = {"kind": "Workflow", "metadata": {"name": "w"}, "spec": {"output": "call_result", "steps": [step]}}
        self.write("w.yaml", json.dumps(body))

    def write(self, path, text):
        (self.root / path).write_text(text)

    def __call__(self, *arguments, code=0):
        done = subprocess.run(
            [TUVL, *arguments], cwd=self.root, env=self.environ, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr + done.stdout
        return done

    def here(self, *arguments, code=0):
        """Do the same in this process, which takes a tenth of the time."""
        self.patch.chdir(self.root)
        self.patch.setattr(output, "_own", None)
        done = Done()
        with contextlib.redirect_stdout(done.out), contextlib.redirect_stderr(done.err):
            done.returncode = _run(list(arguments))
        self.patch.setattr(output, "_own", None)
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr + done.stdout
        return done

    def outcome(self):
        """Run the workflow in this process."""

        async def go():
            async with App(load_project(self.root, plugins=Plugins.load(root=self.root))) as app:
                return await app.run("w")

        return asyncio.run(go())

    def locked(self):
        return json.loads((self.root / "tuvl.lock").read_text())


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A project; no server may be left when a command is over."""
    mark = f"--mark={tmp_path}"
    yield Desk(tmp_path, mark, monkeypatch)
    assert none_left(mark)


def test_list_tools(desk):
    lines = desk.here("mcp", "list-tools", "faults").stdout.splitlines()
    assert "echo(text, n?, mode?, deep?)  Give back what was sent." in lines
    found = json.loads(desk.here("mcp", "list-tools", "faults", "--json").stdout)
    assert found["server"] == "faults"
    [echo] = [tool for tool in found["tools"] if tool["name"] == "echo"]
    assert echo["schema"]["required"] == ["text"]


def test_call(desk):
    done = desk("mcp", "call", "faults", "echo", "--arguments", '{"text": "grüße", "n": 3}')
    assert json.loads(done.stdout) == {"got": {"text": "grüße", "n": 3}}
    assert done.stderr == ""
    desk.write("given.json", '{"text": "from a file"}')
    done = desk.here("mcp", "call", "faults", "echo", "--arguments", "@given.json")
    assert json.loads(done.stdout) == {"got": {"text": "from a file"}}
    assert desk.here("mcp", "call", "faults", "stray").stdout == "fine\n"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["list-tools", "fault"], 2, "did you mean `faults`?"),
        (["call", "faults", "eco"], 2, "did you mean `echo`?"),
        (["call", "faults", "echo", "--arguments", "{"], 2, "no JSON"),
        (["call", "faults", "echo", "--arguments", "[]"], 2, "JSON object"),
        (["call", "faults", "echo", "--arguments", '{"x": 1e400}'], 2, "out of reach"),
        (["call", "faults", "echo", "--arguments", '{"x": NaN}'], 2, "NaN"),
        (["call", "faults", "echo", "--arguments", '{"x": 1, "x": 2}'], 2, "twice"),
        (["call", "faults", "echo", "--arguments", "[" * 100_000], 2, "too deeply"),
        (["call", "faults", "echo", "--arguments", '{"x": %s}' % ("[" * 300 + "]" * 300)], 2, "too deeply"),
        (["call", "faults", "echo", "--timeout", "nan"], 2, "nan"),
        (["call", "faults", "echo", "--timeout", "inf"], 2, "inf"),
        (["call", "faults", "say", "--arguments", DEEP], 1, "too deeply"),
        (["call", "faults", "echo", "--arguments", "@nowhere.json"], 2, "No such file"),
        (["call", "faults", "die", "--arguments", '{"code": 4}'], 1, "code 4"),
        (["call", "faults", "refuse"], 1, "-32601"),
        (["call", "faults", "sleep", "--arguments", '{"seconds": 60}', "--timeout", "0.5"], 1, "no answer"),
        (["call", "faults", "big", "--arguments", '{"n": 3, "failed": true}'], 1, "yyy"),
        (["list-tools", "bad"], 3, "needs `command`"),
        (["list-tools", "typo"], 3, "transport"),
        (["list-tools", "gone"], 1, "no program"),
        (["list-tools", "faults", "-C", "nowhere"], 2, "nowhere"),
    ],
)
def test_mistakes(desk, arguments, code, words):
    desk.write("bad.yaml", "kind: MCPServer\nmetadata: { name: bad }\nspec: { transport: stdio }\n")
    desk.write("typo.yaml", "kind: MCPServer\nmetadata: { name: typo }\nspec: { transport: stdoi }\n")
    desk.write("gone.yaml", "kind: MCPServer\nmetadata: { name: gone }\nspec: { transport: stdio, command: no-such }\n")
    assert words in desk.here("mcp", *arguments, code=code).stderr


def test_what_a_terminal_would_obey_is_shown_instead(desk):
    said = "a\x07b\x1b[2J\x9bc\r\n\td"

    def call(result):
        return desk.here("mcp", "call", "faults", "say", "--arguments", json.dumps({"result": result}))

    text = [{"type": "text", "text": said}]
    assert call({"content": text}).stdout == "a\ufffdb\ufffd[2J\ufffdc\r\n\td\n"
    done = call({"content": [], "structuredContent": {"x": said, "y\x7f": 1}})
    assert json.loads(done.stdout) == {"x": said, "y\x7f": 1}
    assert "\\u001b" in done.stdout and "\\u009b" in done.stdout and "\\u007f" in done.stdout
    desk.server("--describe=\x1b[Jred\x07\x9b")
    assert "say()  Say \ufffd[Jred\ufffd\ufffd." in desk.here("mcp", "list-tools", "faults").stdout


def test_secrets_stay_out_of_results(desk):
    desk.server("--token=ARGSECRET99", env={"KEY": "ENVSECRET77"})
    given = json.dumps({"result": {"content": [], "structuredContent": {"ENVSECRET77": "is --token=ARGSECRET99"}}})
    done = desk.here("mcp", "call", "faults", "say", "--arguments", given)
    assert json.loads(done.stdout) == {"***": "is --token=***"}


def test_lock_writes_what_is_used_and_nothing_else(desk):
    desk.step()
    desk.write("tuvl.lock", '{"version": 1, "acme": {"kept": true}, "mcp": {"servers": {"old": {"tools": {}}}}}')
    assert "wrote tuvl.lock: acme, mcp" in desk.here("lock").stdout
    first = (desk.root / "tuvl.lock").read_text()
    found = desk.locked()
    assert found["acme"] == {"kept": True}
    assert found["version"] == 1
    assert list(found["mcp"]["servers"]) == ["faults"]
    assert list(found["mcp"]["servers"]["faults"]["tools"]) == ["echo"]
    tool = found["mcp"]["servers"]["faults"]["tools"]["echo"]
    assert tool["description"] == "Give back what was sent." and tool["schema"]["required"] == ["text"]
    assert "is up to date" in desk.here("lock").stdout
    assert (desk.root / "tuvl.lock").read_text() == first
    assert [path.name for path in desk.root.iterdir() if "lock" in path.name] == ["tuvl.lock"]


def test_lock_of_a_project_without_anything_to_lock(desk):
    desk.write(
        "w.yaml", "kind: Workflow\nmetadata: { name: w }\nspec: { steps: [{ id: r, kind: Response, mapping: {} }] }\n"
    )
    assert "nothing to lock" in desk.here("lock").stdout
    assert desk.locked() == {"version": 1}


@pytest.mark.parametrize(
    ("tool", "flags", "code", "words"),
    [
        ("ecko", (), 1, "did you mean `echo`?"),
        ("echo", ("--exit-at-start", "3"), 1, "code 3"),
    ],
)
def test_lock_that_cannot_be_made_leaves_the_file_alone(desk, tool, flags, code, words):
    desk.server(*flags)
    desk.step(tool)
    desk.write("tuvl.lock", '{"version": 1}')
    assert words in desk.here("lock", code=code).stderr
    assert desk.locked() == {"version": 1}


@pytest.mark.parametrize(("text", "words"), [("{", "no JSON"), ("[]", "not what"), ('{"version": 9}', "upgrade")])
def test_lock_files_that_cannot_be_used(desk, text, words):
    desk.step()
    desk.write("tuvl.lock", text)
    assert words in desk.here("lock", code=1).stderr
    assert (desk.root / "tuvl.lock").read_text() == text


def test_lock_of_a_broken_project(desk):
    desk.step(server="fault")
    assert "TUVL-T001" in desk.here("lock", code=3).stderr


def test_a_run_refuses_a_tool_that_has_changed(desk):
    desk.step(arguments={"text": "a"})
    desk.here("lock")
    assert desk.outcome().path[-1].signal == "default"
    lock = (desk.root / "tuvl.lock").read_text()
    desk.write("tuvl.lock", lock.replace('"minimum": 0', '"minimum": 1').replace("Give back", "Gave back"))
    done = desk("run", "w", "--json", code=1)
    found = json.loads(done.stdout)
    assert found["status"] == "stopped"
    assert "its description and its schema (n) changed since `tuvl lock`" in done.stderr
    desk.patch.setenv("TUVL_MCP_ALLOW_CHANGED_TOOLS", "1")
    assert desk.outcome().path[-1].signal == "default"
    desk.patch.delenv("TUVL_MCP_ALLOW_CHANGED_TOOLS")
    desk.here("lock")
    assert desk.outcome().path[-1].signal == "default"


def test_a_tool_that_changes_while_the_server_runs(desk):
    steps = [
        {"id": "one", "kind": "MCP", "mcp": {"server": "faults", "tool": "echo", "arguments": {"text": "a"}}},
        {"id": "two", "kind": "MCP", "mcp": {"server": "faults", "tool": "change"}},
        {"id": "three", "kind": "MCP", "mcp": {"server": "faults", "tool": "echo", "arguments": {"text": "a"}}},
    ]
    desk.write("w.yaml", json.dumps({"kind": "Workflow", "metadata": {"name": "w"}, "spec": {"steps": steps}}))
    desk.here("lock")
    result = desk.outcome()
    assert [entry.signal for entry in result.path] == ["default", "default", "error"]
    assert "its description and its schema (n) changed" in result.error.message


def test_stray_output_is_one_warning(desk):
    desk.server("--banner")
    desk.step("stray")
    done = desk("run", "w")
    assert done.stdout == "fine\n"
    [line] = [line for line in done.stderr.splitlines() if "stray" in line]
    assert "warning" in line and "faults" in line and "Welcome" in line


def under_way(desk, *flags):
    """A run whose call is under way."""
    desk.server(*flags)
    begun = desk.root / "begun"
    desk.step("sleep", arguments={"seconds": 600, "touch": str(begun)}, timeout=600)
    process = subprocess.Popen(
        [TUVL, "run", "w"], cwd=desk.root, env=desk.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    due = time.monotonic() + 20
    while not begun.exists() and time.monotonic() < due:
        time.sleep(0.02)
    assert begun.exists() and process.poll() is None
    return process


@pytest.mark.parametrize(
    ("number", "flags"),
    [(signal.SIGTERM, []), (signal.SIGINT, ["--stubborn", "--fork"])],
)
def test_interrupting_a_run_leaves_nothing(desk, number, flags):
    process = under_way(desk, *flags)
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130, said
    assert "Traceback" not in said and "never retrieved" not in said and "Error in" not in said
    assert none_left(desk.mark)
    assert none_left("sleep", "977")


@pytest.mark.parametrize("kill", ["twice", "for good"])
def test_a_process_with_no_time_to_tidy_up_leaves_nothing(desk, kill):
    process = under_way(desk, "--stubborn", "--fork")
    if kill == "twice":
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
    else:
        process.kill()
    process.communicate(timeout=30)
    assert none_left(desk.mark, within=6)
    assert none_left("sleep", "977", within=6)


def test_secrets_stay_out_of_the_debug_log(desk):
    """Case O-2."""
    desk.server(env={"TOKEN": "${SECRET_OF_TEST}"})
    desk.environ["SECRET_OF_TEST"] = "s3cr3t-4"
    desk.step("die")
    desk.patch.setenv("SECRET_OF_TEST", "s3cr3t-4")
    for done in (desk("--debug", "run", "w", "--events", code=1), desk.here("mcp", "call", "faults", "die", code=1)):
        assert "s3cr3t" not in done.stdout + done.stderr
        assert "faults" in done.stderr and "***" in done.stderr
    assert "s3cr3t" not in desk.here("validate", "--format", "json").stdout
