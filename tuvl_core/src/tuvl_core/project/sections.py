"""Keys that plugins add to workflows and steps, and keys that nobody knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from tuvl_core.diagnostics import Diagnostic
from tuvl_core.documents import Document
from tuvl_core.project.catalog import Catalog
from tuvl_core.structure import CODES as STRUCTURE_CODES
from tuvl_core.structure import Environment, Level, shown_path, structure, suggest

__all__ = ["read_sections", "unknown_keys"]

_UNKNOWN_KEY: Final = STRUCTURE_CODES[0]

Path = tuple[str | int, ...]


def read_sections(
    data: Mapping[str, Any],
    sections: Mapping[str, Any],
    *,
    document: Document,
    path: Path,
    environment: Environment,
    levels: Callable[[], Level],
) -> tuple[dict[str, Any], list[Diagnostic]]:
    """Read each section that the data holds; those that could not be read are left out."""
    values: dict[str, Any] = {}
    problems: list[Diagnostic] = []
    for key in data:
        if key not in sections:
            continue
        value, found = structure(
            data[key],
            sections[key].spec,
            document=document,
            path=(*path, key),
            environment=environment,
            levels=levels,
        )
        problems += found
        if not found:
            values[key] = value
    return values, problems


def unknown_keys(
    keys: Iterable[str],
    document: Document,
    path: Path,
    catalog: Catalog,
    levels: Callable[[], Level],
) -> list[Diagnostic]:
    """Complain about keys, naming the package that would bring one, or the key that was meant."""
    return [
        Diagnostic.of(
            _UNKNOWN_KEY,
            f"`{shown_path((*path, key))}` is no known key",
            location=document.locate((*path, key), key=True),
            hint=catalog.missing_package(key) or suggest(key, path, levels()),
        )
        for key in keys
    ]
