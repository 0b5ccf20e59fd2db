"""Progress where stderr is no terminal: a line each."""

from __future__ import annotations

import click

from tuvl_cli.running.narrator import Line, Now

__all__ = ["PlainView"]


class PlainView:
    """Writes plain lines to stderr."""

    def show(self, lines: list[Line], now: Now | None) -> None:
        """Write lines."""
        for line in lines:
            click.echo(f"{'  ' * line.depth}{line.text}", err=True)

    def close(self) -> None:
        """Nothing stays open."""
