"""Options and steps that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tuvl_cli.logs import log_everything
from tuvl_cli.output import claim_stdout, warn

if TYPE_CHECKING:
    from tuvl_core import Plugins, Project

__all__ = [
    "as_json",
    "global_flags",
    "hidden_flags",
    "load_plugins",
    "load_project",
    "project_options",
    "warn_of_plugins",
]

F = TypeVar("F", bound=Callable[..., Any])

STRICT_PLUGINS = "TUVL_PLUGINS_STRICT"


def project_options(command: F) -> F:
    """The option `-C DIR`, and the flags that may stand before or behind the command's name."""
    path = click.Path(exists=True, file_okay=False, path_type=Path)
    option = click.option(
        "-C", "directory", type=path, default=Path(), metavar="DIR", help="The project's directory; here by itself."
    )
    return option(hidden_flags(command))


def hidden_flags(command: F) -> F:
    """The flags of `tuvl` itself, understood behind a subcommand's name as well."""
    return global_flags(command, hidden=True)


def global_flags(command: F, *, hidden: bool = False) -> F:
    """The flags `--debug` and `--strict-plugins`."""
    strict = click.option(
        "--strict-plugins",
        is_flag=True,
        expose_value=False,
        hidden=hidden,
        callback=_set_strict,
        help="Make an error of every warning about a plugin.",
    )
    debug = click.option(
        "--debug",
        is_flag=True,
        expose_value=False,
        is_eager=True,
        hidden=hidden,
        callback=_set_debug,
        help="Show tracebacks and every log line.",
    )
    return debug(strict(command))


def as_json(command: F) -> F:
    """The option `--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def load_plugins(root: Path) -> Plugins:
    """Load the plugins of a project's directory; what they print goes to stderr from here on."""
    from tuvl_core import Plugins

    claim_stdout()
    return Plugins.load(root=root)


def load_project(root: Path) -> Project:
    """Load a project with its plugins."""
    from tuvl_core import load_project as load

    return load(root, plugins=load_plugins(root))


def warn_of_plugins(plugins: Plugins) -> None:
    """Say in a line each which plugins are left out without anybody's wish, and which are missing."""
    for item in plugins.problems:
        if item.severity != "info":
            warn(f"{item.message}; {item.hint}" if item.hint else item.message)


def _set_debug(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        context.find_root().ensure_object(dict)["debug"] = True
        log_everything()


def _set_strict(_context: click.Context, _: click.Parameter, value: bool) -> None:
    # Through the environment: the policy about plugins is read there, wherever they are loaded.
    if value:
        os.environ[STRICT_PLUGINS] = "1"
