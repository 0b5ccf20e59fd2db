"""`tuvl new`: starts what people would otherwise copy from somewhere."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from tuvl_cli.options import hidden_flags

__all__ = ["command"]


@click.group("new")
def command() -> None:
    """Start a new project."""


@command.command("project")
@click.argument("name", type=click.Path(path_type=Path))
@hidden_flags
def project(name: Path) -> None:
    """Write a small project into the new directory NAME: it validates and runs at once, without a model."""
    from tuvl_cli.skeleton import files

    texts = files(name.resolve().name)
    try:
        if name.exists() and (not name.is_dir() or any(name.iterdir())):
            raise click.BadParameter(f"{name} exists already and is not empty; choose another name", param_hint="NAME")
        for path, text in texts.items():
            target = name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"{error.filename or name} cannot be written: {error.strerror}") from error
    # Said only when everything is there: whoever reads this may go away in the middle of it.
    for path in texts:
        click.echo(f"wrote {name / path}")
    click.echo(
        f'\nNext:\n  cd {shlex.quote(str(name))}\n  tuvl validate\n  tuvl run greet --input \'{{"name": "Ada"}}\''
    )
