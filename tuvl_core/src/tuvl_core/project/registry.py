"""Definitions by kind, name and version."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tuvl_core.diagnostics import Diagnostic
from tuvl_core.project import codes
from tuvl_core.project.definition import Definition

__all__ = ["Registry"]

Key = tuple[str, str, str]


class Registry:
    """Every definition of a project; those that are turned off are found, but not listed."""

    def __init__(self) -> None:
        """Start empty."""
        self._all: list[Definition[Any]] = []
        self._by_kind: dict[str, list[Definition[Any]]] = {}
        self._by_key: dict[Key, Definition[Any]] = {}
        self._listed: dict[str, dict[str, Definition[Any]]] = {}

    def add(self, definition: Definition[Any], *, unique: bool) -> None:
        """Add a definition; of two with one kind, name and version both are told."""
        self._all.append(definition)
        self._by_kind.setdefault(definition.kind, []).append(definition)
        key = (definition.kind, definition.name, definition.schema_version)
        other = self._by_key.get(key)
        if other is not None and definition.enabled and other.enabled:
            if unique:
                definition.add_problem(_duplicate(definition, other))
                other.add_problem(_duplicate(other, definition))
            return
        if other is None or not other.enabled:
            self._by_key[key] = definition
        if definition.enabled:
            self._list(definition)

    def _list(self, definition: Definition[Any]) -> None:
        named = self._listed.setdefault(definition.kind, {})
        other = named.get(definition.name)
        if other is None or _order(definition.schema_version) > _order(other.schema_version):
            named[definition.name] = definition

    def all(self, kind: str | None = None) -> Iterator[Definition[Any]]:
        """Every definition, in file order."""
        return iter(self._all if kind is None else self._by_kind.get(kind, ()))

    def by_name(self, kind: str) -> Mapping[str, Definition[Any]]:
        """The enabled definitions of a kind; of several versions the newest."""
        return self._listed.get(kind, {})

    def find(self, kind: str, name: str, version: str | None) -> Definition[Any] | None:
        """One definition; without a version the newest, enabled ones first."""
        if version is not None:
            return self._by_key.get((kind, name, version))
        listed = self._listed.get(kind, {}).get(name)
        if listed is not None:
            return listed
        return next((item for item in self.all(kind) if item.name == name), None)


def _order(version: str) -> list[tuple[int, int, str]]:
    """Sort versions as people do: `v2` before `v10`."""
    parts = re.findall(r"\d{1,18}|\D+", version)
    return [(1, int(part), "") if part[0].isdecimal() else (0, 0, part) for part in parts]


def _duplicate(one: Definition[Any], other: Definition[Any]) -> Diagnostic:
    there = other.locate("metadata", "name")
    return Diagnostic.of(
        codes.DUPLICATE_DOCUMENT,
        f"another {one.kind} is named `{one.name}` ({one.schema_version}): {there}",
        location=one.locate("metadata", "name"),
        hint="rename one of them, give it another `schema_version`, or set `enabled: false`",
    )
