"""The command where things around it are broken: its stderr, its settings, odd files, values without an end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

NODES = """
import asyncio
import time
from pathlib import Path
from tuvl_kinds_functional import node

@node("one")
async def one(ctx):
    return {"out": 1}

@node("round")
async def round_(ctx):
    value = {}
    value["self"] = value
    return {"out": value, "kept": 1}

@node("deep")
async def deep(ctx):
    value = []
    for _ in range(5000):
        value = [value]
    return {"out": value, "kept": 1}

@node("group")
async def group(ctx):
    raise BaseExceptionGroup("several", [SystemExit(3)])

@node("blocks")
async def blocks(ctx):
    Path("began").touch()
    time.sleep(2)

@node("endless")
async def endless(ctx):
    while True:
        try:
            await asyncio.sleep(100)
        except BaseException:
            pass

@node("marks")
async def marks(ctx):
    Path("marked").touch()
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "nodes").mkdir()
    (tmp_path / "nodes" / "n.py").write_text(NODES)
    for name in ("one", "round", "deep", "group", "endless"):
        (tmp_path / f"{name}.yaml").write_text(
            f"kind: Workflow\nmetadata: {{ name: {name} }}\nspec: {{ output: out, steps: [{{ id: a, runner: {name} }}] }}\n"
        )
    (tmp_path / "slow.yaml").write_text(
        "kind: Workflow\nmetadata: { name: slow }\n"
        "spec: { steps: [{ id: a, runner: blocks }, { id: b, runner: marks }, { id: c, runner: marks }] }\n"
    )
    return tmp_path


def tuvl(root: Path, *arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tuvl_cli", *arguments]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return subprocess.run(command, cwd=root, text=True, check=False, timeout=30, **streams)  # type: ignore[call-overload]


@pytest.mark.parametrize("form", ["--json", "--events"])
def test_a_stderr_that_is_full_costs_nothing_but_its_lines(root: Path, form: str) -> None:
    with open("/dev/full", "w") as full:
        done = tuvl(root, "run", "one", form, stderr=full)
    assert done.returncode == 0
    last = json.loads(done.stdout.splitlines()[-1])
    assert (last["status"], last["result"]) == ("completed", 1)


@pytest.mark.parametrize("name", ["round", "deep"])
def test_a_value_without_an_end_fails_the_run_and_is_named(root: Path, name: str) -> None:
    told = json.loads(tuvl(root, "run", name, "--json").stdout)
    assert (told["status"], told["error"]["type"], told["result"]) == ("failed", "CodecError", None)
    assert "out" in told["error"]["message"]
    assert told["context"] == {"kept": 1}
    last = json.loads(tuvl(root, "run", name, "--events").stdout.splitlines()[-1])
    assert (last["type"], last["status"]) == ("run", "failed")


def test_a_group_of_exceptions_is_the_steps_error(root: Path) -> None:
    done = tuvl(root, "run", "group", "--json")
    assert json.loads(done.stdout)["status"] == "stopped"
    assert "Traceback" not in done.stderr


def test_a_step_that_swallows_everything_does_not_keep_the_process(root: Path) -> None:
    text = (root / "endless.yaml").read_text().replace("spec: {", "spec: { limits: { timeout_s: 0.3 },")
    (root / "endless.yaml").write_text(text)
    done = tuvl(root, "run", "endless", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["type"] == "RunLimitError"


def test_after_ctrl_c_no_step_begins(root: Path) -> None:
    command = [sys.executable, "-m", "tuvl_cli", "run", "slow", "--json"]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not (root / "began").exists():
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=20)
    assert process.returncode == 130
    assert json.loads(out)["status"] == "cancelled"
    assert not (root / "marked").exists()


@pytest.mark.parametrize(
    "text", ['[plugins]\nblock = "tuvl-kinds-functional"\n', "[plugins]\nblock = 3\n", "[agent]\ntool_timeout_s = -1\n"]
)
def test_nothing_runs_on_settings_that_cannot_be_used(root: Path, text: str) -> None:
    (root / "tuvl.toml").write_text(text)
    done = tuvl(root, "run", "one", "--json")
    assert (done.returncode, done.stdout) == (3, "")
    assert "tuvl.toml:2" in done.stderr


@pytest.mark.parametrize("name", ["f.yaml", ".env", "tuvl.toml"])
def test_a_pipe_among_the_files_is_not_waited_for(root: Path, name: str) -> None:
    os.mkfifo(root / name)
    done = tuvl(root, "validate")
    assert done.returncode == 1
    assert "regular file" in done.stdout + done.stderr


def test_a_link_that_leads_to_itself_costs_no_other_node(root: Path) -> None:
    (root / "nodes" / "loop.py").symlink_to("loop.py")
    assert tuvl(root, "run", "one").returncode == 0


def test_a_workflow_beside_what_cannot_be_read_does_not_run(root: Path) -> None:
    with (root / "one.yaml").open("a") as file:
        file.write("---\nkind: [\n")
    done = tuvl(root, "run", "one")
    assert done.returncode == 3
    assert "one.yaml:" in done.stderr
    assert tuvl(root, "run", "group").returncode == 1


def test_a_workflow_whose_head_is_broken_is_not_said_to_be_missing(root: Path) -> None:
    (root / "v.yaml").write_text("kind: Workflow\nmetadata: v\nspec: { steps: [] }\n")
    done = tuvl(root, "run", "v")
    assert done.returncode == 3
    assert "v.yaml:2" in done.stderr
