"""What starting a command imports: little for the help, nothing heavy for a look at a project."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"litellm", "httpx", "openai", "pydantic", "sqlalchemy"}
LATER = {"asyncio", "jinja2", "cattrs", "yaml", "structlog", "rich"}
SCRIPT = """
import atexit, sys
atexit.register(lambda: print("MODULES", *sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr))
from tuvl_cli.main import main
sys.argv = ["tuvl", *sys.argv[1:]]
main()
"""


def imported(desk, *arguments: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments],
        cwd=desk.root,
        env=desk.env(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.rpartition("MODULES ")[2].split())


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["--version"]])
def test_help_imports_little(desk, arguments):
    desk.simple("ok")
    assert not imported(desk, *arguments) & (HEAVY | LATER)


@pytest.mark.parametrize(
    "arguments", [["kinds"], ["kinds", "--json"], ["plugins"], ["validate"], ["config"], ["rule", "TUVL-W001"]]
)
def test_looking_imports_nothing_heavy(desk, arguments):
    desk.simple("ok")
    desk.write(
        "llms/default.yaml", "kind: AgentModel\nmetadata: { name: default }\nspec: { model: openai/gpt-4o-mini }\n"
    )
    desk.workflow("ask", {"id": "a", "kind": "Agent", "agent": {"model": "default", "prompt": "hello"}})
    assert not imported(desk, *arguments) & (HEAVY | {"rich", "structlog", "jinja2"})


def test_a_run_without_a_terminal_needs_no_rich(desk):
    desk.simple("ok")
    assert not imported(desk, "run", "ok") & (HEAVY | {"rich"})
