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

_known: weakref.WeakKeyDictionary[type, bool] = weakref.WeakKeyDictionary()


def restore_source_text(data: Any, cls: Any, document: Document, path: Path) -> Any:
    """Give the data with source text where the type asks for it; the data itself stays."""
    if not isinstance(data, (dict, list)) or not _wants_source_text(cls):
        return data
    cls = unwrapped(cls)
    if joined := members(cls):
        for member in joined:
            data = restore_source_text(data, member, document, path)
        return data
    if isinstance(data, dict) and attrs.has(get_origin(cls) or cls):
        return _restore_class(data, get_origin(cls) or cls, document, path)
    if (isinstance(data, dict) and is_mapping_type(cls)) or (
        isinstance(data, list) and is_list_type(cls)
    ):
        inner = get_args(cls)[-1] if is_mapping_type(cls) else get_args(cls)[0]
        return _each(
            data, lambda key, item: restore_source_text(item, inner, document, (*path, key))
        )
    return data


def _restore_class(data: dict[str, Any], cls: type, document: Document, path: Path) -> Any:
    changed = {}
    for key in keys_of(cls):
        if key.name not in data:
            continue
        value, below = data[key.name], (*path, key.name)
        if key.meaning.source_text and not (value is None and type(None) in members(key.type)):
            changed[key.name] = _raw(value, document, below)
        else:
            changed[key.name] = restore_source_text(value, key.type, document, below)
    return {**data, **changed}


def _raw(data: Any, document: Document, path: Path) -> Any:
    """The source text of a scalar, or of every scalar in a list or mapping."""
    if isinstance(data, str):
        return data
    if isinstance(data, (dict, list)):
        return _each(data, lambda key, item: _raw(item, document, (*path, key)))
    raw = document.raw(path)
    return data if raw is None else raw


def _each(data: Any, change: Callable[[Any, Any], Any]) -> Any:
    if isinstance(data, dict):
        return {key: change(key, item) for key, item in data.items()}
    return [change(index, item) for index, item in enumerate(data)]


def _wants_source_text(cls: Any) -> bool:
    """Whether a source-text field lies anywhere in a type."""
    if not isinstance(cls, type) or get_args(cls):
        return any(_wants_source_text(argument) for argument in _inner_types(cls))
    if (known := _known.get(cls)) is None:
        known = _known[cls] = _reaches_source_text(cls)
    return known


def _reaches_source_text(cls: type) -> bool:
    seen: set[Any] = set()
    waiting: list[Any] = [cls]
    while waiting:
        inner = unwrapped(waiting.pop())
        origin = get_origin(inner) or inner
        if origin is Template or origin in seen:
            continue
        waiting.extend(_inner_types(inner))
        if attrs.has(origin):
            seen.add(origin)
            keys = keys_of(origin)
            if any(key.meaning.source_text for key in keys):
                return True
            waiting.extend(key.type for key in keys)
    return False


def _inner_types(cls: Any) -> Iterable[Any]:
    inner = unwrapped(cls)
    return (inner,) if inner is not cls else get_args(cls)
