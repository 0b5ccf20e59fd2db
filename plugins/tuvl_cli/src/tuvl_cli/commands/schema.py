"""`tuvl schema`: what may be written in a project's files, as JSON Schema, for editors."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tuvl_cli.options import as_json, load_plugins, project_options, warn_of_plugins
from tuvl_cli.output import echo, echo_json, warn

if TYPE_CHECKING:
    from tuvl_core import Plugins

__all__ = ["command"]


@click.command("schema")
@click.option("--kind", metavar="KIND", help="Only this kind of step or document.")
@click.option("--install", is_flag=True, help="Write it into the project, and set VS Code up to use it.")
@project_options
@as_json
def command(kind: str | None, install: bool, directory: Path, as_json: bool) -> None:
    """Print the JSON Schema of everything that may stand in a project's files."""
    if install and kind is not None:
        raise click.UsageError("--install writes the schema of every kind: leave --kind out")
    plugins = load_plugins(directory)
    schema = _schema(plugins, directory, kind)
    if install:
        _install(directory, schema, as_json)
    else:
        echo_json(schema)
    warn_of_plugins(plugins)


def _schema(plugins: Plugins, root: Path, kind: str | None) -> dict[str, Any]:
    from tuvl_core import Settings, did_you_mean, project_schema

    settings = Settings.load(root, os.environ, plugins.settings)
    try:
        return project_schema(plugins, default_kind=str(settings["default_kind"]), kind=kind)
    except KeyError:
        known = ["Workflow", *plugins.document_kinds, *plugins.kinds]
        hint = did_you_mean(str(kind), known) or "`tuvl kinds` lists what is installed"
        raise click.UsageError(f"nothing that is installed knows the kind {kind!r}; {hint}") from None


def _install(root: Path, schema: dict[str, Any], as_json: bool) -> None:
    from tuvl_cli.editors import MODELINE, SCHEMA_FILE, SETTINGS_FILE, install, settings_lines

    done = install(root, schema)
    if as_json:
        echo_json({"schema": SCHEMA_FILE, "settings": SETTINGS_FILE, "settings_written": done, "modeline": MODELINE})
    else:
        echo(f"wrote {SCHEMA_FILE}")
        if done:
            echo(f"wrote {SETTINGS_FILE}: VS Code's YAML extension (redhat.vscode-yaml) uses the schema")
        echo(f"other editors: begin a file with this, and `../` for each folder it lies below\n{MODELINE}")
    if not done:
        warn(f"{SETTINGS_FILE} holds comments or is no JSON, and is left as it is; add to it: {settings_lines()}")
        click.get_current_context().exit(1)
