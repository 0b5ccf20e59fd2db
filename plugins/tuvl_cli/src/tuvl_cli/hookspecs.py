"""The hook through which packages add subcommands."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tuvl_core import hookspec

if TYPE_CHECKING:
    from tuvl_cli.spec import CommandSpec


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
        from tuvl_cli import CommandSpec
        from tuvl_core import hookimpl

        @click.command()
        def hello():
            click.echo("hello")

        @hookimpl(optionalhook=True)
        def tuvl_cli_commands():
            target = "acme_tools.commands:hello"
            return [CommandSpec(name="hello", help="Say hello.", target=target)]
        ```
    """
