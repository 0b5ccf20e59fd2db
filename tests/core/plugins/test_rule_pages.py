"""Whoever brings a code may bring a page about it: a file of the package, found wherever that is installed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from installed import forget, install

from tuvl_core import Plugins, all_codes, rule_page

PLUGIN = """
from tuvl_core import Code, Validator, hookimpl

CODE = Code(code="ACME-1", severity="error", klass="flow", title="found")

@hookimpl
def tuvl_validators():
    return [Validator(codes=[CODE], check=lambda plan: ())]
"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Path]:
    sys.path.insert(0, str(tmp_path))
    yield tmp_path
    sys.path.remove(str(tmp_path))
    forget("acme_rules")


def test_a_page_of_a_stranger(site: Path):
    install(site, "acme-rules", None)
    package = site / "acme_rules"
    (package / "rules").mkdir(parents=True)
    (package / "__init__.py").write_text(PLUGIN)
    (package / "rules" / "ACME-1.md").write_text("# ACME-1: found\n\nWhat it means.\n")
    plugins = Plugins.load(environ={})
    assert "ACME-1" in all_codes(plugins)
    assert rule_page(plugins, "ACME-1") == "# ACME-1: found\n\nWhat it means.\n"


def test_a_stranger_without_pages(site: Path):
    install(site, "acme-rules", PLUGIN)
    assert rule_page(Plugins.load(environ={}), "ACME-1") is None


@pytest.mark.parametrize("code", ["TUVL-Z999", "../rules/TUVL-W001", "", "\0"])
def test_no_code_at_all(code: str):
    plugins = Plugins.load(environ={})
    assert rule_page(plugins, code) is None or code not in all_codes(plugins)


def test_every_page_begins_with_its_code():
    plugins = Plugins.load(environ={})
    for name, code in all_codes(plugins).items():
        page = rule_page(plugins, name)
        assert page is not None and page.startswith(f"# {name}: {code.title} ({code.severity}, {code.klass})\n"), name
