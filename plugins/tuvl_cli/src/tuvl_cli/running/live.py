"""Progress in a terminal: steps and turns as they happen, and below them what runs at the moment."""

from __future__ import annotations

import time

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from tuvl_cli.running.narrator import Line, Now, seconds

__all__ = ["LiveView"]


class LiveView:
    """Draws on stderr; what others print in the meantime stands above the moving line."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._bottom = _Bottom()
        self._live = Live(self._bottom, console=self._console, transient=True, refresh_per_second=10)
        self._live.start()

    def show(self, lines: list[Line], now: Now | None) -> None:
        """Write lines, and move on to what runs now."""
        self._bottom.now = now
        for line in lines:
            self._console.print(_styled(line), overflow="ellipsis", no_wrap=True)

    def close(self) -> None:
        """Take the moving line away."""
        self._bottom.now = None
        self._live.stop()


class _Bottom:
    """The step that runs, for how long, and how far it is."""

    def __init__(self) -> None:
        self.now: Now | None = None
        self._spinner = Spinner("dots")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        now = self.now
        if now is None:
            return
        detail = f"  {now.detail}" if now.detail else ""
        text = Text(f"{now.step}  {now.kind}  {seconds(time.time() - now.since)}{detail}", style="dim")
        self._spinner.update(text=text)
        yield self._spinner


def _styled(line: Line) -> Text:
    if line.good is None:
        return Text(f"  {'  ' * line.depth}{line.text}", style="dim" if line.depth else "")
    mark = Text("✓ ", style="green") if line.good else Text("✗ ", style="red")
    return mark.append(line.text, style="default")
