"""Dotted paths into data: `order.items.0.id`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from tuvl_core.errors import TemplateError
from tuvl_core.templates.values import plain
from tuvl_core.unset import UNSET
from tuvl_core.views import Secret

__all__ = ["Path", "Segment", "parse_path", "segment", "step_into", "walk"]

Segment = tuple[str, int | None]
"""A part of a path: its text, and the index it stands for in a list, if it is one."""

_INDEX: Final = re.compile(r"[0-9]{1,18}")


def segment(text: str) -> Segment:
    """Prepare one part of a path."""
    return text, int(text) if _INDEX.fullmatch(text) else None


def step_into(value: Any, part: Segment) -> Any:
    """Take one step: a mapping's entry or a list's item, never an attribute of an object.

    Returns:
        What is there, or UNSET. What lies in a secret is a secret.
    """
    text, index = part
    if isinstance(value, (list, tuple)):
        return value[index] if index is not None and index < len(value) else UNSET
    if isinstance(value, Mapping):
        found = value.get(text, UNSET)
        if found is UNSET and index is not None:
            return value.get(index, UNSET)  # its wire form shows such a key as text
        return found
    if isinstance(value, Secret):
        found = step_into(plain(value), part)
        return found if found is UNSET else Secret(found)
    return UNSET


def walk(value: Any, parts: tuple[Segment, ...]) -> Any:
    """Take one step after the other; UNSET where one leads nowhere."""
    for part in parts:
        value = step_into(value, part)
    return value


class Path:
    """A compiled dotted path. Digits index lists; in a mapping the text counts first.

    Any character but the dot may be part of a name, so `data.line-items.0` is a path too.
    """

    __slots__ = ("_segments", "parts", "source")

    source: str
    """The path as it was written."""
    parts: tuple[str, ...]
    """Its names, from the outside in."""

    def __init__(self, source: str, parts: tuple[str, ...]) -> None:
        self.source = source
        self.parts = parts
        self._segments = tuple([segment(part) for part in parts])

    @property
    def root(self) -> str:
        """The first name."""
        return self.parts[0]

    def get(self, value: Any, default: Any = UNSET) -> Any:
        """Look the path up in a value, such as a context or a parsed answer.

        Args:
            value: Where to start.
            default: What to give where the path leads nowhere.
        """
        found = walk(value, self._segments)
        return default if found is UNSET else found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Path) and other.parts == self.parts

    def __hash__(self) -> int:
        return hash(self.parts)

    def __str__(self) -> str:
        return self.source

    def __repr__(self) -> str:
        return f"Path({self.source!r})"


def parse_path(text: str) -> Path:
    """Compile a dotted path.

    Raises:
        TemplateError: There is nothing between two dots, before the first or after the last.
    """
    parts = tuple(text.split("."))
    offset = 0
    for part in parts:
        if not part.strip():
            raise TemplateError(f"{text!r} is no dotted path: a name is missing", offset)
        offset += len(part) + 1
    return Path(text, parts)
