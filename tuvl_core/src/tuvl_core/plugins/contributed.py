"""Contributions by name: those that are lazy are loaded when somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, Mapping, ValuesView
from typing import Any

__all__ = ["Contributed"]

Load = Callable[[], Any]


class Contributed(Mapping[str, Any]):
    """What plugins contribute, by name, in the order of names.

    Iterating and counting tell names and load nothing. `get`, `[]` and `in` load what they ask for; what cannot be
    loaded is not there from then on. `items` and `values` load everything.
    """

    __slots__ = ("_names", "_waiting")

    def __init__(self, given: Mapping[str, Any], waiting: Mapping[str, Load]) -> None:
        """Take what is at hand, and what is still to be loaded: functions that give None where that fails."""
        self._names: dict[str, Any] = {name: given.get(name) for name in sorted({*given, *waiting})}
        self._waiting = dict(waiting)

    def __getitem__(self, name: str) -> Any:
        load = self._waiting.pop(name, None)
        if load is not None:
            value = load()
            if value is None:
                del self._names[name]
            else:
                self._names[name] = value
        return self._names[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def items(self) -> ItemsView[str, Any]:
        """Names and contributions, all of them loaded."""
        self.load()
        return self._names.items()

    def values(self) -> ValuesView[Any]:
        """The contributions, all of them loaded."""
        self.load()
        return self._names.values()

    def load(self) -> None:
        """Load what is not loaded yet."""
        for name in list(self._waiting):
            self.get(name)
