"""The group of subcommands: they are known by name and help, and imported when they are used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tuvl_cli.builtin import COMMANDS
from tuvl_cli.output import warn
from tuvl_cli.spec import CommandSpec

if TYPE_CHECKING:
    from tuvl_core import Candidate, Plugins

__all__ = ["TuvlGroup"]


class TuvlGroup(click.Group):
    """Commands of tuvl's own and of plugins."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._specs: dict[str, CommandSpec] | None = None

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names, tuvl's own first."""
        return list(self.specs())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a command."""
        spec = _OWN.get(cmd_name) or self.specs(ctx.args).get(cmd_name)
        if spec is None:
            return None
        try:
            return _load(spec)
        except (Exception, SystemExit) as error:
            if spec.name in _OWN:
                raise
            raise click.ClickException(
                f"the command {cmd_name!r} cannot be loaded from {spec.target}: {type(error).__name__}: {error}"
            ) from error

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; of one that is not there, name the nearest."""
        name = args[0]
        known = _OWN if name in _OWN else self.specs(args)
        if name not in known and not name.startswith("-") and not ctx.resilient_parsing:
            from difflib import get_close_matches

            near = get_close_matches(name, known, 1)
            hint = f"Did you mean `tuvl {near[0]}`?" if near else "`tuvl --help` lists the commands."
            raise click.UsageError(f"There is no command {name!r}. {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write names and help without importing any command."""
        with formatter.section("Commands"):
            formatter.write_dl([(spec.name, spec.help) for spec in self.specs().values()])

    def specs(self, args: Sequence[str] = ()) -> Mapping[str, CommandSpec]:
        """Every command by name; a project's own plugins may bring some.

        Args:
            args: What stands on the command line; a `-C DIR` in it names the project.
        """
        if self._specs is None:
            self._specs = _collect(_load_plugins(_project(args)))
        return self._specs


_OWN = {spec.name: spec for spec in COMMANDS}


def _project(args: Sequence[str]) -> Path:
    for option, value in pairwise(args):
        if option == "-C" and Path(value).is_dir():
            return Path(value)
    return Path()


def _load_plugins(root: Path) -> Plugins:
    from tuvl_core import Plugins

    plugins = Plugins.load(root=root)
    for candidate in plugins.candidates:
        if candidate.state in ("failed", "incompatible", "duplicate"):
            warn(candidate.summary)
    return plugins


def _collect(plugins: Plugins) -> dict[str, CommandSpec]:
    """The commands of tuvl itself, and those of plugins whose names nobody else claims."""
    offers: dict[str, list[tuple[Candidate, CommandSpec]]] = {}
    for candidate, spec in _offered(plugins):
        if spec.name in _OWN:
            warn(f"{candidate.label} brings the command {spec.name!r}, which is tuvl's own; it is left out")
        else:
            offers.setdefault(spec.name, []).append((candidate, spec))
    found = dict(_OWN)
    for name, given in sorted(offers.items()):
        owners = sorted({candidate.label for candidate, _ in given})
        if len(given) == 1:
            found[name] = given[0][1]
        elif len(owners) == 1:
            warn(f"{owners[0]} brings the command {name!r} twice; it is left out")
        else:
            warn(f"{' and '.join(owners)} both bring the command {name!r}; it is left out: block one of them")
    return found


def _offered(plugins: Plugins) -> Iterator[tuple[Candidate, CommandSpec]]:
    for candidate, specs in plugins.call("tuvl_cli_commands"):
        try:
            given = list(specs or ())
        except TypeError:
            given = [specs]
        for spec in given:
            if isinstance(spec, CommandSpec):
                if spec is not _OWN.get(spec.name):
                    yield candidate, spec
            else:
                warn(f"{candidate.label}: tuvl_cli_commands gives {spec!r}, which is no CommandSpec; it is left out")


def _load(spec: CommandSpec) -> click.Command:
    module, _, name = spec.target.partition(":")
    command: click.Command = getattr(import_module(module), name or "command")
    if not isinstance(command, click.Command):
        raise TypeError(f"{spec.target} is no click.Command")
    return command
