"""The command `tuvl lsp`."""

from __future__ import annotations

from tuvl_core import CommandSpec, hookimpl

TUVL_API = 1


@hookimpl(optionalhook=True)
def tuvl_cli_commands() -> list[CommandSpec]:
    """`tuvl lsp`."""
    return [
        CommandSpec(
            name="lsp",
            help="Serve editors: diagnostics, hover, go to and completion, over stdio.",
            target="tuvl_lsp.commands:command",
        )
    ]
