"""`tuvl graph WORKFLOW`: a drawing of a workflow, with what is wrong on the nodes it is about."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tuvl_cli.options import load_project, project_options
from tuvl_cli.output import echo, echo_bytes, echo_json

if TYPE_CHECKING:
    from tuvl_graph import Picture

__all__ = ["command"]

FORMATS = ("mermaid", "svg", "png", "json")


@click.command("graph")
@click.argument("workflow")
@project_options
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="mermaid", show_default=True, help="What to print."
)
@click.option("--output", "-o", type=click.Path(path_type=Path, dir_okay=False), help="Write to this file instead.")
def command(workflow: str, directory: Path, form: str, output: Path | None) -> None:
    """Draw WORKFLOW: steps, tools, where signals lead, and what `tuvl validate` says of each.

    Runs none of its code. Exit codes: 0; 2 for a wrong use or an unknown workflow.
    """
    from tuvl_cli.diagnostics.of_workflow import findings_of
    from tuvl_core import plan_workflow
    from tuvl_graph import picture_of

    plan = plan_workflow(load_project(directory), workflow)
    picture = picture_of(plan, findings_of(plan))
    if form == "png":
        _write(_png(picture), output)
    elif form == "json" and output is None:
        echo_json(picture.to_dict())
    else:
        _write(_text(picture, form), output)


def _text(picture: Picture, form: str) -> str:
    if form == "svg":
        from tuvl_graph import as_svg

        return as_svg(picture)
    if form == "json":
        import json

        return json.dumps(picture.to_dict(), ensure_ascii=False, indent=2)
    from tuvl_graph import as_mermaid

    return as_mermaid(picture)


def _png(picture: Picture) -> bytes:
    from tuvl_graph import as_svg

    try:
        resvg = import_module("resvg_py")
    except ImportError:
        raise click.UsageError(
            "PNG needs a package that is not installed: `pip install tuvl-cli[png]`; `--format svg` needs none"
        ) from None
    return bytes(resvg.svg_to_bytes(svg_string=as_svg(picture), zoom=2))


def _write(drawn: str | bytes, output: Path | None) -> None:
    if output is not None:
        data = drawn if isinstance(drawn, bytes) else f"{drawn}\n".encode()
        try:
            output.write_bytes(data)
        except OSError as error:
            raise click.UsageError(f"{output} cannot be written: {error.strerror or error}") from None
    elif isinstance(drawn, bytes):
        echo_bytes(drawn)
    else:
        echo(drawn)
