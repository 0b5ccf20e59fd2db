"""`tuvl kinds`: what may stand after `kind:`, and what each declares."""

from __future__ import annotations

import typing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tuvl_cli.options import as_json, load_plugins, project_options, warn_of_plugins
from tuvl_cli.output import echo, echo_json

if TYPE_CHECKING:
    from tuvl_core import Plugins

__all__ = ["command"]


@click.command("kinds")
@project_options
@as_json
def command(directory: Path, as_json: bool) -> None:
    """List step kinds, document kinds and sections."""
    plugins = load_plugins(directory)
    if as_json:
        from tuvl_cli.declarations import describe

        echo_json(describe(plugins))
    else:
        _print(plugins)
    warn_of_plugins(plugins)


def _print(plugins: Plugins) -> None:
    kinds: list[tuple[str, str, str]] = [
        (name, entry.candidate.label, _first_line(type(entry.kind))) for name, entry in plugins.kinds.items()
    ]
    documents = [("Workflow", "the kernel", "Steps, and where their signals lead.")]
    documents += [
        (name, _owner(plugins, "document kind", name), _first_line(kind.spec))
        for name, kind in plugins.document_kinds.items()
    ]
    sections = [
        (f"spec.{name}", _owner(plugins, "workflow section", name), _first_line(section.spec))
        for name, section in plugins.workflow_sections.items()
    ]
    sections += [
        (f"steps[].{name}", _owner(plugins, "step section", name), _first_line(section.spec))
        for name, section in plugins.step_sections.items()
    ]
    rows = [*kinds, *documents, *sections]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    for title, group in (("Step kinds", kinds), ("Documents", documents), ("Sections", sections)):
        if group:
            echo(title)
        for name, owner, text in group:
            echo(f"  {name:<{widths[0]}}  {owner:<{widths[1]}}  {text}")


def _owner(plugins: Plugins, what: str, name: str) -> str:
    candidate = plugins.owner(what, name)
    return candidate.label if candidate is not None else ""


def _first_line(cls: Any) -> str:
    """What a class says about itself; of a union, what its own class says."""
    cls = next((member for member in typing.get_args(cls) if hasattr(member, "__attrs_attrs__")), cls)
    return ((getattr(cls, "__doc__", None) or "").strip().splitlines() or [""])[0]
