"""What `tuvl run` prints, and where."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys

import pytest

KEYS = ["run_id", "workflow", "status", "signal", "last_step", "path", "result", "context", "error", "usage"]


def test_json(desk):
    desk.simple("ok")
    done = desk("run", "ok", "--json")
    assert done.stdout.count("\n") == 1
    outcome = json.loads(done.stdout)
    assert list(outcome) == KEYS
    assert outcome["result"] == {"a": [1, 2]}
    assert outcome["path"][0] == {
        "step": "do_ok",
        "visit": 1,
        "signal": "default",
        "duration_ms": pytest.approx(0, abs=1000),
    }
    assert outcome["usage"] == {"tokens": 0, "llm_calls": 0, "llm_attempts": 0, "tool_calls": 0}


def test_events(desk):
    desk.simple("ok")
    done = desk("run", "ok", "--events")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["type"] for event in events] == ["step", "step", "run"]
    assert [event["seq"] for event in events] == [1, 2, 3]
    assert events[1]["snapshot"] == {"x": {"a": [1, 2]}}
    assert (events[-1]["status"], events[-1]["result"]) == ("completed", {"a": [1, 2]})


def test_every_event_reaches_a_file(desk):
    desk.workflow(
        "ring",
        {"id": "a", "kind": "Router", "condition": "{{ true }}", "routes": {"true": "a", "false": "END"}},
        limits={"max_steps": 5000},
    )
    done = desk("run", "ring", "--events")
    assert done.returncode == 1
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["seq"] for event in events] == list(range(1, 10_002))
    assert events[-1]["type"] == "run"


def test_results_for_people(desk):
    desk.simple("ok", "text", "boom")
    desk.workflow("nothing", {"id": "a", "runner": "ok"}, output="absent")
    assert desk("run", "text").stdout == "plain text\n"
    assert json.loads(desk("run", "ok").stdout) == {"a": [1, 2]}
    assert desk("run", "nothing").stdout == ""
    failed = desk("run", "boom")
    assert failed.stdout == ""
    assert "boom stopped" in failed.stderr
    assert "ValueError: it went wrong" in failed.stderr
    assert "do_boom" in failed.stderr


def test_text_of_all_kinds_survives(desk):
    desk.simple("echo")
    given = {"given": "ä \u2028 \x85 🫖 \r\n line"}
    done = desk("run", "echo", "--json", "--input", json.dumps(given))
    assert json.loads(done.stdout)["result"] == given["given"]
    desk.environ["PYTHONIOENCODING"] = "ascii"
    done = desk("run", "echo", "--json", "--input", json.dumps(given))
    assert json.loads(done.stdout)["result"] == given["given"]
    assert desk("run", "echo", "--input", '{"given": "ä"}').stdout == "\\xe4\n"


HOSTILE = "a\x1b]0;title\x07b\x1b[2Jc\x9bd\re\tf\ng\r\nh"


def test_data_does_not_rule_the_terminal(desk):
    desk.simple("echo")
    given = json.dumps({"given": HOSTILE})
    plain = desk("run", "echo", "--input", given)
    assert plain.stdout == "a\ufffd]0;title\ufffdb\ufffd[2Jc\ufffdd\ufffde\tf\ng\nh\n"  # read with universal line ends
    inner = desk("run", "echo", "--input", json.dumps({"given": {"x": HOSTILE}}))
    assert json.loads(inner.stdout) == {"x": HOSTILE}
    assert not any(char in inner.stdout for char in "\x1b\x07\x9b")
    assert json.loads(desk("run", "echo", "--json", "--input", given).stdout)["result"] == HOSTILE


def test_no_error_and_no_signal_rules_the_terminal(desk):
    raised = "raise ValueError('no\\x1b[2J\\x9b')"
    desk.write(
        "nodes/hostile.py",
        "from tuvl_kinds_functional import node\n"
        f"@node('bad')\ndef bad(ctx):\n    {raised}\n"
        "@node('out')\ndef out(ctx):\n    return 'left\\x1b[2J\\x9b'\n",
    )
    desk.workflow("bad", {"id": "a", "runner": "bad"})
    desk.workflow("out", {"id": "a", "runner": "out"})
    for arguments in (["bad"], ["bad", "--debug"], ["out"], ["no\x1b[2Jsuch\x9b"]):
        done = desk("run", *arguments)
        assert done.returncode != 0
        assert not any(char in done.stderr + done.stdout for char in "\x1b\x9b"), done.stderr
    desk.write("bad.yaml", 'kind: "No\\e[2J\\x9b"\nmetadata: { name: x }\n')
    assert not any(char in desk("validate").stdout for char in "\x1b\x9b")


@pytest.mark.parametrize("form", ["--json", "--events", None])
def test_stdout_is_the_commands_own(desk, form):
    desk.write("plugins/loud.py", "import os\nprint('plugin noise')\nos.write(1, b'plugin descriptor noise\\n')\n")
    desk.simple("noisy")
    done = desk("run", "noisy", *([form] if form else []))
    assert done.returncode == 0
    assert "noise" not in done.stdout
    for noise in ("plugin", "python", "raw", "descriptor", "child"):
        assert f"{noise} noise" in done.stderr
    for line in done.stdout.splitlines():
        json.loads(line)


@pytest.mark.parametrize("form", ["--json", "--events", None])
def test_a_result_without_a_wire_form(desk, form):
    desk.simple("unwritable")
    done = desk("run", "unwritable", *([form] if form else []))
    assert done.returncode == 1
    assert "error: result: a value of type object has no wire form" in done.stderr
    if form == "--events":
        last = json.loads(done.stdout.splitlines()[-1])
        assert last["error"]["type"] == "CodecError"
    elif form == "--json":
        told = json.loads(done.stdout)
        assert (told["status"], told["result"]) == ("failed", None)
        assert "result: a value of type object" in told["error"]["message"]
    else:
        assert done.stdout == ""


def test_plain_progress(desk):
    desk.simple("ok")
    desk.workflow("two", {"id": "first", "runner": "ok"}, {"id": "second", "kind": "Response", "source": "x"})
    lines = desk("run", "two").stderr.splitlines()
    assert lines[1].startswith("first   Functional  default")
    assert lines[2].startswith("second  Response    default")
    assert "two completed in" in lines[3]
    assert "\x1b" not in "".join(lines)


LOOP = '''
from tuvl_core import StepKind, StepResult, hookimpl


class Looping(StepKind):
    """Tells what an agent would tell."""

    name = "acme.Looping"
    progress_channel = "agent_progress"

    async def run(self, call):
        loop = call.open_loop(max_iterations=6, token_budget=12000)
        call.progress("iteration", {"iteration": 1, "tool_calls": 1, "tokens_used": 812})
        call.progress("tool_call", {"iteration": 1, "tool": "look\\x1b[31mup", "signal": "default", "repeats": 3})
        loop.close()
        call.progress("outcome", {"iteration": 1, "signal": "resolved"})
        call.usage.add(tokens=812, llm_calls=1, llm_attempts=2, tool_calls=1)
        return StepResult(writes={"x": "done"})


@hookimpl
def tuvl_step_kinds():
    return [Looping]
'''


def test_turns_and_calls(desk):
    desk.write("plugins/looping.py", LOOP)
    desk.workflow("work", {"id": "ticket", "kind": "acme.Looping"})
    done = desk("run", "work")
    assert done.stdout == "done\n"
    assert done.stderr.splitlines()[:3] == [
        "ticket  acme.Looping",
        "  turn 1/6: 1 tool call, 812/12000 tokens",
        "  look\ufffd[31mup: default, 3 times in a row",
    ]
    assert "812 tokens, 1 model call, 1 tool call, 2 attempts" in done.stderr


def in_terminal(desk, *arguments: str, stdout: int | None = None) -> tuple[int, str]:
    """Run `tuvl` with a terminal for stderr (and stdout, unless given)."""
    controller, terminal = pty.openpty()
    desk.environ["TERM"] = "xterm"
    process = desk.start(*arguments, stdout=terminal if stdout is None else stdout, stderr=terminal)
    os.close(terminal)
    shown = b""
    while True:
        try:
            part = os.read(controller, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(controller)
    return process.wait(30), shown.decode()


def test_why_a_tool_failed(desk):
    failing = """loop.failure = "ValueError: no such\\x1border"
        call.progress("tool_call", {"iteration": 1, "tool": "find", "signal": "error"})
        loop.failure = None
        loop.close()"""
    desk.write("plugins/looping.py", LOOP.replace("loop.close()", failing))
    desk.workflow("work", {"id": "ticket", "kind": "acme.Looping"})
    lines = desk("run", "work").stderr.splitlines()
    assert lines[2:5] == [
        "  look\ufffd[31mup: default, 3 times in a row",
        "  find: error",
        "    ValueError: no such\ufffdorder",
    ]


def test_live_progress(desk):
    desk.write("plugins/looping.py", LOOP)
    desk.workflow("work", {"id": "ticket", "kind": "acme.Looping"})
    code, shown = in_terminal(desk, "run", "work")
    assert code == 0
    assert "turn 1/6: 1 tool call, 812/12000 tokens" in shown
    assert "✓" in shown
    assert "\x1b[31mup" not in shown
    assert shown.rstrip().endswith("done")
    assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h") == 1  # the cursor comes back


def test_events_and_progress_share_no_terminal(desk):
    desk.simple("ok")
    code, shown = in_terminal(desk, "run", "ok", "--events")
    assert code == 0
    lines = [line for line in shown.splitlines() if line.startswith("{")]
    assert [json.loads(line)["type"] for line in lines] == ["step", "step", "run"]
    assert "✓" not in shown


def test_warnings_are_short_lines(desk):
    desk.simple("boom")
    done = desk("run", "boom")
    warnings = [line for line in done.stderr.splitlines() if line.startswith("warning: ")]
    assert len(warnings) == 1
    assert "run.stopped" in warnings[0]
    assert "do_boom" in warnings[0]


def test_debug_shows_more(desk):
    desk.write(
        "plugins/bad.py",
        "from tuvl_core import StepKind, hookimpl\n"
        "class Bad(StepKind):\n"
        "    name = 'acme.Bad'\n"
        "    async def run(self, call):\n"
        "        raise RuntimeError('api_key=s3cr3t-1 was refused')\n"
        "@hookimpl\n"
        "def tuvl_step_kinds():\n"
        "    return [Bad]\n",
    )
    desk.workflow("bad", {"id": "a", "kind": "acme.Bad"})
    quiet = desk("run", "bad")
    assert quiet.returncode == 1
    assert "acme.Bad" in quiet.stderr
    for arguments in (["--debug", "run", "bad"], ["run", "bad", "--debug"]):
        loud = desk(*arguments)
        assert loud.returncode == 1
        assert "Traceback" in loud.stderr
        assert "s3cr3t-1" not in loud.stderr + quiet.stderr + quiet.stdout


def test_warnings_of_libraries_are_theirs(desk):
    desk.simple()
    desk.write(
        "nodes/warns.py",
        "import warnings\nfrom tuvl_kinds_functional import node\n"
        "@node('warns')\ndef warns(ctx):\n"
        "    warnings.warn('mine')\n"
        "    warnings.warn_explicit('theirs', UserWarning, '/x/site-packages/lib.py', 3)\n",
    )
    desk.workflow("warns", {"id": "a", "runner": "warns"})
    done = desk("run", "warns")
    assert "UserWarning: mine" in done.stderr
    assert "theirs" not in done.stderr
    assert "theirs" in desk("run", "warns", "--debug").stderr


def test_a_reader_that_stops(desk):
    desk.simple("ok")
    desk.workflow(
        "ring",
        {"id": "a", "kind": "Router", "condition": "{{ true }}", "routes": {"true": "a", "false": "END"}},
        limits={"max_steps": 100_000},
    )
    desk.simple("echo", "ok")
    desk.write("big.json", json.dumps({"given": "x" * 500_000}))
    big = "run echo --input @big.json"
    for command in ("run ring --events", "kinds --json", "run ok --json", "--help", big, f"{big} --json"):
        done = subprocess.run(
            ["bash", "-c", f"set -o pipefail; tuvl {command} | head -c 1"],
            cwd=desk.root,
            env={**desk.env(), "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        assert "BrokenPipe" not in done.stderr
        assert done.returncode in (0, 130)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("arguments", [["kinds"], ["run", "ok"], ["run", "ok", "--json"], ["run", "ok", "--events"]])
def test_a_full_disk(desk, arguments):
    desk.simple("ok")
    with open("/dev/full", "w") as full:
        process = desk.start(*arguments, stdout=full)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "No space left on device" in stderr
    assert "Traceback" not in stderr


def test_without_stdout(desk):
    desk.simple("ok")
    done = subprocess.run(
        ["bash", "-c", f"'{os.path.dirname(sys.executable)}/tuvl' run ok --json >&-"],
        cwd=desk.root,
        env=desk.env(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_as_a_module(desk):
    desk.simple("ok")
    done = subprocess.run(
        [sys.executable, "-m", "tuvl_cli", "run", "ok", "-C", str(desk.root), "--json"],
        env=desk.env(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert json.loads(done.stdout)["status"] == "completed"
