"""Commands that go to Redis together, each with what its answer is for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from redis.asyncio import Redis

from tuvl_redis.link import heeding

__all__ = ["Batch"]

_MOST_COMMANDS: Final = 1000
_MOST_CHARS: Final = 1_000_000


class Batch:
    """Commands in the order in which they are added, sent in one go.

    Args:
        client: Sends them.
    """

    def __init__(self, client: Redis) -> None:
        self._pipeline = client.pipeline(transaction=False)
        self._answers: list[Callable[[Any], None] | None] = []
        self._chars = 0

    @property
    def full(self) -> bool:
        """Whether it should go before more is added."""
        return len(self._answers) >= _MOST_COMMANDS or self._chars >= _MOST_CHARS

    def add(self, answered: Callable[[Any], None] | None, *command: Any) -> None:
        """Add a command; `answered` is called with what Redis says to it."""
        self._pipeline.execute_command(*command)
        self._answers.append(answered)
        self._chars += sum(len(part) for part in command if isinstance(part, str))

    async def send(self) -> None:
        """Send them, and tell what came back.

        Raises:
            RedisError: Redis is away, or refused one of them; answers to the others were told.
        """
        if not self._answers:
            return
        refused: Exception | None = None
        replies = await heeding(self._pipeline.execute(raise_on_error=False))
        for answered, reply in zip(self._answers, replies, strict=True):
            if isinstance(reply, Exception):
                refused = refused or reply
            elif answered is not None:
                answered(reply)
        if refused is not None:
            raise refused
