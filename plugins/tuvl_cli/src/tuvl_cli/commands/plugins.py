"""`tuvl plugins`: every plugin that was found, and why any of them is left out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tuvl_cli.options import as_json, load_plugins, project_options
from tuvl_cli.output import echo, echo_json, warn

if TYPE_CHECKING:
    from tuvl_core import Candidate, Diagnostic, Plugins

__all__ = ["command"]


@click.command("plugins")
@project_options
@as_json
@click.option("--hook", metavar="NAME", help="Only plugins that implement this hook.")
@click.pass_context
def command(context: click.Context, directory: Path, as_json: bool, hook: str | None) -> None:
    """List plugins: state, distribution, hooks, time to load; of those left out, the cause and the way out.

    Exit codes: 0; 1 under --strict-plugins where one is left out without anybody's wish; 2 for a wrong use.
    """
    plugins = load_plugins(directory)
    _ = plugins.kinds, plugins.settings  # what a plugin brings may still leave it out
    problems = plugins.problems
    hook = _known(plugins, hook)
    found = [item for item in plugins.candidates if hook is None or hook in item.hooks]
    if as_json:
        listed = [{**item.to_json(), "load_ms": round(item.load_ms, 2)} for item in found]
        echo_json({"plugins": listed, "problems": [item.to_json() for item in problems]})
    else:
        _print(found, problems)
    strict = plugins.policy.strict and any(item.severity == "error" for item in problems)
    context.exit(1 if strict else 0)


def _known(plugins: Plugins, hook: str | None) -> str | None:
    """The full name of a hook; its prefix may be left out."""
    if hook is None or hook in plugins.hook_names:
        return hook
    if f"tuvl_{hook}" in plugins.hook_names:
        return f"tuvl_{hook}"
    from tuvl_core import did_you_mean

    hint = did_you_mean(hook, plugins.hook_names) or f"hooks are: {', '.join(plugins.hook_names)}"
    raise click.UsageError(f"there is no hook {hook!r}; {hint}")


def _print(found: list[Candidate], problems: list[Diagnostic]) -> None:
    width = max((len(item.label) for item in found), default=0)
    ready = [item for item in found if item.state == "ready"]
    left_out = [item for item in found if item.state != "ready"]
    for item in ready:
        hooks = ", ".join(name.removeprefix("tuvl_") for name in item.hooks) or "-"
        echo(f"{item.label:<{width}}  {item.load_ms:7.1f} ms  {hooks}")
    if left_out:
        echo(f"{chr(10) if ready else ''}Left out:")
    for item in left_out:
        point = "" if item.local else f" (entry point {item.name!r})"
        echo(f"  {item.label}{point}: {item.state}\n    cause:  {item.error}\n    remedy: {item.remedy}")
    for problem in problems:
        # Those of a candidate stand above; what is missing or claimed twice has no line of its own.
        if problem.severity != "info" and not any(item.label == problem.plugin for item in left_out):
            warn(f"{problem.code}: {problem.message}; {problem.hint}" if problem.hint else problem.message)
    echo(f"{chr(10) if found else ''}{len(ready)} ready, {len(left_out)} left out")
