"""`tuvl explain WORKFLOW`: what a workflow does, reaches and costs, told before it runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tuvl_cli.options import as_json, load_project, project_options
from tuvl_cli.output import echo, echo_json

if TYPE_CHECKING:
    from tuvl_core import Plan, Project

__all__ = ["command"]


@click.command("explain")
@click.argument("workflow")
@project_options
@as_json
def command(workflow: str, directory: Path, as_json: bool) -> None:
    """Explain WORKFLOW: where its signals lead, what its steps reach, and what a run costs at most.

    Runs none of its code. Exit codes: 0; 2 for a wrong use or an unknown workflow; 3 where parts of it cannot be
    read.
    """
    from tuvl_cli.explaining import as_text, explain

    found = explain(_planned(load_project(directory), workflow))
    if as_json:
        echo_json(found)
    else:
        echo(as_text(found))


def _planned(project: Project, workflow: str) -> Plan:
    """The plan of a workflow that is in order: of one that is not, nothing could be promised."""
    from tuvl_core import ProjectError, check_workflow, plan_workflow

    plan = plan_workflow(project, workflow)
    found = [*project.diagnostics_for(workflow), *check_workflow(plan)]
    refusing = [item for item in found if item.severity == "error" and item.klass == "structure"]
    if refusing:
        raise ProjectError(f"workflow {workflow!r} cannot be explained before this is put right", refusing)
    return plan
