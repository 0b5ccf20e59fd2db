"""`tuvl lsp`: the language server on stdin and stdout."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import BinaryIO

import click

__all__ = ["command"]


@click.command("lsp")
@click.option(
    "-C",
    "directory",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="The project's directory; what the editor opened by itself.",
)
@click.option("--stdio", is_flag=True, hidden=True, help="What many editors add; there is nothing else.")
def command(directory: Path | None, stdio: bool) -> None:
    """Serve an editor over stdio, by the Language Server Protocol. Runs none of the project's code."""
    from tuvl_lsp.server import build

    build(directory).start_io(sys.stdin.buffer, _claim_stdout())


def _claim_stdout() -> BinaryIO:
    """Take stdout for the protocol alone: whatever else prints would break it, and goes to stderr."""
    sys.stdout.flush()
    own = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return own
