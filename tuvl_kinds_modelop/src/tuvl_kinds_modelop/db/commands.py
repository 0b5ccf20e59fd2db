"""`tuvl db`: bring databases to what the models define, by migrations that people review."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

__all__ = ["command"]

F = TypeVar("F", bound=Callable[..., Any])
_PATH: Final = click.Path(exists=True, file_okay=False, path_type=Path)
DIFFERENT: Final = 1


def _shared(function: F) -> F:
    """The options that every subcommand has."""
    directory = click.option(
        "-C", "directory", type=_PATH, default=Path(), metavar="DIR", help="The project's directory; here by itself."
    )
    source = click.option("--source", metavar="S", help="One DataSource; every one by itself.")
    as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
    return directory(source(as_json(function)))


@click.group("db")
def command() -> None:
    """Compare databases with the models, write migrations, and apply them."""


@command.command("create")
@_shared
def create(directory: Path, source: str | None, as_json: bool) -> None:
    """Create tables that are missing; for development. What is there is never altered."""
    from tuvl_kinds_modelop.db.work import create_all

    made = create_all(directory, source)
    if as_json:
        _echo_json({"sources": [{"source": name, "created": tables} for name, tables in made.items()]})
        return
    for name, tables in made.items():
        _echo(f"{name}: created {', '.join(tables)}" if tables else f"{name}: nothing to create")
    if not made:
        _echo("the project defines no models")


@command.command("check")
@_shared
@click.pass_context
def check(context: click.Context, directory: Path, source: str | None, as_json: bool) -> None:
    """Check that every database can be reached, and that its tables fit the models.

    Exit codes: 0 all is well; 1 a difference, or a database that cannot be reached; 2 wrong use; 3 the
    project is invalid.
    """
    from tuvl_kinds_modelop.db.work import check_all

    reports = check_all(directory, source)
    well = all(report.well for report in reports)
    if as_json:
        _echo_json({"ok": well, "sources": [report.to_json() for report in reports]})
    else:
        for report in reports:
            for line in report.lines():
                _echo(line)
    context.exit(0 if well else DIFFERENT)


@command.command("diff")
@_shared
@click.option("--write", "message", metavar="MESSAGE", help="Write a migration file of this name, to be reviewed.")
@click.pass_context
def diff(context: click.Context, directory: Path, source: str | None, as_json: bool, message: str | None) -> None:
    """Show what the models change, in words and as Alembic operations.

    Exit codes: 0 no difference, or it was written; 1 a difference, or a database that cannot be reached;
    2 wrong use; 3 the project is invalid.
    """
    from tuvl_kinds_modelop.db.work import diff_all

    if message is not None and not any(letter.isalnum() for letter in message):
        raise click.BadParameter('say what the migration is for, such as "add priority"', param_hint="'--write'")
    reports = diff_all(directory, source, message)
    if as_json:
        _echo_json({"sources": [report.to_json() for report in reports]})
    else:
        for report in reports:
            for line in report.lines(operations=message is None):
                _echo(line)
    context.exit(0 if message is not None or all(report.well for report in reports) else DIFFERENT)


@command.command("upgrade")
@_shared
@click.option("--to", "target", metavar="REV", default="head", help="The last revision to apply; all by itself.")
@click.option(
    "--dry-run", is_flag=True, help="Apply and roll back again: says what would happen, and whether it works."
)
@click.option("--sql", is_flag=True, help="As `--dry-run`, and print the SQL.")
def upgrade(directory: Path, source: str | None, as_json: bool, target: str, dry_run: bool, sql: bool) -> None:
    """Apply the migration files that a database lacks, all in one transaction.

    Exit codes: 0 applied; 1 failed, the database is as it was; 2 wrong use; 3 the project is invalid.
    """
    from tuvl_kinds_modelop.db.work import upgrade_all

    if as_json and sql:
        raise click.UsageError("--json and --sql cannot both have stdout; choose one")
    done = []
    try:
        for outcome in upgrade_all(directory, source, target, rehearse=dry_run or sql):
            done.append(outcome.to_json())
            if not as_json:
                for line in outcome.lines(sql=sql):
                    _echo(line)
    finally:
        if as_json:
            _echo_json({"sources": done})  # also where a later one fails


def _echo(text: str) -> None:
    click.echo(text.encode("utf-8", "replace").decode("utf-8"))


def _echo_json(value: Any) -> None:
    _echo(json.dumps(value, indent=2, ensure_ascii=False))
