"""The loops that run in this process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tuvl_core.loops.handle import LoopHandle

__all__ = ["LoopRegistry"]


class LoopRegistry:
    """The loops that run in this process."""

    def __init__(self) -> None:
        self._loops: dict[str, LoopHandle] = {}

    def add(self, handle: LoopHandle) -> None:
        """Register a loop that has begun."""
        self._loops[handle.id] = handle

    def remove(self, handle: LoopHandle) -> None:
        """Forget a loop that is over."""
        self._loops.pop(handle.id, None)

    def get(self, id: str, tenant: str | None) -> LoopHandle | None:
        """The loop of that id, if `tenant` may see it."""
        handle = self._loops.get(id)
        return handle if handle is not None and handle.tenant == tenant else None

    def visible_to(self, tenant: str | None) -> list[LoopHandle]:
        """Every running loop of a tenant, oldest first."""
        return [handle for handle in self._loops.values() if handle.tenant == tenant]

    def __iter__(self) -> Iterator[LoopHandle]:
        return iter(list(self._loops.values()))

    def __len__(self) -> int:
        return len(self._loops)
