"""What plugins contribute to the `tuvl` command: described here, so that nobody has to import the command.

Dataclasses and not attrs: `tuvl --help` must not wait for attrs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tuvl_core.engine import App

__all__ = ["CommandSpec", "LockSection"]


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


@dataclass(frozen=True, kw_only=True, slots=True)
class LockSection:
    """One section of a project's `tuvl.lock`.

    Attributes:
        name: Its key, such as `mcp`.
        collect: Looks up what the section has to hold, for the open project; JSON-ready. An empty
            mapping leaves the section out. May raise `TuvlError`; `tuvl.lock` then stays as it was.
    """

    name: str
    collect: Callable[[App], Awaitable[Mapping[str, Any]]]
