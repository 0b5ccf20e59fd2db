"""`tuvl validate` on a real terminal, and the same words where there is none."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import termios
from typing import Any

import pytest

STYLES = re.compile(r"\x1b\[[0-9;]*m")
BAD = """\
kind: Workflow
metadata: { name: bad }
spec:
  steps:
\t- { id: first }
"""
WORSE = """\
kind: Workflow
metadata: { name: worse }
spec:
  output: never
  steps:
    - { id: "[red]größe", kind: Router, description: "注文 :smile: [bold]", rutes: { default: END } }
    - { id: b, kind: Router, condition: "ok", routes: { "true": END } }
"""


@pytest.fixture
def bad(desk: Any) -> Any:
    desk.write("bad.yaml", BAD)
    desk.write("worse.yaml", WORSE)
    return desk


def seen(desk: Any, *arguments: str, columns: int = 250, **environ: str) -> tuple[int, str]:
    """Run `tuvl` with a terminal for stdout alone, and read what that shows."""
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    desk.environ.update({"TERM": "xterm-256color", "NO_COLOR": "", **environ})
    process = desk.start(*arguments, stdout=terminal)
    os.close(terminal)
    shown = b""
    while True:
        try:
            part = os.read(controller, 65536)
        except OSError:  # Linux says so at the end
            break
        if not part:
            break
        shown += part
    os.close(controller)
    stderr = process.communicate(timeout=60)[1]
    assert stderr == ""
    return process.returncode, shown.decode().replace("\r\n", "\n")


def test_a_terminal_shows_the_same_words_in_colours(bad: Any):
    plain = bad("validate")
    code, shown = seen(bad, "validate")
    assert code == plain.returncode == 1
    assert "\x1b" not in plain.stdout
    assert re.search(r"\x1b\[1;31merror\x1b\[0m\x1b\[31m TUVL-S001", shown)
    assert "\x1b[1;31m^\x1b[0m" in shown and "\x1b[1;32m  hint: \x1b[0m" in shown
    # Rich puts blanks in a tab's place, as many as the terminal would have.
    assert STYLES.sub("", shown).expandtabs() == plain.stdout.expandtabs()
    last = shown.splitlines()[-1]
    assert re.search(r"\x1b\[1;31m\d errors\x1b\[0m", last), last


def test_no_fault_is_green(bad: Any):
    (bad.root / "bad.yaml").unlink()
    (bad.root / "worse.yaml").unlink()
    assert seen(bad, "validate") == (0, "0 files, \x1b[1;32mno errors, no warnings\x1b[0m\n")


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=["NO_COLOR", "TERM=dumb"])
def test_whoever_wants_no_colours_gets_none(bad: Any, environ: dict[str, str]):
    plain = bad("validate").stdout
    assert seen(bad, "validate", **environ) == (1, plain)


def test_programs_get_what_they_get_elsewhere(bad: Any):
    for form in ("json", "sarif", "github"):
        assert seen(bad, "validate", "--format", form) == (1, bad("validate", "--format", form).stdout)


def test_a_narrow_terminal_shows_a_part_of_the_line(bad: Any):
    code, shown = seen(bad, "validate", columns=60)
    assert code == 1
    lines = STYLES.sub("", shown).splitlines()
    source = next(number for number, line in enumerate(lines) if "rutes" in line and " | " in line)
    assert len(lines[source]) < 60 and " | …" in lines[source]
    wide = sum(char in "注文" for char in lines[source].partition("rutes")[0])
    assert lines[source + 1].index("^") == lines[source].index("rutes") + wide
