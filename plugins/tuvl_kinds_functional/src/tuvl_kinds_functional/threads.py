"""Threads for plain functions that may never come back.

A thread of the event loop's default executor that hangs keeps the process from ending, and enough of
them keep everybody else from working. These are daemon threads: one whose caller stopped waiting is
left behind, gives its place free at once, and ends with its function or with the process.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Final

__all__ = ["Threads"]

_KEPT: Final = 8
"""Idle threads that are kept for the next call."""


class _Job:
    __slots__ = ("argument", "context", "function", "future")

    def __init__(self, function: Callable[[Any], Any], argument: Any, future: asyncio.Future[Any]) -> None:
        self.function = function
        self.argument = argument
        self.future = future
        self.context = contextvars.copy_context()

    def do(self) -> tuple[Any, BaseException | None]:
        try:
            return self.context.run(self.function, self.argument), None
        except BaseException as error:  # SystemExit too: it ends the step, not the thread
            return None, error


class _Worker:
    """One thread that does jobs until it is told to stop."""

    def __init__(self, pool: Threads) -> None:
        self._pool = pool
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="tuvl-node", daemon=True)
        self._thread.start()

    def give(self, job: _Job | None) -> None:
        self._jobs.put(job)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            value, error = job.do()
            loop = job.future.get_loop()
            try:
                loop.call_soon_threadsafe(self._pool._done, self, job.future, value, error)
            except RuntimeError:  # the loop is closed: nobody waits any more
                return
            del job, value, error  # an idle thread keeps nothing alive


class Threads:
    """Runs plain functions, a bounded number at once. One event loop uses it.

    Args:
        limit: How many functions that somebody waits for may run at once; others queue.
    """

    def __init__(self, limit: int) -> None:
        self._places = asyncio.Semaphore(limit)
        self._idle: list[_Worker] = []
        self._closed = False

    async def run(self, function: Callable[[Any], Any], argument: Any) -> tuple[Any, BaseException | None]:
        """Call `function(argument)` in a thread, in a copy of the caller's context variables.

        When the caller is cancelled it stops waiting at once; the function goes on by itself.

        Returns:
            What it returned, and what it raised: a pair, because a coroutine cannot raise
            everything that a function can (`StopIteration`).
        """
        async with self._places:
            future: asyncio.Future[tuple[Any, BaseException | None]] = asyncio.get_running_loop().create_future()
            worker = self._idle.pop() if self._idle else _Worker(self)
            worker.give(_Job(function, argument, future))
            return await future

    async def close(self) -> None:
        """Let idle threads end; busy ones end with their function. Waits for none."""
        self._closed = True
        while self._idle:
            self._idle.pop().give(None)

    def _done(
        self,
        worker: _Worker,
        future: asyncio.Future[tuple[Any, BaseException | None]],
        value: Any,
        error: BaseException | None,
    ) -> None:
        if not future.done():
            future.set_result((value, error))
        if self._closed or len(self._idle) >= _KEPT:
            worker.give(None)
        else:
            self._idle.append(worker)
