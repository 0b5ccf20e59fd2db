"""This worker's loops, as Redis is told of them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from tuvl_core import wire_dumps
from tuvl_redis.config import Config

if TYPE_CHECKING:
    from tuvl_core import LoopRegistry
    from tuvl_redis.batch import Batch

__all__ = ["Board"]

_LOOK_S: Final = 0.25
"""Seconds between two looks at what loops say of themselves."""


class Board:
    """Tells Redis which loops run here, and what they say of themselves.

    Args:
        loops: The loops of this process.
        config: What the settings say.
        worker: This worker's id.
    """

    def __init__(self, loops: LoopRegistry, config: Config, worker: str) -> None:
        self._loops = loops
        self._config = config
        self._worker = worker
        self._shown: dict[str, tuple[str | None, str]] = {}
        self._due = 0.0

    def forget(self) -> None:
        """Tell everything again."""
        self._shown.clear()

    def clear(self, batch: Batch) -> None:
        """Put into a batch that no loop runs here any more."""
        self._remove(batch, set(self._shown))

    def fill(self, batch: Batch, *, beat: bool) -> None:
        """Put into a batch what has changed; with `beat` everything, so that it lives on."""
        current = {loop.id: loop for loop in self._loops}
        now = time.monotonic()
        if not beat and now < self._due and current.keys() == self._shown.keys():
            return
        self._due = now + _LOOK_S
        self._remove(batch, self._shown.keys() - current.keys())
        for id, loop in current.items():
            seen = (loop.tenant, wire_dumps(loop.snapshot()))
            if beat or self._shown.get(id) != seen:
                self._shown[id] = seen
                self._add(batch, id, *seen)

    def _add(self, batch: Batch, id: str, tenant: str | None, snapshot: str) -> None:
        keys, alive_ms = self._config.keys, int(self._config.ttl_s * 1000)
        text = f'{{"tenant":{wire_dumps(tenant)},"worker":"{self._worker}","loop":{snapshot}}}'
        batch.add(None, "SET", keys.loop(id), text, "PX", alive_ms)
        batch.add(None, "ZADD", keys.loops(tenant), time.time() + self._config.ttl_s, id)
        batch.add(None, "PEXPIRE", keys.loops(tenant), alive_ms * 2)

    def _remove(self, batch: Batch, ids: set[str]) -> None:
        keys = self._config.keys
        for id in ids:
            tenant, _ = self._shown.pop(id)
            batch.add(None, "UNLINK", keys.loop(id))
            batch.add(None, "ZREM", keys.loops(tenant), id)
