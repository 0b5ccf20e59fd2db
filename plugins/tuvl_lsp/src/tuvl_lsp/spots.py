"""What stands at a place of a file: the path to it, and whether it is a key or a value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from tuvl_core import Document

__all__ = ["Spot", "find_text", "spot_at"]


@attrs.frozen(kw_only=True)
class Spot:
    """A key or a scalar of a document.

    Attributes:
        document: The document.
        path: The path of the value; of a key, the path that ends with it.
        key: Whether it is the key.
        text: Its text.
        start: Its first character in the file.
        end: The character behind it.
    """

    document: Document
    path: tuple[str | int, ...]
    key: bool
    text: str
    start: int
    end: int


def spot_at(documents: Iterable[Document], index: int) -> Spot | None:
    """The key or scalar at a character of the file."""
    for document in documents:
        root = document.root
        if root.start_mark.index <= index <= root.end_mark.index:
            found = _inside(document, root, (), index)
            if found is not None:
                return found
    return None


def _inside(document: Document, node: Any, path: tuple[str | int, ...], index: int) -> Spot | None:
    if node.id == "scalar":
        return _spot(document, node, path, key=False) if _covers(node, index) else None
    pairs = node.value if node.id == "mapping" else [(None, item) for item in node.value]
    for number, (key, value) in enumerate(pairs):
        below = (*path, key.value if key is not None and key.id == "scalar" else number)
        if key is not None and key.id == "scalar" and _covers(key, index):
            return _spot(document, key, below, key=True)
        if _covers(value, index) and (found := _inside(document, value, below, index)) is not None:
            return found
    return None


def _covers(node: Any, index: int) -> bool:
    return bool(node.start_mark.index <= index <= node.end_mark.index)


def _spot(document: Document, node: Any, path: tuple[str | int, ...], *, key: bool) -> Spot:
    return Spot(
        document=document,
        path=path,
        key=key,
        text=str(node.value),
        start=node.start_mark.index,
        end=node.end_mark.index,
    )


def find_text(documents: Iterable[Document], text: str) -> Spot | None:
    """The first key or scalar that is exactly this text."""
    for document in documents:
        found = _find(document, document.root, (), text)
        if found is not None:
            return found
    return None


def _find(document: Document, node: Any, path: tuple[str | int, ...], text: str) -> Spot | None:
    if node.id == "scalar":
        return _spot(document, node, path, key=False) if node.value == text else None
    pairs = node.value if node.id == "mapping" else [(None, item) for item in node.value]
    for number, (key, value) in enumerate(pairs):
        below = (*path, key.value if key is not None and key.id == "scalar" else number)
        if key is not None and key.id == "scalar" and key.value == text:
            return _spot(document, key, below, key=True)
        if (found := _find(document, value, below, text)) is not None:
            return found
    return None
