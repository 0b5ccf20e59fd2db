"""What a step changed, and how it enters the context."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tuvl_core.context.names import is_private
from tuvl_core.unset import UNSET

__all__ = ["merge", "public_delta", "same"]


def public_delta(
    names_before: Mapping[str, Any], writes: Mapping[str, Any], deletes: Iterable[str] = ()
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Give the public keys that a step really changed.

    Args:
        names_before: What the step saw: for a tool call, its arguments over the context.
        writes: Keys it set. One that has the value it had before is no change.
        deletes: Keys it removed.

    Returns:
        The changed keys with their new values, and the removed keys.
    """
    read = getattr(names_before, "peek", names_before.get)  # an overlay is not to clone for this
    delta = {key: value for key, value in writes.items() if not is_private(key) and not same(read(key, UNSET), value)}
    return delta, tuple([key for key in deletes if not is_private(key)])


def merge(context: dict[str, Any], writes: Mapping[str, Any], deletes: Iterable[str] = ()) -> None:
    """Bring a step's changes into the context; a key that is both deleted and written stays."""
    for key in deletes:
        context.pop(key, None)
    context.update(writes)


def same(before: Any, after: Any) -> bool:
    """Whether two values are the same data: `1`, `1.0` and `True` are not.

    What cannot be compared counts as different.
    """
    if before is after:
        return True
    try:
        return bool(before == after) and _same_types(before, after)
    except Exception:  # a comparison of the value's own may raise anything, RecursionError included
        return False


def _same_types(before: Any, after: Any) -> bool:
    """Whether equal values also are of the same types, at every depth of plain data."""
    kind = type(before)
    if kind is not type(after):
        return False
    if kind is dict:
        # A key may be equal and yet differ, as 1 and True do.
        kinds = {key: type(key) for key in after}
        return all(type(key) is kinds[key] and _same_types(item, after[key]) for key, item in before.items())
    if kind is list or kind is tuple:
        return all(map(_same_types, before, after))
    return True
