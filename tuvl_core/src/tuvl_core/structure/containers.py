"""Lists, mappings and unions."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Final, Union, get_args, get_origin

from tuvl_core.structure.problems import Problem, ProblemsError
from tuvl_core.structure.scalars import wrong_type

__all__ = ["is_list_type", "is_mapping_type", "list_hook", "mapping_hook", "members"]

Hook = Callable[[Any, Any], Any]
HookOf = Callable[[Any], Hook]

_UNIONS: Final = (Union, types.UnionType)


def is_list_type(cls: Any) -> bool:
    """Whether a YAML list becomes a value of this type."""
    origin = get_origin(cls) or cls
    if not isinstance(origin, type) or issubclass(origin, (str, bytes)):
        return False
    return issubclass(origin, (list, tuple, AbstractSet)) or origin.__name__ == "Sequence"


def is_mapping_type(cls: Any) -> bool:
    """Whether a YAML mapping becomes a plain mapping of this type."""
    origin = get_origin(cls) or cls
    return isinstance(origin, type) and issubclass(origin, Mapping)


def members(cls: Any) -> tuple[Any, ...]:
    """The types that a union joins; empty for what is no union."""
    return get_args(cls) if get_origin(cls) in _UNIONS else ()


def list_hook(cls: Any, hook_of: HookOf) -> Hook:
    """Give the hook of a list, tuple, set or sequence type."""
    origin, arguments = get_origin(cls) or cls, get_args(cls)
    build: Callable[[Iterable[Any]], Any] = list
    if issubclass(origin, tuple):
        build = tuple
    elif issubclass(origin, AbstractSet):
        build = set if issubclass(origin, set) else frozenset
    if build is tuple and arguments and arguments[-1] is not ...:
        return _fixed_hook(arguments, hook_of)
    element = arguments[0] if arguments else Any
    read = hook_of(element)

    def hook(value: Any, _: Any) -> Any:
        if not isinstance(value, list):
            raise wrong_type("a list", value)
        return build(_items((index, item, read, element) for index, item in enumerate(value)))

    return hook


def _fixed_hook(arguments: tuple[Any, ...], hook_of: HookOf) -> Hook:
    """The hook of a tuple with a type for each of its items."""
    reads = [hook_of(argument) for argument in arguments]

    def hook(value: Any, _: Any) -> Any:
        if not isinstance(value, list) or len(value) != len(reads):
            raise wrong_type(f"a list of {len(reads)} items", value)
        return tuple(_items(zip(range(len(value)), value, reads, arguments, strict=True)))

    return hook


def mapping_hook(cls: Any, hook_of: HookOf) -> Hook:
    """Give the hook of a mapping type; keys are text always."""
    arguments = get_args(cls)
    element = arguments[1] if len(arguments) > 1 else Any
    read = hook_of(element)

    def hook(value: Any, _: Any) -> Any:
        if not isinstance(value, dict):
            raise wrong_type("a mapping", value)
        read_items = _items((key, item, read, element) for key, item in value.items())
        return dict(zip(value, read_items, strict=True))

    return hook


def _items(items: Iterable[tuple[Any, Any, Hook, Any]]) -> list[Any]:
    """Read every `(key, item, hook, type)` before complaining about any."""
    built: list[Any] = []
    found: list[Problem] = []
    for key, item, read, element in items:
        try:
            built.append(read(item, element))
        except ProblemsError as error:
            found.extend(error.below(key))
    if found:
        raise ProblemsError(*found)
    return built
