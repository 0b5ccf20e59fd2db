"""Waiting for a driver so that a cancellation never reaches it.

A connection that is cancelled in the middle of what it does is in no state that anybody knows: one driver then waits
for a thread that has ended, another for an answer that it dropped. So what a driver does goes on in a task of its own;
whoever is cancelled stops waiting for it, and says what becomes of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

__all__ = ["to_the_end", "undisturbed"]

T = TypeVar("T")


async def undisturbed(work: Coroutine[Any, Any, T], left: Callable[[asyncio.Task[T]], None]) -> T:
    """Do something that a cancellation does not reach.

    Args:
        work: What to do.
        left: Called with the task, which goes on or was just done, where the caller is cancelled: it has to take
            care of what comes of it.
    """
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        left(task)
        raise


async def to_the_end(work: Coroutine[Any, Any, T]) -> T:
    """Do something that is waited for even where the caller is cancelled; it is cancelled afterwards.

    Raises:
        Exception: What the work raised; it counts for more than the cancellation.
    """
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    result = task.result()
    if cancelled is not None:
        raise cancelled
    return result
