"""How a package describes a subcommand without importing what does it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CommandSpec"]


# A dataclass and not attrs: `tuvl --help` must not wait for attrs.
@dataclass(frozen=True, kw_only=True, slots=True)
class CommandSpec:
    """One subcommand of `tuvl`.

    Attributes:
        name: What is typed, such as `serve`.
        help: One line for `tuvl --help`.
        target: `package.module:object`, a `click.Command`; imported when the command is used.
    """

    name: str
    help: str
    target: str
