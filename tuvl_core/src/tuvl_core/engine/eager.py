"""Tasks that begin at once, as Python 3.12's eager tasks do, on Python 3.11 too.

A plain task begins at the event loop's next turn, and whoever waits for it goes on at the turn after that.
For a tool that answers without ever waiting, those two turns cost more than everything else around it.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from typing import Any, TypeVar

__all__ = ["start_task"]

T = TypeVar("T")

if sys.version_info >= (3, 12):

    def start_task(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run the work in a task of its own up to where it first waits; it may be done by then."""
        return asyncio.eager_task_factory(loop, work)

else:

    def start_task(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run the work in a task of its own up to where it first waits; it may be done by then."""
        task: asyncio.Task[T] = loop.create_task(work)
        # The first step of the task is what has just been put into the queue of asyncio's own event loops;
        # others keep theirs to themselves, and there it begins at the next turn.
        queue = getattr(loop, "_ready", None)
        if not queue or id(getattr(queue[-1]._callback, "__self__", None)) != id(task):
            return task
        outer = asyncio.current_task(loop)
        assert outer is not None
        first_step = queue.pop()
        asyncio.tasks._leave_task(loop, outer)
        try:
            first_step._run()
        finally:
            asyncio.tasks._enter_task(loop, outer)
        return task
