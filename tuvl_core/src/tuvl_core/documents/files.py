"""Which files of a project are read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

__all__ = ["find_files", "is_project_file"]

_SUFFIXES: Final = (".yaml", ".yml")
_SKIPPED: Final = frozenset(("tests", "node_modules", "__pycache__", "site-packages"))


def find_files(root: Path) -> list[Path]:
    """Find the YAML files of a project, in the order of their relative paths.

    Left out are hidden files and folders, virtual environments, `tests/`, `node_modules/` and
    `__pycache__/`. Linked folders are followed only to places inside the project, and no folder is
    read twice.
    """
    base = Path(os.path.realpath(root))
    seen: set[str] = set()
    found = sorted((name.split("/"), name) for name in _walk(str(base), "", str(base), seen))
    return [root / name for _, name in found]


def is_project_file(root: Path, name: str) -> bool:
    """Whether a file that lies, or would lie, at a relative path is one of the project's."""
    *folders, file = name.split("/")
    if any(part.startswith(".") for part in (*folders, file)) or not file.endswith(_SUFFIXES):
        return False
    if not _SKIPPED.isdisjoint(folders):
        return False
    return not any((root.joinpath(*folders[:end]) / "pyvenv.cfg").exists() for end in range(1, len(folders) + 1))


def _walk(folder: str, prefix: str, base: str, seen: set[str]) -> Iterator[str]:
    real = os.path.realpath(folder)
    if real in seen or os.path.commonpath((real, base)) != base:
        return
    seen.add(real)
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return  # A folder that may not be listed holds nothing for this user.
    folders = []
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if _is_dir(entry):
            folders.append(entry)
        elif entry.name.endswith(_SUFFIXES):
            yield f"{prefix}{entry.name}"
    for entry in folders:
        if entry.name in _SKIPPED or Path(entry.path, "pyvenv.cfg").exists():
            continue
        yield from _walk(entry.path, f"{prefix}{entry.name}/", base, seen)


def _is_dir(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
