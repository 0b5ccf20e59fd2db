"""What goes wrong while data becomes typed values, before it has a place in a file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import attrs

from tuvl_core.diagnostics import Code

__all__ = ["Path", "Problem", "ProblemsError", "shown", "shown_path"]

Path = tuple[str | int, ...]

_MAX_SHOWN: Final = 40


@attrs.frozen(kw_only=True)
class Problem:
    """One thing that is wrong.

    Attributes:
        code: Its code.
        message: What is wrong, without the place.
        path: Where, below the value that is being read.
        hint: What to do.
        at_key: The key itself is wrong, not its value.
        offset: For text: the character that is wrong.
    """

    code: Code
    message: str
    path: Path = ()
    hint: str | None = None
    at_key: bool = False
    offset: int | None = None


class ProblemsError(Exception):
    """Carries problems up to whoever knows the place of the value."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = problems

    def below(self, *path: str | int) -> Iterable[Problem]:
        """The problems, as seen from further up."""
        return (attrs.evolve(problem, path=(*path, *problem.path)) for problem in self.problems)


def shown(value: Any) -> str:
    """A value of a file as messages show it, in the words of YAML."""
    if value is None:
        return "nothing (null)"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"the number {_short(repr(value))}"
    if isinstance(value, str):
        return f"the text {_short(repr(value))}"
    if isinstance(value, dict):
        return "a mapping"
    return "a list" if isinstance(value, list) else f"a {type(value).__name__}"


def shown_path(path: Path) -> str:
    """A path in the usual dotted form: `spec.steps[0].id`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _short(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"
