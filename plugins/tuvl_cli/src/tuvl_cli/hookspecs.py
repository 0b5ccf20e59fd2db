"""The hooks through which packages add subcommands, and sections of the lock file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tuvl_core import hookspec

if TYPE_CHECKING:
    from tuvl_core import CommandSpec, LockSection


@hookspec
def tuvl_cli_commands() -> Iterable[CommandSpec]:  # type: ignore[empty-body]
    """Subcommands of `tuvl` that this plugin brings.

    Called for `tuvl --help`, and for a command that is not tuvl's own: it must not import what does the
    work. Mark the implementation with `@hookimpl(optionalhook=True)`, so that the plugin also loads
    without tuvl-cli.

    Returns:
        Command specs. tuvl's own commands keep their names; of two others, none gets it.

    Raises:
        Exception: Anything: the plugin's commands are then missing, with a warning.

    Example:
        ```python
        import click
        from tuvl_core import CommandSpec, hookimpl

        @click.command()
        def hello():
            click.echo("hello")

        @hookimpl(optionalhook=True)
        def tuvl_cli_commands():
            # Where the command does more, it lies in a module of its own: "acme_tools.commands:hello".
            return [CommandSpec(name="hello", help="Say hello.", target=f"{__name__}:hello")]
        ```
    """


@hookspec
def tuvl_lock_sections() -> Iterable[LockSection]:  # type: ignore[empty-body]
    """Sections of `tuvl.lock` that this plugin owns.

    Called for `tuvl lock` only. What lies outside a project and may change (the tools of a server, the
    revision of a model) is looked up then and written down; whoever uses it later compares. Mark the
    implementation with `@hookimpl(optionalhook=True)`.

    Returns:
        Sections; a name has one owner. Sections of plugins that are not installed stay as they are.

    Raises:
        Exception: Anything: `tuvl lock` then names the plugin, and writes nothing.

    Example:
        ```python
        from tuvl_core import LockSection, hookimpl

        async def collect(app):
            return {"workflows": sorted(app.project.workflows)}

        @hookimpl(optionalhook=True)
        def tuvl_lock_sections():
            return [LockSection(name="acme", collect=collect)]
        ```
    """
