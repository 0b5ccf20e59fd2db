"""Fields that are what was written: ids, signals, names.

In plain data `true` is a boolean and `1.10` a number. Where a class wants the source text, it is
put back before the class is filled.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any, get_args, get_origin

import attrs

from tuvl_core.documents import Document
from tuvl_core.structure.containers import is_list_type, is_mapping_type, members
from tuvl_core.structure.fields import keys_of
from tuvl_core.structure.problems import Path
from tuvl_core.structure.unions import unwrapped
from tuvl_core.templates import Template

__all__ = ["restore_source_text"]


@attrs.frozen
class _Field:
    """A key with source text in it: of its own, or further down in its type."""

    name: str
    own: bool
    optional: bool
    type: Any


_known: weakref.WeakKeyDictionary[type, tuple[_Field, ...]] = weakref.WeakKeyDictionary()


def restore_source_text(data: Any, cls: Any, document: Document, path: Path) -> Any:
    """Give the data with source text where the type asks for it; the data itself stays."""
    if not isinstance(data, (dict, list)):
        return data
    if isinstance(cls, type) and attrs.has(cls):
        return _restore_class(data, cls, document, path) if isinstance(data, dict) else data
    cls = unwrapped(cls)
    if joined := members(cls):
        for member in joined:
            data = restore_source_text(data, member, document, path)
        return data
    origin, arguments = get_origin(cls), get_args(cls)
    if attrs.has(origin or cls):
        return restore_source_text(data, origin or cls, document, path)
    fits = is_mapping_type if isinstance(data, dict) else is_list_type
    if not arguments or not fits(cls) or not _wants_source_text(arguments):
        return data
    inner = arguments[-1] if isinstance(data, dict) else arguments[0]
    return _each(data, lambda key, item: restore_source_text(item, inner, document, (*path, key)))


def _restore_class(data: dict[str, Any], cls: type, document: Document, path: Path) -> Any:
    changed = {}
    for field in _fields(cls):
        if field.name not in data:
            continue
        value, below = data[field.name], (*path, field.name)
        if not field.own:
            restored = restore_source_text(value, field.type, document, below)
        elif value is None and field.optional:
            restored = None
        else:
            restored = _raw(value, document, below)
        if restored is not value:
            changed[field.name] = restored
    return {**data, **changed} if changed else data


def _raw(data: Any, document: Document, path: Path) -> Any:
    """The source text of a scalar, or of every scalar in a list or mapping."""
    if isinstance(data, str):
        return data
    if isinstance(data, (dict, list)):
        items = data.values() if isinstance(data, dict) else data
        if all(isinstance(item, str) for item in items):
            return data
        return _each(data, lambda key, item: _raw(item, document, (*path, key)))
    raw = document.raw(path)
    return data if raw is None else raw


def _each(data: Any, change: Callable[[Any, Any], Any]) -> Any:
    if isinstance(data, dict):
        return {key: change(key, item) for key, item in data.items()}
    return [change(index, item) for index, item in enumerate(data)]


def _fields(cls: type) -> tuple[_Field, ...]:
    """The keys of a class that have source text in them."""
    if (known := _known.get(cls)) is None:
        known = _known[cls] = tuple(
            _Field(
                key.name,
                key.meaning.source_text,
                type(None) in members(key.type),
                key.type,
            )
            for key in keys_of(cls)
            if key.meaning.source_text or _wants_source_text((key.type,))
        )
    return known


def _wants_source_text(types: Iterable[Any]) -> bool:
    """Whether a source-text field lies anywhere in types."""
    seen: set[Any] = set()
    waiting: list[Any] = list(types)
    while waiting:
        inner = unwrapped(waiting.pop())
        origin = get_origin(inner) or inner
        if origin is Template or origin in seen:
            continue
        waiting.extend(get_args(inner))
        if attrs.has(origin):
            seen.add(origin)
            keys = keys_of(origin)
            if any(key.meaning.source_text for key in keys):
                return True
            waiting.extend(key.type for key in keys)
    return False
