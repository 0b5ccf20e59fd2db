"""From what a driver raises to what a person can use: a short name, and what to do. Never a value of a row."""

from __future__ import annotations

import re
from typing import Final

from sqlalchemy import exc

from tuvl_core import StepError

__all__ = ["CONFLICTS", "DatabaseFailedError", "is_lost", "translate"]

CONFLICTS: Final = frozenset({"deadlock", "serialization_failure"})
"""Failures after which doing the same again may succeed."""


class DatabaseFailedError(StepError):
    """A statement failed. `lost`: the connection, and with it the transaction, is gone."""

    default_type = "database"

    def __init__(self, message: str, *, type: str, lost: bool = False) -> None:
        super().__init__(message, type=type)
        self.lost = lost


_SQLSTATES: Final = {
    "23505": ("unique", "a record with this value is there already"),
    "23503": ("foreign_key", "it refers to a record that is not there, or that others refer to"),
    "23502": ("required", "a field that must have a value has none"),
    "23514": ("check", "a value is not one of those that the table takes"),
    "40001": ("serialization_failure", "another transaction changed the same records"),
    "40P01": ("deadlock", "this transaction and another waited for each other"),
    "55P03": ("db_busy", "another transaction holds the records, and did not let go in time"),
    "57014": ("db_timeout", "the statement took longer than the server allows"),
    "53100": ("disk_full", "the server's disk is full"),
    "53300": ("db_busy", "the server takes no more connections"),
    "42P01": ("no_table", "the table is not there; `tuvl db diff` shows what is missing, `tuvl db upgrade` makes it"),
    "42703": ("no_column", "the table lacks a field of the definition; `tuvl db diff` shows it"),
    "42501": ("denied", "the database user may not do this"),
    "28P01": ("db_denied", "the database does not accept the user's password"),
    "28000": ("db_denied", "the database does not let this user in"),
    "3D000": ("no_database", "there is no database of that name on the server"),
}
_SQLITE: Final = (
    (
        r"database is locked|database table is locked",
        "db_busy",
        "another process or run writes, and did not end in time",
    ),
    (r"UNIQUE constraint failed", "unique", "a record with this value is there already"),
    (
        r"FOREIGN KEY constraint failed",
        "foreign_key",
        "it refers to a record that is not there, or that others refer to",
    ),
    (r"NOT NULL constraint failed", "required", "a field that must have a value has none"),
    (r"CHECK constraint failed", "check", "a value is not one of those that the table takes"),
    (r"database or disk is full", "disk_full", "the disk is full"),
    (
        r"no such table",
        "no_table",
        "the table is not there; `tuvl db diff` shows what is missing, `tuvl db upgrade` makes it",
    ),
    (
        r"no such column|has no column named",
        "no_column",
        "the table lacks a field of the definition; `tuvl db diff` shows it",
    ),
    (r"unable to open database file", "no_database", "the file cannot be opened"),
    (r"readonly database|read-only", "denied", "the file may not be written"),
    (r"disk I/O error", "disk", "the disk failed"),
    (r"malformed|not a database", "no_database", "the file is no SQLite database, or is damaged"),
)
_NAMES: Final = ("constraint_name", "column_name", "table_name")


def translate(error: BaseException, what: str) -> DatabaseFailedError:
    """Say what a driver's error means.

    Args:
        error: What SQLAlchemy, or the driver below it, raised.
        what: What was being done, for people: `create Order`.
    """
    lost = is_lost(error)
    if isinstance(error, exc.TimeoutError):
        return DatabaseFailedError(
            f"{what}: every connection of the pool is in use, and none came free in time", type="db_busy"
        )
    cause = _driver_error(error)
    name, text = _known(cause)
    if lost and name == "database":
        name, text = "connection_lost", "the connection to the database is gone, and with it what was not committed"
    return DatabaseFailedError(f"{what}: {text}{_place(cause)}", type=name, lost=lost)


def is_lost(error: BaseException) -> bool:
    """Whether the connection is of no use any more."""
    if isinstance(error, exc.DBAPIError):
        return bool(error.connection_invalidated)
    return isinstance(error, (OSError, exc.ResourceClosedError, exc.PendingRollbackError))


def _driver_error(error: BaseException) -> BaseException:
    """The driver's own error, below SQLAlchemy's layers."""
    found = error.orig if isinstance(error, exc.DBAPIError) and error.orig is not None else error
    while found.__cause__ is not None:
        found = found.__cause__
    return found


def _known(error: BaseException) -> tuple[str, str]:
    state = str(getattr(error, "sqlstate", "") or "")
    if state in _SQLSTATES:
        return _SQLSTATES[state]
    if state[:2] == "08":
        return "connection_lost", "the connection to the database is gone, and with it what was not committed"
    if state[:2] == "57":
        return "connection_lost", "the server ended the connection; what was not committed is gone"
    message = str(error)
    for pattern, name, text in _SQLITE:
        if re.search(pattern, message):
            return name, text
    if isinstance(error, (ConnectionError, OSError)):
        return "connection_lost", "the database cannot be reached"
    # Only the class: the text of an error may hold values.
    return "database", f"the database refused it ({type(error).__name__}{f', {state}' if state else ''})"


def _place(error: BaseException) -> str:
    """Names of what was violated, as far as they are known; names only, for details hold values."""
    names = [str(value) for name in _NAMES if (value := getattr(error, name, None))]
    if not names:
        found = re.search(r"constraint failed: ([\w., ]+)", str(error)) or re.search(
            r"no such \w+: ([\w.]+)", str(error)
        )
        names = [found[1].strip()] if found else []
    return f" ({', '.join(dict.fromkeys(names))})" if names else ""
