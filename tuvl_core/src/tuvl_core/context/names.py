"""What templates may read of a context."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from tuvl_core.context.overlay import Overlay
from tuvl_core.unset import UNSET

__all__ = ["ENGINE_NAMES", "Names"]

ENGINE_NAMES: Final = frozenset({"_last_error", "_last_error_type", "_run_id"})
"""The names with a leading underscore that templates may read."""


class Names(Mapping[str, Any]):
    """What templates read: a tool call's arguments over the public context, and a few of the engine's names.

    Those are `_last_error`, `_last_error_type` and `_run_id`; every other name with a leading `_` is absent.
    Values are not copied: templates only look.

    Args:
        context: The context, or an overlay of it.
        arguments: The arguments of a tool call; None on the spine.
    """

    __slots__ = ("_arguments", "_context", "_read")

    def __init__(self, context: Mapping[str, Any], arguments: Mapping[str, Any] | None = None) -> None:
        self._context = context
        self._arguments = arguments
        self._read: Callable[[str, Any], Any] = context.peek if type(context) is Overlay else context.get

    def get(self, key: str, default: Any = None) -> Any:
        """Read a name, or give the default."""
        if key[:1] == "_":
            return self._read(key, default) if key in ENGINE_NAMES else default
        arguments = self._arguments
        if arguments is not None and key in arguments:
            return arguments[key]
        return self._read(key, default)

    def __getitem__(self, key: str) -> Any:
        value = self.get(key, UNSET)
        if value is UNSET:
            raise KeyError(key)
        return value

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.get(key, UNSET) is not UNSET

    def __iter__(self) -> Iterator[str]:
        names = dict.fromkeys(self._context)
        if self._arguments:
            names |= dict.fromkeys(key for key in self._arguments if not is_private(key))
        return iter([name for name in names if not is_private(name) or name in ENGINE_NAMES])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"<Names {', '.join(self)}>"  # names only: values may be private


def is_private(key: object) -> bool:
    """Whether a key is the engine's own."""
    return str(key)[:1] == "_"
