"""`tuvl rule CODE`: what the code of a diagnostic means."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tuvl_cli.options import as_json, load_plugins, project_options
from tuvl_cli.output import echo, echo_json

if TYPE_CHECKING:
    from tuvl_core import Code

__all__ = ["command"]

_MEANING = {
    ("error", "structure"): "`tuvl validate` exits with 1, and a workflow that has it does not run (exit code 3).",
    ("error", "flow"): "`tuvl validate` exits with 1; a run starts, and fails or warns when it gets there.",
    ("warning", "structure"): "`tuvl validate` exits with 1 under `--strict` only; a run is not refused.",
    ("warning", "flow"): "`tuvl validate` exits with 1 under `--strict` only; a run is not refused.",
    ("info", "structure"): "It changes no exit code.",
    ("info", "flow"): "It changes no exit code.",
}

_HEAD_END = "\n\n"


@click.command("rule")
@click.argument("code", required=False)
@project_options
@as_json
def command(code: str | None, directory: Path, as_json: bool) -> None:
    """Explain a diagnostic's CODE; without one, list all of them."""
    from tuvl_core import all_codes, rule_page

    plugins = load_plugins(directory)
    known = all_codes(plugins)
    if code is None:
        if as_json:
            echo_json({"rules": [_row(item) for item in known.values()]})
            return
        width = max(len(name) for name in known)
        for item in known.values():
            echo(f"{item.code:<{width}}  {item.severity:<7}  {item.klass:<9}  {item.title}")
        return
    item = _find(code, known)
    page = rule_page(plugins, item.code)
    if as_json:
        echo_json({**_row(item), "page": page})
        return
    echo(f"{item.code}: {item.title}\n{item.severity}, {item.klass}. {_MEANING[item.severity, item.klass]}")
    if page is not None:
        # The head of the page says what has just been said.
        echo(f"\n{page.partition(_HEAD_END)[2].strip()}")


def _find(code: str, known: dict[str, Code]) -> Code:
    found = known.get(code) or known.get(code.upper())
    if found is not None:
        return found
    from tuvl_core import did_you_mean

    hint = did_you_mean(code, known) or "`tuvl rule` lists every code"
    raise click.UsageError(f"there is no code {code!r}; {hint}")


def _row(item: Code) -> dict[str, str]:
    return {"code": item.code, "severity": item.severity, "class": item.klass, "title": item.title}
