"""`tuvl config`: every setting, its value and where it comes from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tuvl_cli.options import as_json, load_plugins, project_options, warn_of_plugins
from tuvl_cli.output import echo, echo_json, warn

if TYPE_CHECKING:
    from tuvl_core import Plugins, Settings

__all__ = ["command"]


@click.command("config")
@project_options
@as_json
def command(directory: Path, as_json: bool) -> None:
    """List every setting: name, value, source, and what it does."""
    plugins = load_plugins(directory)
    settings = _settings(directory, plugins)
    problems = [*settings.problems, *plugins.problems]
    rows = settings.rows()
    if as_json:
        listed = [{**row._asdict(), "value": _plain(row.value)} for row in rows]
        echo_json({"settings": listed, "problems": [item.to_json() for item in problems]})
        return
    names = max((len(row.name) for row in rows), default=0)
    values = max((len(_shown(row.value)) for row in rows if len(_shown(row.value)) <= 40), default=0)
    sources = max((len(row.source) for row in rows), default=0)
    for row in rows:
        echo(f"{row.name:<{names}}  {_shown(row.value):<{values}}  {row.source:<{sources}}  {row.help}")
    for item in settings.problems:
        warn(str(item))
    warn_of_plugins(plugins)


def _settings(root: Path, plugins: Plugins) -> Settings:
    """The settings as a run would see them, the project's `.env` below the environment."""
    from tuvl_core import Settings, SettingsError, load_project

    try:
        return load_project(root, plugins=plugins).settings
    except SettingsError:
        return Settings.load(root, os.environ, plugins.settings)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "-"
    if isinstance(value, dict):
        return ", ".join(f"{key} = {item}" for key, item in value.items()) or "-"
    return str(value).lower() if isinstance(value, bool) else str(value)
