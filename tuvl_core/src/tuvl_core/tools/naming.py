"""The names under which models know tools."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

__all__ = ["wire_names"]

_MAX_LENGTH: Final = 64
_HASH_LENGTH: Final = 8
# What all providers accept: some also want a letter or an underscore at the start.
_VALID: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_OTHER: Final = re.compile(r"[^A-Za-z0-9_-]+")


def wire_names(refs: Iterable[str]) -> dict[str, str]:
    """Give every ref one name that every provider accepts, and no two refs the same.

    A ref that is such a name keeps it. Any other gets what is readable of it and a hash, so that it
    has the same name in every run. People are always shown the ref.

    Args:
        refs: Refs of tools, in any order.

    Returns:
        Ref to wire name.
    """
    distinct = list(dict.fromkeys(refs))
    names = {ref: ref for ref in distinct if _VALID.fullmatch(ref)}
    taken = set(names)
    for ref in sorted(set(distinct) - taken):
        names[ref] = name = _alias(ref, taken)
        taken.add(name)
    return {ref: names[ref] for ref in distinct}


def _alias(ref: str, taken: set[str]) -> str:
    import hashlib

    readable = _OTHER.sub("_", ref).strip("_-")
    if not readable[:1].isalpha():
        readable = f"tool_{readable}".rstrip("_")
    digest = hashlib.sha256(ref.encode("utf-8", "surrogatepass")).hexdigest()
    length = _HASH_LENGTH
    while True:
        # A longer hash gives way to a ref that happens to be spelled like this alias.
        suffix = f"_{digest[:length]}"
        name = readable[: _MAX_LENGTH - len(suffix)] + suffix
        if name not in taken:
            return name
        length += 1
