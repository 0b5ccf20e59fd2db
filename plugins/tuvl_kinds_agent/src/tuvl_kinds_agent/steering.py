"""Steering files and skills: markdown that belongs to one agent, and to no other.

An agent may name files below its own directory, `agents/<workflow>__<step>/steering` or `…/skills`. What
counts is where a file really is once every link has been followed, not how its path begins.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal

import attrs

from tuvl_core import log_event

__all__ = ["Channel", "Guide", "GuideProblem", "load_guides", "read_guide", "scope_of"]

Channel = Literal["steering", "skills"]
MAX_BYTES: Final = 1_000_000
"""Nobody writes instructions longer than this; a model could not read them."""

_log = logging.getLogger("tuvl.agent")
_NO_SLUG_CHARACTER: Final = re.compile(r"[^A-Za-z0-9_.-]+")


@attrs.frozen
class Guide:
    """One file that an agent follows.

    Attributes:
        name: The file's name.
        text: What it says.
    """

    name: str
    text: str

    @property
    def section(self) -> str:
        """The file as a section of the system prompt."""
        return f"## {self.name}\n\n{self.text.strip()}"


class GuideProblem(Exception):
    """A file cannot be used.

    Attributes:
        out_of_scope: Whether it lies outside the agent's own directory.
    """

    def __init__(self, message: str, *, out_of_scope: bool) -> None:
        super().__init__(message)
        self.out_of_scope = out_of_scope


def scope_of(workflow: str, step_id: str, channel: Channel) -> str:
    """The directory, relative to the project, whose files the agent may name."""
    return f"agents/{_slug(workflow)}__{_slug(step_id)}/{channel}"


def read_guide(root: Path, scope: str, entry: str) -> Guide:
    """Read one file.

    Args:
        root: The project's directory.
        scope: The agent's own directory, from `scope_of`.
        entry: The path as written in the workflow.

    Raises:
        GuideProblem: It is out of scope, missing or no text.
    """
    real_root = root.resolve()
    try:
        path = (real_root / entry).resolve()
    except (OSError, ValueError, RuntimeError) as error:  # a loop of links, a zero byte
        raise GuideProblem(f"{entry!r} is no usable path: {error}", out_of_scope=True) from None
    # The scope itself is not resolved: a link in its place would open another agent's directory.
    if Path(entry).is_absolute() or not path.is_relative_to(real_root / scope):
        raise GuideProblem(
            f"{entry!r} is outside {scope}/, the only place this agent may read from",
            out_of_scope=True,
        )
    return Guide(Path(entry).name, _text_of(path, entry))


def load_guides(root: Path, workflow: str, step_id: str, channel: Channel, entries: Iterable[str]) -> list[Guide]:
    """Read what can be read; the rest is skipped with a warning, for it never stops a run."""
    scope = scope_of(workflow, step_id, channel)
    guides = []
    for entry in entries:
        try:
            guides.append(read_guide(root, scope, entry))
        except GuideProblem as problem:
            fields = {"workflow": workflow, "step_id": step_id, "problem": str(problem)}
            log_event(_log, logging.WARNING, f"autonomous_agent.{channel}_skipped", fields)
    return guides


def _slug(name: str) -> str:
    return _NO_SLUG_CHARACTER.sub("-", name)


def _text_of(path: Path, entry: str) -> str:
    if not path.is_file():  # a directory, a pipe, nothing
        raise GuideProblem(f"there is no file {entry!r}", out_of_scope=False)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise GuideProblem(f"{entry!r} is larger than {MAX_BYTES:,} bytes", out_of_scope=False)
        text = data.decode("utf-8-sig")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise GuideProblem(f"{entry!r} cannot be read: {reason}", out_of_scope=False) from None
    except UnicodeDecodeError:
        raise GuideProblem(f"{entry!r} is no UTF-8 text", out_of_scope=False) from None
    if "\0" in text:
        raise GuideProblem(f"{entry!r} is no text", out_of_scope=False)
    return text
