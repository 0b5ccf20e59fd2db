"""Migration files, applied in order and in one transaction."""

from __future__ import annotations

import sys
import traceback
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any, Final

import attrs
import sqlalchemy as sa
from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import exc

from tuvl_core import TuvlError
from tuvl_kinds_modelop.db.copies import dangling, prepare_copies
from tuvl_kinds_modelop.db.places import Place
from tuvl_kinds_modelop.failures import translate
from tuvl_kinds_modelop.sources import IMMEDIATE

__all__ = ["Applied", "Revisions", "apply"]

_LOCK: Final = zlib.crc32(b"tuvl db upgrade")
_LOOKS: Final = ("SELECT", "PRAGMA", "SHOW")


@attrs.frozen(kw_only=True)
class Applied:
    """What was applied.

    Attributes:
        revisions: Revisions with what they say they do, in order.
        statements: The SQL that changed something.
    """

    revisions: tuple[tuple[str, str], ...]
    statements: tuple[str, ...]


class Revisions:
    """The migration files of a database.

    Args:
        place: The database.

    Raises:
        TuvlError: One of them cannot be read, or they do not follow each other.
    """

    def __init__(self, place: Place) -> None:
        self.place = place
        folder = place.versions
        self.folder = place.shown(folder)
        with self._told():
            self.scripts = ScriptDirectory(place.root, version_locations=[folder])
            self.heads = tuple(self.scripts.get_heads())

    @property
    def head(self) -> str | None:
        """The last revision; None where there is none.

        Raises:
            TuvlError: There are several.
        """
        if len(self.heads) > 1:
            names = " and ".join(sorted(self.heads))
            raise TuvlError(
                f"{self.folder}: {names} are both the last one; set the `down_revision` of one of them to the other"
            )
        return self.heads[0] if self.heads else None

    def pending(self, current: tuple[str, ...]) -> list[str]:
        """Revisions that a database lacks, in order.

        Raises:
            TuvlError: The database has a revision that is in no file.
        """
        if self.head is None and not current:
            return []
        with self._told(current):
            steps = self.scripts._upgrade_revs("head" if self.head else "base", current)  # type: ignore[arg-type]
            return [str(step.revision.revision) for step in steps]

    def steps(self, target: str, current: Any) -> list[Any]:
        """What leads from a revision to another.

        Raises:
            TuvlError: There is no such revision, or nothing leads there.
        """
        if target == "head" and self.head is None and not current:
            return []
        with self._told(current):
            found = list(self.scripts._upgrade_revs(target, current))
            if not found and target not in ("head", "heads"):
                wanted = self.scripts.get_revision(target)
                if wanted is None or wanted.revision not in current:
                    raise TuvlError(
                        f"{self.folder}: the database is beyond {target!r} already; an upgrade only goes forward"
                    )
            return found

    @contextmanager
    def _told(self, current: Any = ()) -> Iterator[None]:
        try:
            yield
        except TuvlError:
            raise
        except CommandError as error:
            at = f" (the database is at {', '.join(current)})" if current else ""
            raise TuvlError(f"{self.folder}: {str(error).rstrip('.')}{at}") from error
        except Exception as error:
            raise TuvlError(f"{self.folder}: a migration file cannot be read: {self.problem(error)}") from error

    def problem(self, error: Exception) -> str:
        """What went wrong in a migration file, and where; of the database's words none that may hold values."""
        if isinstance(error, exc.DBAPIError):
            return f"{translate(error, 'its SQL')}{_syntax(error)}"
        if isinstance(error, SyntaxError):
            return f"{error.msg} ({self.folder}/{Path(error.filename or '?').name}, line {error.lineno})"
        frames = traceback.extract_tb(error.__traceback__)
        folder = self.place.versions.resolve()
        own = [frame for frame in frames if Path(frame.filename).parent == folder]
        where = f" ({self.folder}/{Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""
        if any(frame.name == "autocommit_block" for frame in frames):
            return f"`autocommit_block` would end the one transaction that all migrations share{where}"
        return f"{type(error).__name__}: {error}{where}"


def apply(connection: sa.Connection, revisions: Revisions, target: str, *, rehearse: bool) -> Applied:
    """Apply every migration up to a revision, in one transaction.

    Args:
        connection: A connection that has no transaction yet.
        revisions: The migration files.
        target: The last revision to apply, or `head`.
        rehearse: Roll back in the end.

    Raises:
        TuvlError: One failed; the database is as it was.
    """
    place = revisions.place
    done: list[tuple[str, str]] = []
    statements: list[str] = []
    with _locked(connection, place) as transaction:
        before = dangling(connection)
        with _listening(connection, statements):
            _run(connection, revisions, target, done)
        if lost := dangling(connection) - before:
            tables = " and ".join(sorted(f"{table} to {other}" for table, other in lost))
            raise TuvlError(
                f"data source {place}: nothing was applied: rows would refer to rows that are not there, from {tables}"
            )
        if rehearse:
            transaction.rollback()
    return Applied(revisions=tuple(done), statements=tuple(statements))


def _run(connection: sa.Connection, revisions: Revisions, target: str, done: list[tuple[str, str]]) -> None:
    running: list[Any] = []

    def steps(current: Any, context: Any) -> Iterator[Any]:
        for step in revisions.steps(target, current):
            running.append(step)
            yield step
            done.append((step.revision.revision, step.revision.doc))

    try:
        environment = EnvironmentContext(Config(), revisions.scripts, fn=steps, destination_rev=target)
        # What a migration prints is not what the command says.
        with environment, redirect_stdout(sys.stderr):
            environment.configure(connection=connection)
            environment.run_migrations()
    except TuvlError:
        raise
    except Exception as error:
        if not running:
            raise
        failed = running[-1].revision
        raise TuvlError(
            f"data source {revisions.place}: revision {failed.revision} ({failed.doc}) failed, and nothing was "
            f"applied: {revisions.problem(error)}"
        ) from error


@contextmanager
def _locked(connection: sa.Connection, place: Place) -> Iterator[sa.RootTransaction]:
    """A transaction that no other upgrade has beside it."""
    if place.source.sqlite:
        prepare_copies(connection)
        connection = connection.execution_options(**{IMMEDIATE: place.wait_ms})
    else:
        # Whoever waited for the lock must see what the other one did.
        connection = connection.execution_options(isolation_level="READ COMMITTED")
    with connection.begin() as transaction:
        if not place.source.sqlite:
            try:
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
            except exc.DBAPIError as error:
                problem = translate(error, f"data source {place}")
                if problem.type != "db_busy":
                    raise
                raise TuvlError(
                    f"data source {place}: another `tuvl db upgrade` is at work, and did not end within "
                    f"{place.source.wait_s:g} s (TUVL_DB_WAIT_S)"
                ) from error
        yield transaction


@contextmanager
def _listening(connection: sa.Connection, statements: list[str]) -> Iterator[None]:
    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if not statement.lstrip().upper().startswith(_LOOKS):
            shown = f"{statement.strip()};"
            statements.append(f"{shown}  -- with {parameters}" if parameters else shown)

    listener: Callable[..., None] = note
    sa.event.listen(connection, "before_cursor_execute", listener)
    try:
        yield
    finally:
        sa.event.remove(connection, "before_cursor_execute", listener)


def _syntax(error: exc.DBAPIError) -> str:
    """The database's own words about a statement that it does not understand: they are about names, not values."""
    cause: BaseException | None = error.orig
    while cause is not None and cause.__cause__ is not None:
        cause = cause.__cause__
    text = str(cause or "").partition("\n")[0]
    state = str(getattr(cause, "sqlstate", "") or "")
    understood = not state.startswith("42") and not (not state and isinstance(error, exc.OperationalError))
    return "" if understood else f": {text}"
