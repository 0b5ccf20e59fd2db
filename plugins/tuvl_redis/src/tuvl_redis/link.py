"""Redis as this worker reaches it, and whether it answers."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable
from typing import Any, Final, TypeVar

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, RedisError, ResponseError

from tuvl_core import BusyError, log_event
from tuvl_redis.config import Config

__all__ = ["AWAY", "Backoff", "Link", "heeding"]

AWAY: Final = (RedisError, OSError, TimeoutError)
"""What tells that Redis did not do as it was asked."""

_SETTLING_S: Final = 3.0
T = TypeVar("T")
_log = logging.getLogger("tuvl.redis")


async def heeding(asked: Awaitable[T]) -> T:
    """Await something of the client, and be cancelled where it should be.

    The client sends through `asyncio.wait_for`, which in Python 3.11 gives its result and forgets that it was
    cancelled where both come at the same moment.
    """
    task = asyncio.current_task()
    assert task is not None
    before = task.cancelling()
    try:
        return await asked
    finally:
        if task.cancelling() > before:
            raise asyncio.CancelledError


class Backoff:
    """How long to wait before the next try: twice as long each time, between half of that and all of it.

    Args:
        first_s: The first wait in seconds.
        longest_s: The longest.
    """

    def __init__(self, first_s: float = 0.1, longest_s: float = 2.0) -> None:
        self._first = first_s
        self._longest = longest_s
        self._next = first_s

    def reset(self) -> None:
        """It worked: begin anew."""
        self._next = self._first

    def next(self) -> float:
        """Give the wait, in seconds."""
        wait, self._next = self._next, min(self._next * 2, self._longest)
        return wait * random.uniform(0.5, 1.0)  # noqa: S311 (spreads load, keeps no secret)


class Link:
    """Makes clients, and knows whether Redis answers them.

    Args:
        config: What the settings say.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self._since: float | None = None
        self._reason = "does not answer"
        self._back: float | None = None
        self._clients: list[Redis] = []

    def client(self, connections: int) -> Redis:
        """Make a client with so many connections at most; it answers in bytes and never tries twice."""
        timeout_s = self.config.timeout_s
        pool: BlockingConnectionPool = BlockingConnectionPool.from_url(
            self.config.url,
            max_connections=connections,
            timeout=timeout_s,
            socket_timeout=timeout_s,
            socket_connect_timeout=timeout_s,
            retry=Retry(NoBackoff(), 0),
            protocol=2,
        )
        client = Redis.from_pool(pool)
        self._clients.append(client)
        return client

    async def close(self) -> None:
        """Close every connection."""
        for client in self._clients:
            try:
                await client.aclose()
            except AWAY:
                log_event(_log, logging.DEBUG, "redis.close_failed", {"redis": self.config.where}, exc_info=True)

    # --- whether it answers -----------------------------------------------------------------

    @property
    def away(self) -> bool:
        """Whether Redis did not answer when last asked."""
        return self._since is not None

    @property
    def settling(self) -> bool:
        """Whether Redis is away, or came back so lately that other workers may not have told it everything yet."""
        return self.away or (self._back is not None and time.monotonic() - self._back < _SETTLING_S)

    @property
    def missing(self) -> str | None:
        """What cannot be seen right now, for people."""
        where = self.config.where
        if self._since is not None:
            seconds = int(time.monotonic() - self._since)
            return f"Redis at {where} {self._reason} since {seconds} s: loops and runs of other workers are not shown"
        if self.settling:
            return f"Redis at {where} is just back: loops and runs of other workers may not all be shown yet"
        return None

    def failed(self, error: BaseException) -> None:
        """Redis did not answer, or refused."""
        self._reason = self._told(error)
        if self._since is None:
            self._since = time.monotonic()
            fields = {"redis": self.config.where, "reason": self._reason, "error": type(error).__name__}
            log_event(_log, logging.WARNING, "redis.away", fields)

    def answered(self) -> None:
        """Redis has answered."""
        if self._since is not None:
            fields = {"redis": self.config.where, "away_s": round(time.monotonic() - self._since, 1)}
            log_event(_log, logging.WARNING, "redis.back", fields)
            self._since, self._back = None, time.monotonic()

    def busy(self, what: str) -> BusyError:
        """Make the error of something that nobody can tell while Redis is away."""
        return BusyError(f"{what}: {self.missing or 'try again'}", retry_after_s=2)

    def _told(self, error: BaseException) -> str:
        if not isinstance(error, (AuthenticationError, ResponseError)):
            return "does not answer"
        text: Any = str(error).partition("\n")[0][:200]
        if self.config.password:
            text = text.replace(self.config.password, "***")
        return f"refuses ({text})"
