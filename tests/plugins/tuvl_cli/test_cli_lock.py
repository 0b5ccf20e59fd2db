"""`tuvl lock`: sections of plugins, and files that cannot be used."""

from __future__ import annotations

import json

import pytest

SECTION = """
from tuvl_core import LockSection, TuvlError, hookimpl

async def collect(app):
    {body}

@hookimpl(optionalhook=True)
def tuvl_lock_sections():
    return {sections}
"""


def plugin(
    body="return {'workflows': sorted(app.project.workflows)}", sections='[LockSection(name="acme", collect=collect)]'
):
    return SECTION.format(body=body, sections=sections)


@pytest.fixture
def lock(desk):
    """A project with one workflow, and what its lock file holds."""
    desk.workflow("w", {"id": "r", "kind": "Response", "mapping": {}}, output=None)

    def read():
        return json.loads((desk.root / "tuvl.lock").read_text())

    return read


def test_sections_of_plugins(desk, lock):
    desk.write("plugins/mine.py", plugin())
    desk.write("tuvl.lock", '{"other": [1], "acme": {"old": 1}}')
    done = desk("lock")
    assert (done.returncode, done.stdout) == (0, "wrote tuvl.lock: acme, other\n")
    assert lock() == {"version": 1, "other": [1], "acme": {"workflows": ["w"]}}
    text = (desk.root / "tuvl.lock").read_text()
    assert text == json.dumps(lock(), indent=2, sort_keys=True) + "\n"
    assert desk("lock").stdout == "tuvl.lock is up to date\n"
    assert desk("lock", "-C", ".").returncode == 0


def test_a_section_with_nothing_in_it_is_left_out(desk, lock):
    desk.write("plugins/mine.py", plugin("return {}"))
    desk.write("tuvl.lock", '{"acme": {"old": 1}}')
    assert desk("lock").returncode == 0
    assert lock() == {"version": 1}


@pytest.mark.parametrize(
    ("code", "exit_code", "words"),
    [
        (plugin("raise TuvlError('nobody answers')"), 1, "nobody answers"),
        (plugin("return {'x': object()}"), 1, "acme"),
        (plugin(sections='[LockSection(name="acme", collect=collect)] * 2'), 3, "own the section 'acme'"),
        (plugin(sections="[3]"), 0, "no LockSection"),
        (plugin(sections='[LockSection(name="version", collect=collect)]'), 0, "no LockSection"),
        (plugin(sections="1 / 0"), 3, "ZeroDivisionError"),
    ],
)
def test_plugins_that_do_not_do(desk, lock, code, exit_code, words):
    desk.write("plugins/mine.py", code)
    desk.write("tuvl.lock", '{"version": 1, "acme": {"old": 1}}')
    done = desk("lock")
    assert done.returncode == exit_code, done.stderr
    assert words in done.stderr
    assert lock() == {"version": 1, "acme": {"old": 1}}


def test_a_folder_that_cannot_be_written(desk, lock, tmp_path):
    (desk.root / "tuvl.lock").mkdir()
    done = desk("lock")
    assert done.returncode == 1
    assert "tuvl.lock" in done.stderr
