"""A project in a temporary folder, and the real `tuvl` command run in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

TUVL = str(Path(sys.executable).with_name("tuvl"))
NODES = """
import asyncio, os, subprocess, sys, time
from pathlib import Path
from tuvl_core import StepError
from tuvl_kinds_functional import node

print("printed at import")


@node("ok")
def ok(ctx):
    return {"x": {"a": [1, 2]}}


@node("text")
def text(ctx):
    return {"x": "plain text"}


@node("echo")
def echo(ctx):
    return {"x": dict(ctx).get("given")}


@node("boom")
def boom(ctx):
    raise ValueError("it went wrong")


@node("abort")
def abort(ctx):
    return "aborted"


@node("maybe")
def maybe(ctx):
    return "maybe"


@node("unwritable")
def unwritable(ctx):
    return {"x": object()}


@node("noisy")
def noisy(ctx):
    print("python noise")
    sys.__stdout__.write("raw noise\\n")
    os.write(1, b"descriptor noise\\n")
    subprocess.run(["echo", "child noise"], check=True)
    return {"x": 1}


@node("nap")
async def nap(ctx):
    Path("started").touch()
    await asyncio.sleep(600)


@node("block")
def block(ctx):
    Path("started").touch()
    time.sleep(600)


@node("executor")
async def executor(ctx):
    Path("started").touch()
    await asyncio.to_thread(time.sleep, 600)


@node("block_loop")
async def block_loop(ctx):
    Path("started").touch()
    time.sleep(600)


@node("stubborn")
async def stubborn(ctx):
    Path("started").touch()
    while True:
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            pass
"""


class Desk:
    """A project and the command."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.environ: dict[str, str] = {}

    def write(self, path: str, text: str) -> Path:
        """Write a file of the project."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def workflow(
        self, name: str, *steps: Mapping[str, Any], metadata: Mapping[str, Any] | None = None, **spec: Any
    ) -> None:
        """Write a workflow; JSON is YAML."""
        body = {
            "kind": "Workflow",
            "metadata": {"name": name, **(metadata or {})},
            "spec": {"output": "x", **spec, "steps": list(steps)},
        }
        self.write(f"{name}.yaml", json.dumps(body, indent=1))

    def simple(self, *runners: str) -> None:
        """Write nodes, and a workflow of one step for each of these."""
        self.write("nodes/all.py", NODES)
        for runner in runners:
            self.workflow(runner, {"id": f"do_{runner}", "runner": runner})

    def env(self) -> dict[str, str]:
        """The environment that commands get."""
        own = {key: value for key, value in os.environ.items() if not key.startswith("TUVL_")}
        own.pop("PYTHONWARNINGS", None)
        return {**own, **self.environ}

    def __call__(self, *arguments: str, stdin: str | None = None, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run `tuvl` to its end, in the project."""
        done = subprocess.run(
            [TUVL, *arguments],
            cwd=self.root,
            env=self.env(),
            input=stdin,
            stdin=None if stdin is not None else subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=60,
            check=False,
            **options,
        )
        assert "Traceback" not in done.stderr or "--debug" in arguments, done.stderr
        return done

    def json(self, *arguments: str, code: int = 0) -> Any:
        """Run `tuvl` and parse what it prints."""
        done = self(*arguments)
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout)

    def start(self, *arguments: str, **options: Any) -> subprocess.Popen[str]:
        """Start `tuvl` and let it run, in a process group of its own."""
        return subprocess.Popen(
            [TUVL, *arguments],
            cwd=self.root,
            env=self.env(),
            stdin=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
        )


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """An empty project."""
    root = tmp_path / "desk"
    root.mkdir()
    return Desk(root)
