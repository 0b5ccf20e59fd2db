"""What can be wrong with settings, as diagnostics. Imported only when something is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from tuvl_core.diagnostics import Code, Diagnostic, Location

if TYPE_CHECKING:
    from tuvl_core.settings.settings import Problem

__all__ = ["CODES", "diagnose", "nearest"]

BAD_VALUE: Final = Code(code="TUVL-S050", severity="error", klass="structure", title="a setting has no usable value")
UNKNOWN_SETTING: Final = Code(code="TUVL-S051", severity="error", klass="flow", title="a setting that nobody declares")
UNKNOWN_SECTION: Final = Code(
    code="TUVL-S052",
    severity="warning",
    klass="flow",
    title="a section of settings that no installed plugin owns",
)
BAD_FILE: Final = Code(code="TUVL-S053", severity="error", klass="structure", title="a settings file cannot be read")
CODES: Final = (BAD_VALUE, UNKNOWN_SETTING, UNKNOWN_SECTION, BAD_FILE)
_BY_KIND: Final = {
    "value": BAD_VALUE,
    "unknown": UNKNOWN_SETTING,
    "section": UNKNOWN_SECTION,
    "file": BAD_FILE,
}


def diagnose(problem: Problem) -> Diagnostic:
    """Make a diagnostic of a problem."""
    location = None
    message, hint = problem.message, problem.hint
    if problem.file is not None:
        line, column = problem.file.position(problem.name)
        if problem.file.problem is not None:
            text, line, column = problem.file.problem
            message = f"{problem.file.path} is no TOML that can be read: {text}"
            hint = "correct the file; until then it sets nothing, and plugins load at their strictest"
        location = Location(path=problem.file.path, line=line, column=column)
    return Diagnostic.of(_BY_KIND[problem.kind], message, location=location, hint=hint or None)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name nearest to another; None if none is near."""
    from difflib import get_close_matches

    near = get_close_matches(name, sorted(known), 1)
    return near[0] if near else None
