"""Opens and closes the way to Redis with the app."""

from __future__ import annotations

import asyncio
import uuid
from typing import TYPE_CHECKING

from tuvl_redis.config import Config
from tuvl_redis.link import Link
from tuvl_redis.peers import RedisPeers

if TYPE_CHECKING:
    from tuvl_core import App

__all__ = ["RedisScope"]

_LEAVE_S = 1.0


class RedisScope:
    """Sets `app.peers`, and keeps three tasks: one tells Redis, one listens, one follows. None is ever waited for.

    Args:
        app: The app that is open.

    Raises:
        SettingsError: `redis.url` is no URL of a Redis.
    """

    def __init__(self, app: App) -> None:
        self._app = app
        self._link = Link(Config.of(app))
        self._peers = RedisPeers(app, self._link, uuid.uuid4().hex)
        self._tasks: list[asyncio.Task[None]] = []

    async def open(self) -> None:
        """Begin; whether Redis is there does not matter."""
        peers = self._peers
        self._tasks = [
            asyncio.create_task(work.run(), name=f"tuvl-redis {name}")
            for name, work in (("outbox", peers.outbox), ("inbox", peers.inbox), ("tails", peers.tails))
        ]
        self._app.peers = peers

    async def close(self) -> None:
        """Tell the last, within a second, and let go of everything."""
        self._app.peers = None
        self._peers.outbox.close()
        await asyncio.wait(self._tasks[:1], timeout=_LEAVE_S)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._link.close()
