"""The `tuvl` command. Each subcommand is a module of its own, imported when it is used.

Another package adds commands through the hook `tuvl_cli_commands`, with `CommandSpec`s.
"""

from __future__ import annotations

from tuvl_cli.spec import CommandSpec

__all__ = ["CommandSpec"]
