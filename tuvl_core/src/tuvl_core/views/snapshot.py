"""The masked public context as JSON text, cheap to ask for after every step."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from tuvl_core.codec import wire_dumps
from tuvl_core.views.masking import mask, open_secrets

__all__ = ["SnapshotCache"]

_NOTHING: Final[frozenset[str]] = frozenset()


class SnapshotCache:
    """Keeps the JSON text of each context key until told that the key changed.

    An event after every step that encodes the whole context anew costs many times the step; with
    the text of each key at hand only what changed is encoded.
    """

    __slots__ = ("_fragments", "_reveal")

    def __init__(self) -> None:
        self._fragments: dict[Any, str] = {}
        self._reveal: Collection[str] = _NOTHING

    def json(self, context: Mapping[str, Any], reveal: Collection[str] = _NOTHING) -> str:
        """Give the public keys of a context, secrets masked, as the text of one JSON object.

        A value without a wire form shows as `"<unserialisable: TypeName>"`: an event never fails.

        Args:
            context: The run's context. What changed in it must have been forgotten.
            reveal: Names of keys, at any depth, whose values are opened.
        """
        if reveal is not self._reveal and reveal != self._reveal:
            self._fragments.clear()
            self._reveal = reveal
        fragments = self._fragments
        found = []
        for key in context:
            fragment = fragments.get(key)
            if fragment is None:
                fragment = fragments[key] = self._fragment(key, context[key])
            if fragment:
                found.append(fragment)
        return "{" + ",".join(found) + "}"

    def forget(self, keys: Iterable[str]) -> None:
        """Have these keys encoded anew the next time: they were written or removed."""
        drop = self._fragments.pop
        for key in keys:
            drop(key, None)

    def _fragment(self, key: str, value: Any) -> str:
        """`"key":value`, or nothing for a private key."""
        name = str(key)
        if name[:1] == "_":
            return ""
        try:
            if self._reveal:
                value = open_secrets(value) if key in self._reveal else mask(value, self._reveal)
            text = wire_dumps(value)  # which masks what is still a secret
        except Exception:  # a value may fail in ways of its own; an event must not
            text = wire_dumps(f"<unserialisable: {type(value).__name__}>")
        return f"{wire_dumps(name)}:{text}"
