"""`tuvl supervise --replay EVENTS`: what a workflow's rules would have done on recorded runs."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from tuvl_core import InputError, Plugins, ProjectError, load_project, plan_workflow

if TYPE_CHECKING:
    from tuvl_core import Plan
    from tuvl_supervisor.replay import Loop, Replayed

__all__ = ["command"]

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)")
_WOULD: Final = {"pause": "would have paused it", "steer": "would have steered it", "abort": "would have aborted it"}


@click.command("supervise")
@click.argument("workflow", required=False)
@click.option(
    "--replay",
    "events",
    required=True,
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    metavar="EVENTS",
    help="Events as `tuvl run --events` prints them, one JSON object a line; `-`: from stdin.",
)
@click.option(
    "-C",
    "directory",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    metavar="DIR",
    help="The project's directory; here by itself.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(workflow: str | None, events: Path, directory: Path, as_json: bool) -> None:
    """Show what the rules of WORKFLOW, as they are now, would have done on recorded runs.

    Without WORKFLOW, every workflow that the events tell of. The judge is not asked, and nothing runs. Exit codes:
    0; 2 for a wrong use, an unknown workflow or what are no events; 3 where the supervisor cannot be read.
    """
    from tuvl_supervisor.replay import missing_events, read_events

    with _stdin_or(events) as lines:
        told = read_events(lines, str(events))
    # Plugins may print while they load; stdout is for what was asked.
    with redirect_stdout(sys.stderr):
        root = directory.absolute()
        project = load_project(root, plugins=Plugins.load(root=root))
        names = [workflow] if workflow is not None else list(dict.fromkeys(str(item.get("workflow")) for item in told))
        found = [_replayed(plan_workflow(project, name), told) for name in names]
    if not told:
        raise InputError(f"{events}: there are no events", [("", "there are no events")])
    missing = missing_events(told)
    if as_json:
        data = {"workflows": [item.to_dict() for item in found], "missing": missing}
        _echo(json.dumps(data, ensure_ascii=False, indent=2))
        return
    for line in _text(found):
        _echo(line)
    for run_id, count in missing.items():
        what = "1 event is" if count == 1 else f"{count} events are"
        click.echo(f"run {run_id}: {what} missing in the record, so rules may have been judged wrongly", err=True)


def _stdin_or(path: Path) -> Any:
    return click.open_file(str(path), encoding="utf-8", errors="replace")


def _replayed(plan: Plan, events: list[dict[str, Any]]) -> Replayed:
    from tuvl_supervisor.checks import check
    from tuvl_supervisor.replay import replay

    wrong = [item for item in check(plan) if item.severity == "error" and item.klass == "structure"]
    own = plan.project.diagnostics_for(plan.workflow)
    wrong += [item for item in own if item.severity == "error" and item.klass == "structure"]
    # A judge without its model judges nobody here.
    wrong = [item for item in wrong if item.code != "TUVL-V006"]
    if wrong:
        raise ProjectError(f"the supervisor of workflow {plan.workflow!r} cannot be read", wrong)
    return replay(plan, events)


def _text(found: list[Replayed]) -> Iterator[str]:
    for item in found:
        if not item.loops:
            yield f"{item.workflow}: the events tell of no agent"
        for loop in item.loops:
            yield _head(item.workflow, loop)
            for fired in loop.fired:
                at = f"  event {fired.seq}, turn {fired.iteration}"
                yield f"{at}: rule {fired.number + 1}, {fired.rule}, {_WOULD[fired.then]}: {fired.found}"


def _head(workflow: str, loop: Loop) -> str:
    where = f"run {loop.run_id}: {workflow}, {loop.step_id}#{loop.visit}"
    inside = f" in {loop.parent}" if loop.parent else ""
    if not loop.watched:
        what = "not watched"
    elif not loop.fired:
        what = "no rule would have fired"
    else:
        what = "1 rule would have fired" if len(loop.fired) == 1 else f"{len(loop.fired)} rules would have fired"
    ended = f", it left by {loop.exit}" if loop.exit is not None else ""
    return f"{where}{inside}: {what}{ended}"


def _echo(text: str) -> None:
    click.echo(_CONTROL.sub("\ufffd", text))
