"""The `tuvl` command."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tuvl_core import hookimpl

if TYPE_CHECKING:
    from tuvl_cli.spec import CommandSpec

TUVL_API = 1
TUVL_HOOKSPECS = "tuvl_cli.hookspecs"


@hookimpl(optionalhook=True)
def tuvl_cli_commands() -> Sequence[CommandSpec]:
    """The commands of tuvl itself."""
    from tuvl_cli.builtin import COMMANDS

    return COMMANDS
