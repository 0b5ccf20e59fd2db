"""The entry of the command: finds the subcommand, and turns what goes wrong into a message and a code."""

from __future__ import annotations

import errno
import sys
from typing import Any, NoReturn

import click

from tuvl_cli.group import TuvlGroup
from tuvl_cli.logs import set_up_logging
from tuvl_cli.options import global_flags
from tuvl_cli.output import Unbreakable, flush, leave, let_go

__all__ = ["cli", "main"]

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(cls=TuvlGroup, context_settings=CONTEXT)
@click.version_option(package_name="tuvl-core", prog_name="tuvl")
@global_flags
def cli() -> None:
    """Agentic workflows that people declare in YAML: bounded, checked, observable."""


def main() -> NoReturn:
    """Run the command and exit with its code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A character that the terminal's encoding lacks is no reason to fail.
            stream.reconfigure(errors="backslashreplace")
    if sys.stderr is not None:
        sys.stderr = Unbreakable(sys.stderr)
    set_up_logging()
    code = _run(sys.argv[1:])
    try:
        flush()
    except OSError as problem:
        code = _unwritable(problem, code)
    leave(code)


def _run(arguments: list[str]) -> int:
    state: dict[str, Any] = {}
    try:
        result = cli.main(arguments, prog_name="tuvl", standalone_mode=False, obj=state)
        return result if isinstance(result, int) else 0
    except click.ClickException as problem:
        problem.show()
        return problem.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return 130
    except SystemExit as done:
        # How click leaves when nobody reads its output; its newer versions no longer keep the cause.
        unread = isinstance(done.__context__, OSError) and done.__context__.errno == errno.EPIPE
        if unread or type(sys.stdout).__name__.endswith("PacifyFlushWrapper"):
            let_go()
            return 0
        raise
    except Exception as problem:
        from tuvl_cli.problems import show

        return show(problem, debug=bool(state.get("debug")))


def _unwritable(problem: OSError, code: int) -> int:
    let_go()
    if problem.errno == errno.EPIPE:
        return code
    click.echo(f"error: the output cannot be written: {problem.strerror}", err=True)
    return code or 1
