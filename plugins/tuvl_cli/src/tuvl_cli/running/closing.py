"""What is said when a run is over: its result on stdout, how it went on stderr."""

from __future__ import annotations

from typing import Final

import click

from tuvl_cli.output import echo, shown, shown_json, styled
from tuvl_cli.running.narrator import seconds
from tuvl_core import RunResult, to_wire

__all__ = ["exit_code", "say_result", "say_summary"]

_EXIT: Final = {"completed": 0, "stopped": 1, "failed": 1, "cancelled": 130}
_COLORS: Final = {"completed": "green", "stopped": "yellow", "failed": "red", "cancelled": "yellow"}
_COUNTED: Final = (("tokens", "token"), ("llm_calls", "model call"), ("tool_calls", "tool call"))


def exit_code(result: RunResult) -> int:
    """The exit code of a run that ended like this."""
    return _EXIT.get(result.status, 1)


def say_result(result: RunResult) -> None:
    """Print the result of a completed run: text as it is, everything else as JSON; nothing if it is none.

    What a run that broke off has made so far is no result; `--json` shows it.

    Raises:
        CodecError: It has no wire form.
    """
    if result.status != "completed":
        return
    value = to_wire(result.result, "result")
    if value is not None:
        echo(value if isinstance(value, str) else shown_json(value))


def say_summary(result: RunResult, took: float) -> None:
    """Say on stderr how a run ended, why, and what it used."""
    status = styled(result.status, _COLORS.get(result.status), bold=True)
    error = result.error
    cancelled = error is not None and error.type == result.status  # its message is how far it came
    way = error.message if cancelled and error else _way(result)
    lines = [f"{shown(result.workflow)} {status} in {seconds(took)}: {shown(way)}"]
    if error is not None and not cancelled:
        lines.append(shown(f"  {error.type}: {error.message}"))
    used = [_counted(result.usage.get(key, 0), noun) for key, noun in _COUNTED if result.usage.get(key)]
    attempts = result.usage.get("llm_attempts", 0)
    if attempts > result.usage.get("llm_calls", 0):
        used.append(_counted(attempts, "attempt"))
    if used:
        lines.append(f"  {', '.join(used)}")
    click.echo("\n".join(lines), err=True)


def _way(result: RunResult) -> str:
    path = result.path
    if not path:
        return f"it was at {result.last_step}" if result.last_step else "it did not reach a step"
    count = _counted(len(path), "step")
    left = f"{path[-1].step} left by {path[-1].signal!r}"
    if result.last_step not in (None, path[-1].step):
        return f"{count}, {left}, then at {result.last_step}"
    return f"{count}, {left}"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
