"""P-1: no plugin can stop the command; and commands that plugins bring."""

from __future__ import annotations

from pathlib import Path

import pytest

COMMAND = """
import click
from tuvl_cli import CommandSpec
from tuvl_core import hookimpl

@click.command()
@click.option("-C", "directory")
def hello(directory):
    click.echo("hello")

@hookimpl(optionalhook=True)
def tuvl_cli_commands():
    return [CommandSpec(name={name!r}, help="Say hello.", target=f"{{__name__}}:hello")]
"""


def install(desk, dist: str, code: str | None, requires: str = "tuvl-core>=3,<4") -> None:
    """Put a distribution where Python finds it, by hand: no installer, no index."""
    site = desk.root.parent / "site"
    info = site / f"{dist.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    module = dist.replace("-", "_")
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {dist}\nVersion: 1.0\nRequires-Dist: {requires}\n")
    (info / "entry_points.txt").write_text(f"[tuvl]\nmain = {module}\n")
    if code is not None:
        Path(site, f"{module}.py").write_text(code)
    desk.environ["PYTHONPATH"] = str(site)


BROKEN = {
    "import error": "import nothing_of_that_name",
    "exit": "print('noise')\nraise SystemExit(3)",
    "gone": None,
    "half": (
        "from tuvl_core import StepKind, hookimpl\n"
        "class Half(StepKind):\n    name = 'acme.Half'\n    async def run(self, call): ...\n"
        "@hookimpl\ndef tuvl_step_kinds():\n    yield Half\n    raise RuntimeError('half way')\n"
    ),
    "signature": "from tuvl_core import hookimpl\n@hookimpl\ndef tuvl_step_kinds(nothing): ...\n",
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_plugins(desk, case):
    desk.simple("ok")
    desk.workflow("needs", {"id": "a", "kind": "acme.Half"})
    install(desk, "acme-bad", BROKEN[case])
    for arguments in (["--help"], ["run", "ok", "--json"]):
        done = desk(*arguments)
        assert done.returncode == 0
        assert "noise" not in done.stdout
        warnings = [line for line in done.stderr.splitlines() if line.startswith("warning: ")]
        if arguments != ["--help"] or case != "half":  # the help asks no plugin for its kinds
            assert len(warnings) == 1
            assert "acme-bad 1.0 (entry point 'main') is left out, failed: " in warnings[0]
    found = desk.json("validate", "--format", "json", code=1)["diagnostics"]
    assert [item["plugin"] for item in found if item["code"] == "TUVL-P001"] == ["acme-bad 1.0"]
    unknown = next(item for item in found if item["code"] == "TUVL-W011")
    assert "acme-bad 1.0" in f"{unknown['message']} {unknown['hint']}"
    assert "acme-bad" in desk("run", "needs").stderr
    assert desk("run", "needs").returncode == 3
    strict = desk("--strict-plugins", "run", "ok")
    assert strict.returncode == 3
    assert "acme-bad 1.0" in strict.stderr
    assert desk("run", "ok", "--strict-plugins").returncode == 3
    desk.environ["TUVL_PLUGINS_BLOCK"] = "acme-bad"
    assert "warning: " not in desk("run", "ok").stderr


def test_commands_of_others(desk):
    install(desk, "acme-tools", COMMAND.format(name="hello"))
    assert "hello" in desk("--help").stdout
    assert desk("hello").stdout == "hello\n"
    assert "`tuvl hello`" in desk("helo").stderr


def test_commands_of_a_project(desk):
    desk.write("plugins/mine.py", COMMAND.format(name="greet-all"))
    assert desk("greet-all").stdout == "hello\n"
    (desk.root / "below").mkdir()
    elsewhere = type(desk)(desk.root / "below")
    assert elsewhere("greet-all").returncode == 2
    assert elsewhere("greet-all", "-C", "..").stdout == "hello\n"


@pytest.mark.parametrize(
    "body",
    ["raise RuntimeError('no')", "raise SystemExit(3)", "return [3]", "return 3", "return [None]"],
)
def test_a_hook_that_misbehaves(desk, body):
    install(desk, "acme-good", COMMAND.format(name="hello"))
    code = f"from tuvl_core import hookimpl\n@hookimpl(optionalhook=True)\ndef tuvl_cli_commands():\n    {body}\n"
    install(desk, "acme-bad", code)
    done = desk("--help")
    assert done.returncode == 0
    assert "hello" in done.stdout
    assert "acme-bad 1.0" in done.stderr
    assert desk("hello").stdout == "hello\n"
    assert desk("kinds").returncode == 0


def test_names_that_are_taken(desk):
    install(desk, "acme-run", COMMAND.format(name="run"))
    desk.simple("text")
    assert desk("run", "text").stdout == "plain text\n"
    assert "tuvl's own" in desk("--help").stderr
    install(desk, "acme-one", COMMAND.format(name="same"))
    install(desk, "acme-two", COMMAND.format(name="same"))
    done = desk("same")
    assert done.returncode == 2
    assert "acme-one 1.0 and acme-two 1.0 both bring the command 'same'" in done.stderr


def test_a_target_that_is_none(desk):
    install(desk, "acme-tools", COMMAND.format(name="hello").replace(":hello", ":helo"))
    assert desk("--help").returncode == 0
    done = desk("hello")
    assert done.returncode == 1
    assert "acme_tools:helo" in done.stderr
