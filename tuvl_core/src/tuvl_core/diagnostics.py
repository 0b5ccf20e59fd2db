"""Findings about a project: what, where, why, and what to do.

A `Diagnostic` carries a stable code. `CODES` lists the kernel's own; a plugin contributes its codes
with its validators. Codes that start with `TUVL-` are first-party:

    TUVL-Y…  reading YAML          TUVL-S…  structure: keys, types, references, environment
    TUVL-W…  workflows, routing    TUVL-A…  AutonomousAgent and Agent
    TUVL-P…  plugins               TUVL-M…  models

A code's class says what it means for a run: a `structure` error refuses the run, a `flow` error
fails, or is skipped with a warning, when the run gets there.
"""

from __future__ import annotations

from typing import Any, Literal

import attrs

__all__ = ["Code", "Diagnostic", "Location", "Severity", "Suppression", "sort_diagnostics"]

Severity = Literal["error", "warning", "info"]
CodeClass = Literal["structure", "flow"]


@attrs.frozen(kw_only=True)
class Location:
    """A place in a file; `line` and `column` count from 1, in characters."""

    path: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


@attrs.frozen(kw_only=True)
class Code:
    """A stable kind of finding.

    Attributes:
        code: Such as `TUVL-W003`; third parties use a prefix of their own.
        severity: The severity a diagnostic of this code has.
        klass: `structure` refuses a run, `flow` shows when the run gets there.
        title: One line for lists and docs.
    """

    code: str
    severity: Severity
    klass: CodeClass
    title: str


@attrs.frozen(kw_only=True)
class Suppression:
    """Why a finding is not to be told: somebody has looked at it, and said so.

    Attributes:
        kind: `inSource`: a comment at its place; `external`: the project's settings.
        reason: Why it is right as it is.
    """

    kind: Literal["inSource", "external"]
    reason: str


@attrs.frozen(kw_only=True)
class Diagnostic:
    """One finding."""

    severity: Severity
    code: str
    message: str
    location: Location | None = None
    workflow: str | None = None
    step: str | None = None
    plugin: str | None = None
    hint: str | None = None
    klass: CodeClass = "structure"
    suppression: Suppression | None = None

    @classmethod
    def of(
        cls,
        code: Code,
        message: str,
        *,
        location: Location | None = None,
        workflow: str | None = None,
        step: str | None = None,
        plugin: str | None = None,
        hint: str | None = None,
    ) -> Diagnostic:
        """Build a diagnostic whose severity and class are the code's own."""
        return cls(
            severity=code.severity,
            code=code.code,
            message=message,
            location=location,
            workflow=workflow,
            step=step,
            plugin=plugin,
            hint=hint,
            klass=code.klass,
        )

    def to_json(self) -> dict[str, Any]:
        """Give the JSON object that `tuvl validate --format json` prints."""
        where = self.location
        found: dict[str, Any] = {
            "severity": self.severity,
            "code": self.code,
            "message": self.message,
            "path": where.path if where else None,
            "line": where.line if where else None,
            "column": where.column if where else None,
            "workflow": self.workflow,
            "step": self.step,
            "plugin": self.plugin,
            "hint": self.hint,
        }
        if self.suppression is not None:
            found["suppressions"] = [{"kind": self.suppression.kind, "justification": self.suppression.reason}]
        return found

    def __str__(self) -> str:
        place = f"{self.location}: " if self.location else ""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{place}{self.severity} {self.code}: {self.message}{hint}"


def sort_diagnostics(found: list[Diagnostic]) -> list[Diagnostic]:
    """Order findings by file, line, column, code and text, so that output never varies."""

    def key(item: Diagnostic) -> tuple[str, int, int, str, str]:
        where = item.location
        if where is None:
            return ("", 0, 0, item.code, item.message)
        return (where.path, where.line, where.column, item.code, item.message)

    return sorted(found, key=key)
