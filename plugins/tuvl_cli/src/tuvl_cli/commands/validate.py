"""`tuvl validate`: everything that can be known before anything runs."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tuvl_cli.options import load_plugins, project_options
from tuvl_cli.output import abandon

if TYPE_CHECKING:
    from tuvl_core import Diagnostic, Plugins

__all__ = ["command"]

FORMATS = ("text", "json", "sarif", "github")


@click.command("validate")
@project_options
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="How to print findings."
)
@click.option("--strict", is_flag=True, help="Count warnings as errors.")
@click.option("--notes", is_flag=True, help="Tell what is no fault too, such as values that only the input can bring.")
@click.pass_context
def command(context: click.Context, directory: Path, form: str, strict: bool, notes: bool) -> None:
    """Check every document of a project. Runs none of its workflows' code.

    Exit codes: 0 without errors; 1 with errors, or with warnings under --strict; 2 for a wrong use.
    """
    from tuvl_cli.diagnostics.forms import render

    plugins = load_plugins(directory)
    found, files = _check(directory, plugins)
    render(form, found, files, directory, plugins, notes=notes)
    refused = {"error", "warning"} if strict else {"error"}
    context.exit(1 if any(item.severity in refused and item.suppression is None for item in found) else 0)


def _check(root: Path, plugins: Plugins) -> tuple[list[Diagnostic], int]:
    from tuvl_core import Settings, SettingsError, check_project, load_project

    # What is read stays until the process ends: looking for garbage in it takes longer than everything else, and
    # taking it apart at the end would take a tenth of the time.
    gc.disable()
    try:
        project = load_project(root, plugins=plugins)
    except SettingsError:
        # A setting that reading the files depends on cannot be used: nothing else can be checked.
        settings = Settings.load(root, os.environ, plugins.settings)
        return [*settings.problems, *plugins.problems], 0
    abandon([project])
    return check_project(project, suppressed=True), project.files
