"""`tuvl lock`: writes `tuvl.lock`, from sections that plugins contribute."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from tuvl_cli.options import load_project, project_options, warn_of_plugins
from tuvl_cli.output import echo, warn
from tuvl_core import LockSection, PluginError, to_wire

if TYPE_CHECKING:
    from tuvl_core import Plugins, Project

__all__ = ["command"]

FILE: Final = "tuvl.lock"
VERSION: Final = 1


@click.command("lock")
@project_options
def command(directory: Path) -> None:
    """Write tuvl.lock: what lies outside the project, such as the tools of its MCP servers.

    Sections of plugins that are not installed stay as they are.
    """
    project = load_project(directory)
    warn_of_plugins(project.plugins)
    path = directory / FILE
    before = _read(path)
    sections = _sections(project.plugins)
    found = asyncio.run(_collect(project, sections))
    after = {name: value for name, value in before.items() if name not in found}
    after.update({name: value for name, value in found.items() if value})
    after["version"] = VERSION
    text = json.dumps(after, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    if path.exists() and text == path.read_text(encoding="utf-8"):
        echo(f"{path} is up to date")
        return
    _write(path, text)
    names = ", ".join(name for name in sorted(after) if name != "version") or "nothing to lock"
    echo(f"wrote {path}: {names}")


def _read(path: Path) -> dict[str, Any]:
    """What the file holds, so that sections of others stay."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (ValueError, RecursionError) as error:
        raise click.ClickException(f"{path} is no JSON ({error}); remove it, then run `tuvl lock` again") from None
    if not isinstance(data, dict):
        raise click.ClickException(f"{path} is not what `tuvl lock` writes; remove it, then run `tuvl lock` again")
    version = data.get("version", VERSION)
    if version != VERSION:
        raise click.ClickException(f"{path} has version {version}, and this tuvl writes {VERSION}: upgrade tuvl")
    return data


def _sections(plugins: Plugins) -> dict[str, LockSection]:
    found: dict[str, LockSection] = {}
    owners: dict[str, str] = {}
    for candidate, section in _offered(plugins):
        if section.name in found:
            both = " and ".join(sorted({owners[section.name], candidate}))
            raise PluginError(f"{both} both own the section {section.name!r} of {FILE}; block one of them")
        found[section.name] = section
        owners[section.name] = candidate
    return {name: found[name] for name in sorted(found)}


def _offered(plugins: Plugins) -> Iterator[tuple[str, LockSection]]:
    for candidate, sections in plugins.call("tuvl_lock_sections"):
        for section in sections or ():
            if isinstance(section, LockSection) and section.name != "version":
                yield candidate.label, section
            else:
                warn(f"{candidate.label}: tuvl_lock_sections gives {section!r}, which is no LockSection; left out")


async def _collect(project: Project, sections: Mapping[str, LockSection]) -> dict[str, Any]:
    from tuvl_core import App

    async with App(project) as app:
        return {name: to_wire(await section.collect(app), name) for name, section in sections.items()}


def _write(path: Path, text: str) -> None:
    """Put the new file in the place of the old one at once: nobody ever reads half of it."""
    try:
        number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{FILE}.")
        try:
            with os.fdopen(number, "w", encoding="utf-8", newline="\n") as stream:
                stream.write(text)
            Path(name).chmod(0o644)
            Path(name).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror}") from error
