"""The page of each code: its first document fires the code, at the line that says so, and the second does not.

A page is `rules/CODE.md` in the package that owns the code. Blocks before `## Fires` belong to both documents. A block
without a title is `workflow.yaml`. The line of the finding has the code in a comment; where it cannot have one,
`at="N"` says which it is. `also="CODE"` names what cannot but be found as well. `plugin="NAME"` is a distribution
with that one module, `encoding` and `link` say what a text cannot show.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from installed import forget, install

from tuvl_core import Diagnostic, Plugins, all_codes, check_project, load_project, rule_page

ALL = Plugins.load(environ={})
CODES = all_codes(ALL)
FENCE = re.compile(r"^```(?P<info>[^\n`]+)\n(?P<body>.*?)^```$", re.M | re.S)


class Block(NamedTuple):
    title: str
    body: str
    attributes: dict[str, str]


def blocks(text: str) -> list[Block]:
    found = []
    for match in FENCE.finditer(text):
        attributes = dict(re.findall(r'(\w+)="([^"]*)"', match["info"]))
        found.append(Block(attributes.pop("title", "workflow.yaml"), match["body"], attributes))
    return found


def parts(code: str) -> tuple[list[Block], list[Block], list[Block]]:
    page = rule_page(ALL, code)
    assert page is not None, f"there is no page about {code}"
    setup, _, rest = page.partition("\n## Fires\n")
    fires, _, fixed = rest.partition("\n## Fixed\n")
    return blocks(setup), blocks(fires), blocks(fixed)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "site"
    folder.mkdir()
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))


def check(shown: list[Block], root: Path, site: Path) -> list[Diagnostic]:
    modules = []
    for block in shown:
        if name := block.attributes.get("plugin"):
            modules.append(install(site, name, block.body))
            continue
        path = root / block.title
        path.parent.mkdir(parents=True, exist_ok=True)
        if target := block.attributes.get("link"):
            path.symlink_to(target)
        else:
            path.write_text(block.body, encoding=block.attributes.get("encoding", "utf-8"))
    try:
        plugins = Plugins.load(root=root, environ={})
        return check_project(load_project(root, plugins=plugins, environ={}))
    finally:
        forget(*modules)


def places(shown: list[Block], code: str) -> set[tuple[str, int]]:
    """Where the page says that the findings are."""
    found = set()
    for block in shown:
        if "at" in block.attributes:
            found.add((block.title, int(block.attributes["at"])))
        for number, line in enumerate(block.body.splitlines(), 1):
            if re.search(rf"#.*\b{code}\b", line) and "plugin" not in block.attributes:
                found.add((block.title, number))
    return found


def counted(found: list[Diagnostic], code: str) -> list[Diagnostic]:
    """Information about other things is no part of what a page is about."""
    return [item for item in found if item.severity != "info" or item.code == code]


@pytest.mark.parametrize("code", CODES)
def test_fires(code: str, tmp_path: Path, site: Path):
    setup, fires, _ = parts(code)
    root = tmp_path / "project"
    root.mkdir()
    found = counted(check([*setup, *fires], root, site), code)
    also = {block.attributes["also"] for block in fires if "also" in block.attributes}
    told = "\n".join(map(str, found))
    assert {item.code for item in found} == {code} | also, told
    at = {(item.location.path, item.location.line) for item in found if item.code == code and item.location}
    assert at == places([*setup, *fires], code), told


@pytest.mark.parametrize("code", CODES)
def test_near_miss(code: str, tmp_path: Path, site: Path):
    setup, _, fixed = parts(code)
    root = tmp_path / "project"
    root.mkdir()
    found = counted(check([*setup, *fixed], root, site), code)
    assert not found, "\n".join(map(str, found))
