"""Walk values for their secrets: hide them, open them, find them.

Each walk gives back the very object it was given where there is nothing to do, so that the usual
case, data without a secret, costs no copy.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Final

from tuvl_core.codec import MASK, SealedSecret, Secret

__all__ = ["contains_secret", "mask", "open_secrets", "public_view", "secret_texts"]

_LEAVES: Final = frozenset({str, int, float, bool, type(None), bytes})
_NOTHING: Final[frozenset[str]] = frozenset()

_Replace = Callable[[Secret], Any]


def mask(value: Any, reveal: Collection[str] = _NOTHING) -> Any:
    """Replace every secret by `***`, at any depth.

    Args:
        value: What to show. It is never changed; without a secret in it, it is returned as it is.
        reveal: Names of mapping keys, at any depth, whose values are opened instead.
    """
    return _replaced(value, _hidden, reveal)


def open_secrets(value: Any) -> Any:
    """Replace every secret by its value, at any depth; only where a kind declares to reveal."""
    return _replaced(value, _opened, _NOTHING)


def public_view(context: Mapping[str, Any], reveal: Collection[str] = _NOTHING) -> dict[str, Any]:
    """Give the keys of a context that people and models may see, with secrets masked.

    Args:
        context: A run's context.
        reveal: Names of keys, at any depth, whose values are opened.
    """
    shown = {key: item for key, item in context.items() if key.__class__ is not str or key[:1] != "_"}
    masked: dict[str, Any] = _replaced_mapping(shown, _hidden, reveal)  # type: ignore[assignment]
    return masked


def contains_secret(value: Any) -> bool:
    """Whether a secret lies anywhere in a value."""
    return any(True for _ in _secrets(value))


def secret_texts(value: Any) -> set[str]:
    """Collect the texts that must not show: every secret in a value, as text; for `scrub`."""
    texts: set[str] = set()
    for secret in _secrets(value):
        if not isinstance(secret, SealedSecret):
            texts.update(_texts(secret.reveal()))
    return texts


def _hidden(secret: Secret) -> Any:
    return MASK


def _opened(secret: Secret) -> Any:
    # A secret that holds secrets opens wholly.
    return open_secrets(secret.reveal())


def _replaced(value: Any, replace: _Replace, reveal: Collection[str]) -> Any:
    if type(value) in _LEAVES:
        return value
    if isinstance(value, Secret):
        return replace(value)
    if isinstance(value, Mapping):
        return _replaced_mapping(value, replace, reveal)
    if isinstance(value, (list, tuple, AbstractSet)):
        return _replaced_members(value, replace, reveal)
    return value


def _replaced_mapping(value: Mapping[Any, Any], replace: _Replace, reveal: Collection[str]) -> Mapping[Any, Any]:
    changed: dict[Any, Any] = {}
    secret_key = False
    for key, item in value.items():
        if type(item) not in _LEAVES:
            act = _opened if reveal and key in reveal else replace
            new = _replaced(item, act, reveal)
            if new is not item:
                changed[key] = new
        if type(key) is not str and isinstance(key, Secret):
            secret_key = True
    if secret_key:
        return {_replaced(key, replace, _NOTHING): changed.get(key, value[key]) for key in value}
    return {**value, **changed} if changed else value


def _replaced_members(
    value: list[Any] | tuple[Any, ...] | AbstractSet[Any],
    replace: _Replace,
    reveal: Collection[str],
) -> Any:
    members = [_replaced(item, replace, reveal) for item in value]
    if all(new is old for new, old in zip(members, value, strict=True)):
        return value
    if isinstance(value, AbstractSet):
        # What a set's secrets open to need not be hashable; it is shown as a list on every way out.
        try:
            return set(members) if isinstance(value, set) else frozenset(members)
        except TypeError:
            return members
    return members if isinstance(value, list) else tuple(members)


def _secrets(value: Any) -> Iterable[Secret]:
    if type(value) in _LEAVES:
        return
    if isinstance(value, Secret):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _secrets(key)
            yield from _secrets(item)
    elif isinstance(value, (list, tuple, AbstractSet)):
        for item in value:
            yield from _secrets(item)


def _texts(value: Any) -> Iterable[str]:
    """The texts inside a revealed value: of a structure, its leaves."""
    if isinstance(value, Secret):
        yield from _texts(value.reveal())
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, (list, tuple, AbstractSet)):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, bytes):
        yield value.decode("utf-8", "replace")
    elif value is not None and not isinstance(value, bool):
        yield str(value)
