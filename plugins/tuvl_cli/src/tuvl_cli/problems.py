"""What went wrong, as a message and an exit code. A traceback is shown with `--debug` only."""

from __future__ import annotations

from typing import Final

import click

from tuvl_cli.output import shown, styled
from tuvl_core import (
    CodecError,
    DeniedError,
    InputError,
    PluginError,
    ProjectError,
    SettingsError,
    TuvlError,
    UnknownWorkflowError,
    did_you_mean,
    scrub,
)

__all__ = ["DENIED", "FAILED", "INTERRUPTED", "INVALID", "OK", "USAGE", "show"]

OK: Final = 0
FAILED: Final = 1
USAGE: Final = 2
INVALID: Final = 3
DENIED: Final = 4
INTERRUPTED: Final = 130

_CODES: Final[tuple[tuple[type[Exception], int], ...]] = (
    (UnknownWorkflowError, USAGE),
    (InputError, USAGE),
    (DeniedError, DENIED),
    (ProjectError, INVALID),
    (SettingsError, INVALID),
    (PluginError, INVALID),
)
_SHOWN: Final = 20


def show(problem: Exception, *, debug: bool) -> int:
    """Say what went wrong on stderr, and give the exit code."""
    if debug:
        import traceback

        _say("".join(traceback.format_exception(problem)))
    _say(_message(problem), f"{styled('error', 'red', bold=True)}: ")
    if isinstance(problem, ProjectError):
        for item in problem.diagnostics[:_SHOWN]:
            _say(f"  {item}")
        if len(problem.diagnostics) > _SHOWN:
            _say(f"  … and {len(problem.diagnostics) - _SHOWN} more: `tuvl validate` shows all")
    if hint := _hint(problem):
        _say(f"  hint: {hint}")
    return next((code for kind, code in _CODES if isinstance(problem, kind)), FAILED)


def _message(problem: Exception) -> str:
    if isinstance(problem, ProjectError):
        return problem.message  # its findings follow
    if isinstance(problem, TuvlError):
        return str(problem)
    if isinstance(problem, OSError) and problem.strerror:
        return f"{problem.filename}: {problem.strerror}" if problem.filename else problem.strerror
    return f"{type(problem).__name__}: {problem}"


def _hint(problem: Exception) -> str | None:
    if isinstance(problem, UnknownWorkflowError):
        return did_you_mean(problem.name, problem.known) or (
            None if problem.known else "`-C DIR` names the project's directory"
        )
    if isinstance(problem, CodecError):
        return "return texts, numbers, lists and mappings, or dates, UUIDs and bytes, from the step that wrote it"
    if isinstance(problem, (TuvlError, OSError)):
        return None
    return "this is a bug in tuvl or a plugin; `tuvl --debug …` shows where"


def _say(text: str, lead: str = "") -> None:
    try:
        click.echo(lead + shown(scrub(text)), err=True)
    except OSError:
        return  # nobody reads stderr; the exit code still tells
