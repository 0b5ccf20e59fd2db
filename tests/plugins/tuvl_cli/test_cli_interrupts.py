"""Ctrl-C and SIGTERM end a run in time, whatever its steps do."""

from __future__ import annotations

import json
import signal
import subprocess
import time

import pytest


def started(desk, process) -> None:
    """Wait until the step is reached."""
    for _ in range(600):
        if (desk.root / "started").exists():
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    raise AssertionError("the step is never reached")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("runner", ["nap", "block", "executor", "stubborn"])
def test_cancel(desk, runner, number):
    desk.simple("ok")
    desk.workflow("w", {"id": "first", "runner": "ok"}, {"id": "second", "runner": runner})
    process = desk.start("run", "w", "--json")
    started(desk, process)
    process.send_signal(number)
    began = time.monotonic()
    stdout, stderr = process.communicate(timeout=20)
    assert process.returncode == 130
    assert time.monotonic() - began < 8
    outcome = json.loads(stdout)
    assert (outcome["status"], outcome["last_step"]) == ("cancelled", "second")
    assert [entry["step"] for entry in outcome["path"]] == ["first"]
    assert "w cancelled" in stderr
    assert "was at 'second'" in stderr
    assert "Traceback" not in stderr
    assert "destroyed" not in stderr


def test_events_end_with_the_run(desk):
    desk.simple("nap")
    process = desk.start("run", "nap", "--events")
    started(desk, process)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=20)
    events = [json.loads(line) for line in stdout.splitlines()]
    assert process.returncode == 130
    assert (events[-1]["type"], events[-1]["status"]) == ("run", "cancelled")
    assert "Traceback" not in stderr


def test_the_second_one_ends_it_at_once(desk):
    desk.simple("block_loop")
    process = desk.start("run", "block_loop")
    started(desk, process)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert process.poll() is None  # the step blocks the event loop, so nothing can end it
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=10)
    assert process.returncode == 130
    assert stdout == ""
    assert "once more ends it at once" in stderr
    assert "Traceback" not in stderr


def test_a_reader_that_does_not_read(desk):
    """Neither the run nor an interrupt waits for whoever should read the events."""
    desk.simple("nap")
    desk.workflow(
        "w",
        {"id": "a", "kind": "Router", "condition": "{{ n > 3000 }}", "routes": {"true": "c", "false": "b"}},
        {"id": "b", "runner": "count", "routes": {"default": "a"}},
        {"id": "c", "runner": "nap"},
        limits={"max_steps": 100_000},
    )
    desk.write(
        "nodes/count.py",
        "from tuvl_kinds_functional import node\n"
        "@node('count')\nasync def count(ctx):\n    return {'n': ctx['n'] + 1}\n",
    )
    process = desk.start("run", "w", "--events", "--input", '{"n": 0}', stderr=subprocess.DEVNULL)
    started(desk, process)
    process.send_signal(signal.SIGINT)
    time.sleep(2)
    assert process.poll() is None  # what was told waits for its reader
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 130
    process.stdout.close()


def test_while_it_loads(desk):
    desk.write("plugins/slow.py", "import time\nopen('started', 'w').close()\ntime.sleep(600)\n")
    desk.simple("ok")
    process = desk.start("run", "ok", "--json")
    started(desk, process)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=20)
    assert (process.returncode, stdout) == (130, "")
    assert "interrupted" in stderr
    assert "Traceback" not in stderr


def test_before_the_first_step(desk):
    desk.write(
        "plugins/slow.py",
        "import asyncio\nfrom tuvl_core import hookimpl\n"
        "class Slow:\n"
        "    async def open(self):\n        open('started', 'w').close()\n        await asyncio.sleep(600)\n"
        "    async def close(self): ...\n"
        "@hookimpl\ndef tuvl_app_scope(app):\n    return Slow()\n",
    )
    desk.simple("ok")
    process = desk.start("run", "ok", "--json")
    started(desk, process)
    process.send_signal(signal.SIGTERM)
    stdout, stderr = process.communicate(timeout=20)
    assert (process.returncode, stdout) == (130, "")
    assert "before its first step" in stderr
    assert "Traceback" not in stderr
