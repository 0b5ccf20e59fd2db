"""Runs every code block of the README and the docs.

The blocks of one page share one folder and run in order:

- a block with `title="path"` is written there as that file;
- `console`: each line after `$ ` runs in a shell in that folder and must exit with 0 (or with N, where
  the line ends in `# exit N`); the lines below it are its output, in which `…` stands for anything;
- `python` without a title runs as a script in that folder;
- `yaml` without a title is a document, or a list of steps, that must validate in that folder;
- `text`, `mermaid` and `ini` blocks only show something;
- `needs="postgresql"`: where that service is missing, the page ends there with a reason, in CI as a failure.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent, indent
from typing import NamedTuple

import pytest
from services import missing, required

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted(ROOT.glob("*/README.md")),
    *sorted(ROOT.glob("plugins/*/README.md")),
    *sorted(ROOT.glob("docs/**/*.md")),
]
SHOWN_ONLY = {"text", "mermaid", "ini", "toml"}
FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^\n`]+)\n(?P<body>.*?)^(?P=indent)```\s*$", re.M | re.S)
HEAD = "kind: Workflow\nmetadata: {{ name: shown_{line} }}\nspec:\n  steps:\n"


class Block(NamedTuple):
    """One fenced block."""

    line: int
    language: str
    title: str | None
    body: str
    needs: str | None = None


def blocks(page: Path) -> list[Block]:
    """Every fenced block of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        language, _, rest = match["info"].strip().partition(" ")
        title, needs = (re.search(rf'{key}="([^"]+)"', rest) for key in ("title", "needs"))
        line = text.count("\n", 0, match.start()) + 1
        found.append(
            Block(line, language, title[1] if title else None, dedent(match["body"]), needs[1] if needs else None)
        )
    return found


def test_every_page_is_found():
    assert len(PAGES) > 10


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_blocks_of(page: Path, tmp_path: Path):
    for block in blocks(page):
        where = f"{page.relative_to(ROOT)}:{block.line}"
        if block.needs is not None and (reason := missing(block.needs)) is not None:
            (pytest.fail if required() else pytest.skip)(f"{where}: {reason}")
        if block.title is not None:
            target = tmp_path / block.title
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.body, encoding="utf-8")
        elif block.language in ("console", "bash", "sh"):
            for command, expected in commands(block.body):
                check_command(command, expected, tmp_path, where)
        elif block.language == "python":
            script = tmp_path / f".block_{block.line}.py"
            script.write_text(block.body, encoding="utf-8")
            done = run([sys.executable, str(script)], tmp_path)
            assert done.returncode == 0, f"{where}:\n{done.stdout}{done.stderr}"
        elif block.language == "yaml":
            check_yaml(block, tmp_path, where)
        else:
            assert block.language in SHOWN_ONLY, f"{where}: no test for {block.language!r} blocks"


def commands(body: str) -> list[tuple[str, str]]:
    """Split a console block into commands and their expected output."""
    found: list[tuple[str, str]] = []
    for line in body.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], ""))
        elif found:
            command, output = found[-1]
            found[-1] = (command, f"{output}{line}\n")
    return found


def check_command(command: str, expected: str, folder: Path, where: str) -> None:
    """Run a command as a reader would, and compare what it prints."""
    if command.startswith("make "):
        return  # building the environment inside the tests would build it for ever
    match = re.search(r"#\s*exit (\d+)\s*$", command)
    code = int(match[1]) if match else 0
    done = run(["bash", "-c", command], folder)
    shown = done.stdout + done.stderr
    assert done.returncode == code, f"{where}: `{command}` exited {done.returncode}:\n{shown}"
    if expected.strip():
        pattern = "".join(".*?" if part == "…" else re.escape(part) for part in re.split("(…)", expected.strip()))
        assert re.search(pattern, shown, re.S), f"{where}: `{command}` printed:\n{shown}"


def check_yaml(block: Block, folder: Path, where: str) -> None:
    """Validate a document or a list of steps together with the page's files."""
    body = block.body
    if re.match(r"\s*- ", body):
        body = HEAD.format(line=block.line) + indent(body, "    ")
    shown = folder / f"shown_{block.line}.yaml"
    shown.write_text(body, encoding="utf-8")
    done = run(["tuvl", "validate", "-C", str(folder)], folder)
    assert done.returncode == 0, f"{where}:\n{done.stdout}{done.stderr}"


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command with the test environment's own `tuvl` first on the path."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "PYTHONWARNINGS": "error::DeprecationWarning:tuvl_core"}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False)
