"""What the subcommands of `tuvl db` do, and what they have to say."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import click
import sqlalchemy as sa

from tuvl_core import TuvlError
from tuvl_kinds_modelop.db.changes import Changes, find_changes
from tuvl_kinds_modelop.db.files import Script, script_of, write_file
from tuvl_kinds_modelop.db.places import Place, find_places
from tuvl_kinds_modelop.db.upgrading import Applied, Revisions, apply
from tuvl_kinds_modelop.db.words import Change, told
from tuvl_kinds_modelop.sources import IMMEDIATE

__all__ = ["Outcome", "Report", "check_all", "create_all", "diff_all", "upgrade_all"]


@attrs.frozen(kw_only=True)
class Report:
    """What lies between a database and the models.

    Attributes:
        place: The database, as text.
        source: The name of its data source.
        changes: What the models change.
        problem: Why nothing is known, or None.
        unmanaged: Tables that no model defines.
        pending: Revisions of migration files that are not applied.
        script: The changes as Python, where they were asked for.
        file: The migration file that was written.
    """

    place: str
    source: str
    changes: tuple[Change, ...] = ()
    problem: str | None = None
    unmanaged: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    script: Script | None = None
    file: str | None = None

    @property
    def well(self) -> bool:
        """Whether the tables are what the models define."""
        return self.problem is None and not self.changes

    @property
    def warnings(self) -> list[str]:
        """What is to be considered before the changes are made."""
        found = [item.warning for item in self.changes if item.warning is not None]
        unfilled = self.script.unfilled if self.script is not None else ()
        return found + [
            f"{name} is required and has no default: say in the migration file what rows that are there get"
            for name in unfilled
        ]

    def lines(self, *, operations: bool = False) -> Iterator[str]:
        """The report for people."""
        if self.problem is not None:
            yield f"{self.place}: {self.problem}"
            return
        if not self.changes:
            yield f"{self.place}: the tables are what the models define"
        else:
            yield f"{self.place}: {_counted(len(self.changes), 'difference')}"
        yield from (f"  {change}" for change in self.changes)
        yield from (f"  warning: {text}" for text in self.warnings)
        if self.pending:
            yield f"  hint: `tuvl db upgrade` applies {_counted(len(self.pending), 'migration')} that it lacks"
        if operations and self.changes and self.script is not None:
            yield ""
            yield from (f"    {line}".rstrip() for line in self.script.upgrade.splitlines())
        if self.file is not None:
            yield f"wrote {self.file}: review it, then `tuvl db upgrade`"

    def to_json(self) -> dict[str, Any]:
        """The report for programs."""
        data: dict[str, Any] = {
            "source": self.source,
            "problem": self.problem,
            "changes": [change.to_json() for change in self.changes],
            "warnings": self.warnings,
            "pending": list(self.pending),
            "unmanaged": list(self.unmanaged),
        }
        if self.script is not None:
            data["operations"] = self.script.upgrade if self.changes else ""
            data["file"] = self.file
        return data


@attrs.frozen(kw_only=True)
class Outcome:
    """What an upgrade did to a database.

    Attributes:
        place: The database, as text.
        source: The name of its data source.
        applied: What was applied.
        rehearsed: Whether it was rolled back again.
    """

    place: str
    source: str
    applied: Applied
    rehearsed: bool

    def lines(self, *, sql: bool = False) -> Iterator[str]:
        """The outcome for people."""
        if sql:
            yield f"-- {self.place}"
            yield from self.applied.statements
            return
        if not self.applied.revisions:
            yield f"{self.place}: no migration to apply"
            return
        verb = "would apply" if self.rehearsed else "applied"
        yield f"{self.place}: {verb} {_counted(len(self.applied.revisions), 'migration')}"
        yield from (f"  {revision}  {message}" for revision, message in self.applied.revisions)

    def to_json(self) -> dict[str, Any]:
        """The outcome for programs."""
        listed = [{"revision": revision, "message": message} for revision, message in self.applied.revisions]
        return {"source": self.source, "applied": listed, "rolled_back": self.rehearsed}


def create_all(directory: Path, source: str | None) -> dict[str, list[str]]:
    """Create tables that are missing.

    Returns:
        The tables that were made, by data source.

    Raises:
        TuvlError: It failed.
    """
    places = [place for place in find_places(directory, source) if place.models]
    return {place.name: asyncio.run(place.write(partial(_create, place=place))) for place in places}


def check_all(directory: Path, source: str | None) -> list[Report]:
    """Compare databases with the models."""
    return [_report(place, script=False) for place in find_places(directory, source)]


def diff_all(directory: Path, source: str | None, message: str | None) -> list[Report]:
    """Compare databases with the models, and say how the one becomes the other.

    Args:
        directory: The project's directory.
        source: One data source; None: every one.
        message: Write a migration file that says so.

    Raises:
        TuvlError: A database cannot be reached, or lacks migrations that are there already.
    """
    places = find_places(directory, source)
    reports = [_report(place, script=True) for place in places]
    if message is None:
        return reports
    for report in reports:
        if report.problem is not None:
            raise TuvlError(f"{report.place}: {report.problem}")
        if report.pending:
            lacks = _counted(len(report.pending), "migration")
            raise TuvlError(f"{report.place}: it lacks {lacks}; `tuvl db upgrade` first, then write the next one")
    return [_written(place, report, message) for place, report in zip(places, reports, strict=True)]


def upgrade_all(directory: Path, source: str | None, target: str, *, rehearse: bool) -> Iterator[Outcome]:
    """Apply migration files, one data source after the other.

    Raises:
        TuvlError: One failed; that database is as it was.
        click.UsageError: A revision is meant, and there are several data sources.
    """
    places = find_places(directory, source)
    if target != "head" and len(places) > 1:
        names = ", ".join(place.name for place in places)
        raise click.UsageError(f"`--to` is a revision of one data source: name it with `--source`; there are {names}")
    for place in places:
        revisions = Revisions(place)
        applied = asyncio.run(_upgrade(place, revisions, target, rehearse=rehearse))
        yield Outcome(place=str(place), source=place.name, applied=applied, rehearsed=rehearse)


async def _upgrade(place: Place, revisions: Revisions, target: str, *, rehearse: bool) -> Applied:
    if not revisions.heads and place.missing:
        return Applied(revisions=(), statements=())
    use = place.read if rehearse and place.missing else place.write
    return await use(lambda connection: apply(connection, revisions, target, rehearse=rehearse))


def _create(connection: sa.Connection, place: Place) -> list[str]:
    if place.source.sqlite:
        connection = connection.execution_options(**{IMMEDIATE: place.wait_ms})
    metadata = place.source.metadata
    with connection.begin():
        there = set(sa.inspect(connection).get_table_names())
        metadata.create_all(connection)
    return sorted(set(metadata.tables) - there)


def _report(place: Place, *, script: bool) -> Report:
    report = Report(place=str(place), source=place.name)
    try:
        revisions = Revisions(place)
        changes: Changes = asyncio.run(place.read(lambda found: find_changes(found, place.source.metadata)))
        pending = tuple(revisions.pending(changes.heads))
    except TuvlError as error:
        return attrs.evolve(report, problem=str(error).removeprefix(f"data source {place}: "))
    return attrs.evolve(
        report,
        changes=tuple(told(changes.upgrade, changes.context.dialect)),
        unmanaged=changes.unmanaged,
        pending=pending,
        script=script_of(changes, place.models) if script else None,
    )


def _written(place: Place, report: Report, message: str) -> Report:
    if not report.changes or report.script is None:
        return report
    path = write_file(place.versions, message, Revisions(place).head, report.script)
    return attrs.evolve(report, file=place.shown(path))


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
