"""`tuvl explain WORKFLOW`: what a workflow does, reaches and costs, told before it runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tuvl_cli.options import as_json, load_project, project_options
from tuvl_cli.output import echo, echo_json
from tuvl_cli.problems import INVALID

if TYPE_CHECKING:
    from tuvl_core import Diagnostic

__all__ = ["command"]


@click.command("explain")
@click.argument("workflow")
@project_options
@as_json
@click.pass_context
def command(context: click.Context, workflow: str, directory: Path, as_json: bool) -> None:
    """Explain WORKFLOW: where its signals lead, what its steps reach, and what a run costs at most.

    Runs none of its code. What is wrong with it is told first; what is wrong elsewhere does not matter. Exit codes:
    0; 2 for a wrong use or an unknown workflow; 3 where it has errors that refuse a run, and so is not all told.
    """
    from tuvl_cli.diagnostics.of_workflow import findings_of
    from tuvl_cli.explaining import as_text, explain
    from tuvl_core import plan_workflow

    plan = plan_workflow(load_project(directory), workflow)
    found = findings_of(plan)
    told = explain(plan, found)
    if as_json:
        echo_json(told)
    else:
        _show(found, directory)
        echo(as_text(told))
    context.exit(0 if told["complete"] else INVALID)


def _show(found: list[Diagnostic], root: Path) -> None:
    from tuvl_cli.diagnostics.writing import lines_out, write_findings

    shown = [item for item in found if item.severity != "info"]
    out = lines_out()
    write_findings(shown, root, out)
    if shown:
        out.write([[]])
