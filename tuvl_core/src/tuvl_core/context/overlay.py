"""A view of a context that a step may change without anyone else noticing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any

from tuvl_core.context.cloning import ATOMIC, clone
from tuvl_core.unset import UNSET

__all__ = ["Overlay"]


class Overlay(MutableMapping[str, Any]):
    """A mapping over a base: reads are isolated copies, writes and deletions stay here.

    A value that can be changed is cloned when it is first read, and the clone is remembered: what a
    step does to it, the step sees, and nobody else. Only what is set or deleted by key counts as a
    change. It is no `dict`, so that nothing reads around it.

    Args:
        base: The context; another overlay where agents nest. Never changed.
        arguments: Of a tool call: seen over the base, and no change by themselves.
    """

    __slots__ = ("_arguments", "_base", "_changes", "_own")

    def __init__(self, base: Mapping[str, Any], arguments: Mapping[str, Any] | None = None) -> None:
        self._base = base
        self._arguments = arguments
        self._own: dict[str, Any] = {}  # clones that were read, and writes
        self._changes: dict[str, bool] | None = None  # True: written, False: deleted

    def __getitem__(self, key: str) -> Any:
        own = self._own
        if own and key in own:
            return own[key]
        base = self._base
        if type(base) is not Overlay and self._arguments is None and self._changes is None:
            value = base.get(key, UNSET)  # as `_below` would, for the steps of a spine
        else:
            value = self._below(key, UNSET)
        if value is UNSET:
            raise KeyError(key)
        if type(value) in ATOMIC:
            return value
        own[key] = value = clone(value)
        return value

    def __setitem__(self, key: str, value: Any) -> None:
        self._own[key] = value
        if self._changes is None:
            self._changes = {}
        self._changes[key] = True

    def __delitem__(self, key: str) -> None:
        below = self._below(key, UNSET) is not UNSET
        if not below and key not in self._own:
            raise KeyError(key)
        self._own.pop(key, None)
        if self._changes is None:
            self._changes = {}
        if below:
            self._changes[key] = False
        else:
            del self._changes[key]

    def __contains__(self, key: object) -> bool:
        return key in self._own or self._below(key, UNSET) is not UNSET

    def __iter__(self) -> Iterator[str]:
        keys = dict.fromkeys(self._base)
        if self._arguments:
            keys |= dict.fromkeys(self._arguments)
        for key, written in (self._changes or {}).items():
            if written:
                keys[key] = None
            else:
                keys.pop(key, None)
        return iter(keys)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"<Overlay of {', '.join(map(str, self))}>"  # keys only: values may be private

    def get(self, key: str, default: Any = None) -> Any:
        """Read a key, or give the default; as isolated as any other read."""
        value = self.peek(key, UNSET)
        if value is UNSET:
            return default
        return value if type(value) in ATOMIC else self[key]

    def peek(self, key: str, default: Any = None) -> Any:
        """Read a key without cloning; for code that only looks and never changes what it sees."""
        own = self._own
        return own[key] if key in own else self._below(key, default)

    @property
    def changed(self) -> bool:
        """Whether anything was set or deleted by key."""
        return bool(self._changes)

    def changes(self) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Give what was set and what was deleted by key, in the order of the first change."""
        own = self._own
        changes = self._changes or {}
        writes = {key: own[key] for key, written in changes.items() if written}
        return writes, tuple([key for key, written in changes.items() if not written])

    def apply(self, writes: Mapping[str, Any], deletes: Iterable[str] = ()) -> None:
        """Take over what another step changed, as writes and deletions of this overlay."""
        for key in deletes:
            self.pop(key, None)
        for key, value in writes.items():
            self[key] = value

    def _below(self, key: Any, default: Any) -> Any:
        """The value under the own entries: the arguments', else the base's, if not deleted."""
        if self._changes and self._changes.get(key) is False:
            return default
        if self._arguments is not None and key in self._arguments:
            return self._arguments[key]
        base = self._base
        if type(base) is Overlay:
            return base.peek(key, default)
        return base.get(key, default)
