"""`tuvl run`: one workflow, to its end."""

from __future__ import annotations

from pathlib import Path

import click

from tuvl_cli.options import project_options

__all__ = ["command"]


@click.command("run")
@click.argument("workflow")
@project_options
@click.option("--input", metavar="JSON|@FILE|-", help="The input: JSON text, a file, or stdin.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole outcome as one JSON object.")
@click.option("--events", is_flag=True, help="Print each event as a line of JSON, as it happens.")
@click.option("--as", "subject", metavar="SUBJECT", help="Who it runs for; without it the local user, who may do all.")
@click.option("--tenant", metavar="T", help="Whose data it may see.")
@click.option("--scope", "scopes", metavar="S", multiple=True, help="What it may do; can be repeated.")
@click.option("--group", "groups", metavar="G", multiple=True, help="A group it belongs to; can be repeated.")
@click.pass_context
def command(
    context: click.Context,
    workflow: str,
    directory: Path,
    input: str | None,
    as_json: bool,
    events: bool,
    subject: str | None,
    tenant: str | None,
    scopes: tuple[str, ...],
    groups: tuple[str, ...],
) -> None:
    """Run WORKFLOW to its end. The result goes to stdout, everything else to stderr.

    Exit codes: 0 completed; 1 stopped, failed or limit reached; 2 wrong use, unknown workflow or bad
    input; 3 the project is invalid; 4 denied; 130 cancelled by Ctrl-C or SIGTERM.
    """
    if as_json and events:
        raise click.UsageError("--json and --events cannot both have stdout; choose one")
    if subject is not None and not subject.strip():
        raise click.BadParameter("a subject is a name", param_hint="'--as'")
    from tuvl_cli.running.order import Order, carry_out

    order = Order(
        workflow=workflow,
        directory=directory,
        input=input,
        form="json" if as_json else "events" if events else "result",
        subject=subject,
        tenant=tenant,
        scopes=scopes,
        groups=groups,
    )
    context.exit(carry_out(order))
