"""A value that does not show itself.

It lives beside the codec because both forms of values must know it; `tuvl_core.views` re-exports
it.
"""

from __future__ import annotations

from typing import Any, Final, NoReturn

from tuvl_core.errors import CodecError

__all__ = ["MASK", "SealedSecret", "Secret"]

MASK: Final = "***"
"""What stands for a secret wherever values leave."""


class Secret:
    """A value that prints as `***` and has to be opened on purpose.

    Two secrets are equal when their values are; a secret never equals a plain value. It is copied
    by sharing and refuses to be pickled. Treat the value inside as read-only.

    Args:
        value: What to hide; a `Secret` is not wrapped twice.
    """

    __slots__ = ("_value",)

    _value: Any

    def __init__(self, value: Any) -> None:
        if isinstance(value, Secret):
            value = value.reveal()
        object.__setattr__(self, "_value", value)

    def reveal(self) -> Any:
        """Give the value itself. Whoever calls this answers for where it goes."""
        return self._value

    def __str__(self) -> str:
        return MASK

    def __repr__(self) -> str:
        return MASK

    def __format__(self, spec: str) -> str:
        # The format spec is ignored: widths and precisions would tell something about the value.
        return MASK

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return bool(self._value == other._value)

    def __hash__(self) -> int:
        return hash((Secret, self._value))

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError("a Secret cannot be changed")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("a Secret cannot be changed")

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Secret:
        return self

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("a Secret is never pickled; open it with .reveal() where that is meant")


class SealedSecret(Secret):
    """What comes back from a record in place of a secret: its keyed hash, not its value.

    Two of them are equal when their hashes are, so a replay can tell whether a secret changed.

    Args:
        digest: The keyed hash that the record holds.
    """

    __slots__ = ()

    @property
    def digest(self) -> str:
        """The keyed hash of the value that was recorded."""
        return str(self._value)

    def reveal(self) -> NoReturn:
        """There is nothing to reveal.

        Raises:
            CodecError: Always.
        """
        raise CodecError(
            "this secret comes from a record, which holds only its hash; "
            "run the step that obtains it again instead of replaying it"
        )
