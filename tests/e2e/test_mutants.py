"""A clean project is spoilt in every systematic way: what the engine would fail on is reported, what means the same is not.

The truth comes from the engine. A mutant that is not reported is compiled and run on every input, in every way that
the untouched project goes; one that fails on all of them has slipped through, unless an information points at it, or
`UNSEEN` says why no plan can show it.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from mutants import FILES, INPUTS, SCRIPTS, WORKFLOW, Mutant, mutants
from refund_desk import EXAMPLE

from tuvl_core import (
    App,
    Diagnostic,
    Plugins,
    ProjectError,
    StepResult,
    TuvlError,
    check_project,
    load_project,
    to_yaml,
)
from tuvl_core.documents import read_text

PLUGINS = Plugins.load(environ={})
ALL = "TUVL_ALL_MUTANTS" in os.environ
EVERY, EVERY_OF_EXAMPLE = (1, 1) if ALL else (3, 6)
"""Of how many mutants one is tried: all of them take minutes."""
pytestmark = pytest.mark.timeout(900 if ALL else 120)
UNSEEN = (
    # What a record, an answer or a node's result holds is not declared: only its key is.
    r"renamed spec\.steps\.10\.mapping\.order:",
    # Steps that go round are left where a value says so, and these values never do.
    r"to \w+ spec\.steps\.10\.routes\.default: .*max_steps",
)
"""What no plan can show, and why."""


def document(text: str) -> Any:
    [found], _ = read_text(text, "x.yaml")
    return found.data


class Policy:
    """Answers for the MCP server, and leaves everything else alone."""

    async def handle(self, effect: Any, proceed: Any) -> Any:
        if effect.kind not in ("step", "tool") or effect.step.kind_name != "MCP":
            return await proceed()
        key = effect.step.config.response.output_key or f"{effect.step.id}_result"
        return StepResult(writes={key: {"allowed": True}})


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One HTTP request."""
    try:
        await reader.readuntil(b"\r\n\r\n")
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: 12\r\n\r\n"
        writer.write(head + b'{"ok": true}')
        await writer.drain()
    except asyncio.IncompleteReadError:
        pass
    finally:
        writer.close()


class Shop:
    """The project, and what the engine makes of it."""

    def __init__(self, root: Path, api: str) -> None:
        self.root = root
        self.environ = {"SHOP_DB": str(root / "shop.db"), "SHOP_API": api}
        for path, text in FILES.items():
            self.write(path, text)
        self.write("llms/scripts.yaml", SCRIPTS[0])

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def found(self) -> list[Diagnostic]:
        return check_project(load_project(self.root, plugins=PLUGINS, environ=self.environ))

    async def failure(self) -> str | None:
        """Why every run fails; None where one completes."""
        why = ""
        for script in SCRIPTS:
            self.write("llms/scripts.yaml", script)
            for given in INPUTS:
                async with App(load_project(self.root, plugins=PLUGINS, environ=self.environ)) as app:
                    try:
                        result = await app.run("shop", given, handlers=[Policy()])
                    except ProjectError as error:
                        return str(error)
                    except TuvlError as error:
                        why = str(error)
                        continue
                if result.status == "completed":
                    return None
                why = str(result.error)
        return why

    async def slips(self, path: str, spoilt: list[Mutant]) -> list[str]:
        """Mutants of a file that always fail, and of which nothing is said."""
        slipped = []
        for mutant in spoilt:
            self.write(path, json.dumps(mutant.data))
            if not points_at_something(self.found()) and (why := await self.failure()) is not None:
                slipped.append(f"{mutant.name}: {why}")
        self.write(path, FILES[path])
        return slipped


def points_at_something(found: list[Diagnostic]) -> bool:
    """Whether anything is said that is not said of the untouched project."""
    return any(item.severity != "info" or "`noted`" not in item.message for item in found)


@pytest_asyncio.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    yield Shop(tmp_path, f"http://127.0.0.1:{port}")
    server.close()
    await server.wait_closed()


def groups() -> list[tuple[str, str, list[Mutant]]]:
    """Mutants by file and step, each group small enough for one test."""
    found: dict[tuple[str, str], list[Mutant]] = {}
    for path, text in FILES.items():
        if path.endswith(".yaml"):
            for mutant in mutants(document(text)):
                part = mutant.path[2] if mutant.path[:2] == ("spec", "steps") and len(mutant.path) > 2 else "outside"
                found.setdefault((path, str(part)), []).append(mutant)
    return [(path, part, spoilt[::EVERY]) for (path, part), spoilt in found.items()]


GROUPS = groups()


def test_there_are_enough_of_them():
    assert sum(len(spoilt) for _, _, spoilt in GROUPS) >= 500


async def test_the_untouched_project_is_clean_and_completes(shop: Shop):
    assert not points_at_something(shop.found())
    assert await shop.failure() is None


@pytest.mark.parametrize(("path", "part", "spoilt"), GROUPS, ids=[f"{path} {part}" for path, part, _ in GROUPS])
async def test_what_always_fails_is_reported(shop: Shop, path: str, part: str, spoilt: list[Mutant]):
    slipped = await shop.slips(path, spoilt)
    slipped = [line for line in slipped if not any(re.match(pattern, line) for pattern in UNSEEN)]
    assert not slipped, "\n".join(slipped)


# --- what means the same --------------------------------------------------------------------


def reversed_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: reversed_keys(inner) for key, inner in reversed(value.items())}
    return [reversed_keys(item) for item in value] if isinstance(value, list) else value


def same() -> dict[str, str]:
    data = document(WORKFLOW)
    found = {
        "JSON": json.dumps(data),
        "JSON over lines": json.dumps(data, indent=3),
        "other quotes": WORKFLOW.replace('"', "'"),
        "keys backwards": json.dumps(reversed_keys(data)),
        "block style": to_yaml(data),
        "comments": re.sub(r"$", "  # so it is", WORKFLOW, flags=re.M),
        "blank lines": WORKFLOW.replace("\n", "\n\n"),
        "Windows": WORKFLOW.replace("\n", "\r\n"),
        "a mark before it": "\ufeff" + WORKFLOW,
        "document marks": f"---\n{WORKFLOW}...\n",
        "null keys": WORKFLOW.replace("    - id: done\n", "    - id: done\n      timeout: null\n"),
        "defaults": WORKFLOW.replace("{ max_steps: 30,", "{ max_steps: 30, timeout_s: null,"),
    }
    for id in ("classify", "gate", "fetch", "by_topic", "find", "weather", "policy", "save", "done", "apologise"):
        found[f"{id} under another name"] = re.sub(
            rf"((?:id|ref|default|error|timeout|parse_error|praise|solved|escalate|\"true\"|\"false\"|max_iterations"
            rf"|budget_exceeded|aborted): ){id}\b",
            rf"\g<1>{id}_2",
            WORKFLOW,
        )
    return found


@pytest.mark.parametrize("what", same())
async def test_what_means_the_same_is_not_reported(shop: Shop, what: str):
    before = [item.code for item in shop.found()]
    text = same()[what]
    assert text != WORKFLOW
    shop.write("workflows/shop.yaml", text)
    found = shop.found()
    assert [item.code for item in found] == before, "\n".join(map(str, found))
    assert await shop.failure() is None


# --- the example ----------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(path.relative_to(EXAMPLE).as_posix() for path in EXAMPLE.glob("*/*.yaml")))
def test_what_cannot_be_compiled_of_the_example_is_reported(tmp_path: Path, path: str):
    root = tmp_path / "desk"
    shutil.copytree(EXAMPLE, root, ignore=shutil.ignore_patterns(".tuvl", "__pycache__"))
    environ = {"SHOP_DB": str(tmp_path / "shop.db"), "PYTHON": sys.executable, "MODEL": "scripted/default"}
    texts = (EXAMPLE / path).read_text().split("\n---\n")
    silent, count = [], 0
    for number, text in enumerate(texts):
        for mutant in [*mutants(document(text))][::EVERY_OF_EXAMPLE]:
            count += 1
            rest = [*texts[:number], json.dumps(mutant.data), *texts[number + 1 :]]
            (root / path).write_text("\n---\n".join(rest))
            project = load_project(root, plugins=PLUGINS, environ=environ)
            if any(item.severity != "info" for item in check_project(project)):
                continue
            try:
                for workflow in ("refund_desk", "stock"):
                    if workflow in project.workflows:
                        App(project).plan(workflow)
            except ProjectError as error:
                silent.append(f"{mutant.name}: {error}")
    assert count
    assert not silent, "\n".join(silent)
