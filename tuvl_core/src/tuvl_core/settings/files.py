"""Reads `tuvl.toml` and `[tool.tuvl]`, and finds the line of a key for messages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["SettingsFile", "read_files"]


@dataclass(frozen=True, kw_only=True)
class SettingsFile:
    """One file that may set something.

    Attributes:
        path: As shown in messages, relative to the project.
        values: Values by setting name, tables below one section as they are.
        prefix: The TOML table that settings lie in, such as `tool.tuvl`.
        text: The source.
        problem: What is wrong with the file as a whole, with line and column; None if nothing is.
    """

    path: str
    values: Mapping[str, Any] = field(default_factory=dict)
    prefix: str = ""
    text: str = ""
    problem: tuple[str, int, int] | None = None

    def position(self, name: str) -> tuple[int, int]:
        """Line and column of a setting's key; of the file's start if it cannot be told."""
        section, _, key = name.rpartition(".")
        table = f"{self.prefix}.{section}".strip(".")
        for number, column, path in _keys(self.text):
            if path in (f"{table}.{key}".strip("."), f"{self.prefix}.{name}".strip(".")):
                return number, column
        return 1, 1

    def entry(self, name: str, index: int) -> tuple[int, int]:
        """Line and column of one table of a list of tables; good enough for messages."""
        line, column = self.position(name)
        table = re.escape(f"{self.prefix}.{name}".strip("."))
        heads = list(re.finditer(rf"^[ \t]*\[\[[ \t]*({table})[ \t]*\]\]", self.text, re.M))
        if index < len(heads):  # written as `[[section.key]]`, once for each table
            return self._at(heads[index].start(1))
        start = sum(map(len, self.text.splitlines(keepends=True)[: line - 1])) + column - 1
        opened = [match.start() for match in re.finditer(r"\{", self.text[start:])]
        if index >= len(opened):
            return line, column
        return self._at(start + opened[index])

    def _at(self, index: int) -> tuple[int, int]:
        before = self.text[:index]
        return before.count("\n") + 1, len(before) - before.rfind("\n")


def read_files(root: Path) -> list[SettingsFile]:
    """The project's settings files, the stronger one first."""
    own = _read(root / "tuvl.toml", "tuvl.toml", "")
    shared = _read(root / "pyproject.toml", "pyproject.toml", "tool.tuvl")
    return [file for file in (own, shared) if file is not None]


def _read(path: Path, shown: str, prefix: str) -> SettingsFile | None:
    if path.exists() and not path.is_file():  # a pipe would be waited for without end
        return None if prefix else SettingsFile(path=shown, problem=("cannot be read: it is no regular file", 1, 1))
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        # A pyproject.toml that nobody can read is other tools' business too.
        return None if prefix else SettingsFile(path=shown, problem=(f"cannot be read: {error}", 1, 1))
    if prefix and f"{prefix.split('.')[-1]}" not in text:
        return None
    import tomllib

    try:
        tables: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return SettingsFile(path=shown, prefix=prefix, text=text, problem=_placed(str(error)))
    for part in filter(None, prefix.split(".")):
        tables = tables.get(part, {}) if isinstance(tables, dict) else {}
    if not isinstance(tables, dict) or not tables:
        return None
    return SettingsFile(path=shown, values=dict(_flat(tables)), prefix=prefix, text=text)


def _flat(tables: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in tables.items():
        if isinstance(value, dict):
            yield from ((f"{key}.{inner}", below) for inner, below in value.items())
        else:
            yield key, value


def _placed(message: str) -> tuple[str, int, int]:
    match = re.search(r" \(at line (\d+), column (\d+)\)$", message)
    if match is None:
        return message, 1, 1
    return message[: match.start()], int(match[1]), int(match[2])


def _keys(text: str) -> Iterator[tuple[int, int, str]]:
    """Line, column and dotted path of each table head and key; good enough for messages."""
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        if head := re.match(r"\s*\[{1,2}\s*([^\[\]]+?)\s*\]", line):
            table = head[1].replace('"', "").replace(" ", "")
            yield number, head.start(1) + 1, table
        elif key := re.match(r"\s*([A-Za-z0-9_.\"'-]+)\s*=", line):
            path = f"{table}.{key[1]}".strip(".").replace('"', "").replace("'", "")
            yield number, key.start(1) + 1, path
