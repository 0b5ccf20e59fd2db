"""What one run does on one database: its transaction, with a savepoint for every tool call that uses it.

There is one statement at a time. A tool call gets its savepoint when it first uses the database, so that a
call that does not costs nothing; of two calls side by side, the second waits until the first is over, for
savepoints lie on each other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, Final, TypeVar

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncTransaction

from tuvl_core import TuvlError
from tuvl_kinds_modelop.failures import CONFLICTS, DatabaseFailedError, translate
from tuvl_kinds_modelop.sources import Source
from tuvl_kinds_modelop.undisturbed import to_the_end, undisturbed

__all__ = ["CURRENT", "Frame", "Transaction"]

T = TypeVar("T")
Work = Callable[[AsyncConnection], Awaitable[T]]

_TRIES: Final = 3
"""How often a transaction of one step is done where others are in its way."""


class Frame:
    """The run itself, or one tool call inside it: what is undone as one.

    Args:
        owner: The run's databases.
        parent: The call around it; None for the run.
        label: The step's id, for messages.
    """

    __slots__ = ("label", "left", "lost", "owner", "parent")

    def __init__(self, owner: Any, parent: Frame | None, label: str) -> None:
        self.owner = owner
        self.parent = parent
        self.label = label
        self.left = False
        """Whether the call is over; what still goes on inside it may do nothing more."""
        self.lost: str | None = None
        """Why what it wrote is gone, where it is."""

    def lies_in(self, other: Frame) -> bool:
        """Whether it is the other, or inside it."""
        frame: Frame | None = self
        while frame is not None:
            if frame is other:
                return True
            frame = frame.parent
        return False


CURRENT: Final[ContextVar[Frame | None]] = ContextVar("tuvl_modelop_frame", default=None)
"""The tool call that the running code belongs to."""


class _Point:
    """A savepoint that is set."""

    __slots__ = ("frame", "over", "savepoint", "wrote")

    def __init__(self, frame: Frame, savepoint: AsyncTransaction) -> None:
        self.frame = frame
        self.savepoint = savepoint
        self.over = asyncio.Event()
        self.wrote = False


class Transaction:
    """A run's transaction on one database; it begins with the first statement.

    Args:
        source: The database.
        writing: Whether the run may write.
    """

    def __init__(self, source: Source, *, writing: bool) -> None:
        self.source = source
        self._writing = writing
        self._connection: AsyncConnection | None = None
        self._lock = asyncio.Lock()
        self._points: list[_Point] = []
        self._wrote = False
        self._refused: str | None = None
        self._running: asyncio.Task[Any] | None = None

    async def do(self, frame: Frame, what: str, work: Work[T], *, writes: bool, guarded: bool = False) -> T:
        """Do something on the database.

        Args:
            frame: What it belongs to.
            what: What it is, for people: `create Order`.
            work: Does it, on a connection.
            writes: Whether it may change anything.
            guarded: Whether the caller may go on after a failure, so that it must not spoil what came before.

        Raises:
            DatabaseFailedError: It failed; nothing of it is left.
            TuvlError: Whatever `work` raises of that kind.
        """
        if self.source.per_step:
            return await self._by_itself(frame, what, work, writes)
        while True:
            blocking = self._blocking(frame)
            if blocking is not None:
                await blocking.over.wait()
                continue
            async with self._lock:
                if self._blocking(frame) is None:
                    return await self._one(frame, what, work, writes, guarded)

    async def end(self, frame: Frame, *, keep: bool, left_behind: bool) -> None:
        """A tool call is over.

        Args:
            frame: The call.
            keep: Whether what it did stays; else it is undone.
            left_behind: Whether it may still be at work.

        Raises:
            DatabaseFailedError: What it did could not be kept.
        """
        if frame.lost is not None and keep:
            raise DatabaseFailedError(frame.lost, type="transaction_lost")
        if not any(point.frame is frame for point in self._points):
            return
        if left_behind and self._lock.locked():
            # Its statement is under way: nobody knows in what state the connection is.
            self._lose(frame, f"the tool {frame.label!r} was left behind in the middle of a statement")
            return
        async with self._lock:
            await undisturbed(self._unwind(frame, keep), lambda task: self._cut_off(task, frame, "ending the call"))

    async def commit(self) -> None:
        """Make everything last.

        Raises:
            DatabaseFailedError: It could not be; nothing is left of it.
        """
        if self._refused is not None:
            raise DatabaseFailedError(f"{self.source.name}: {self._refused}", type="transaction_lost")
        if self._connection is not None:
            try:
                await to_the_end(self._connection.commit())
            except Exception as error:
                raise translate(error, f"commit to {self.source.name!r}") from error

    async def close(self) -> None:
        """Roll back what is not committed, and give the connection back."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        for point in self._points:
            point.over.set()
        self._points.clear()
        if self._running is None or self._running.done():
            await self.source.release(connection, writing=self._writing)
        else:  # somebody left behind still uses it
            self.source.later(self.source.discard(connection, self._running, writing=self._writing))

    # --- one statement ------------------------------------------------------------------------

    async def _by_itself(self, frame: Frame, what: str, work: Work[T], writes: bool) -> T:
        """A transaction of its own; done again where others are in its way, for nothing else lies in it."""
        tries = _TRIES
        while True:
            _refuse_if_left(frame)
            connection = await self.source.connect(writing=writes, what=what)
            cut = False

            def left(task: asyncio.Task[T], connection: AsyncConnection = connection) -> None:
                nonlocal cut
                cut = True
                self.source.later(self.source.discard(connection, task, writing=writes))

            try:
                return await undisturbed(_committed(connection, work), left)
            except TuvlError:
                raise
            except Exception as error:
                problem = translate(error, what)
                tries -= 1
                if problem.type not in CONFLICTS or not tries:
                    raise problem from error
            finally:
                if not cut:
                    await self.source.release(connection, writing=writes)

    async def _one(self, frame: Frame, what: str, work: Work[T], writes: bool, guarded: bool) -> T:
        _refuse_if_left(frame)
        if self._refused is not None:
            raise DatabaseFailedError(f"{what}: {self._refused}", type="transaction_lost")
        connection = self._connection
        if connection is None:
            connection = self._connection = await self.source.connect(writing=self._writing, what=what)
        try:
            result = await undisturbed(
                self._statement(frame, connection, work, guarded), lambda task: self._cut_off(task, frame, what)
            )
        except TuvlError:
            raise
        except Exception as error:
            raise await self._failed(frame, what, error, connection, guarded) from error
        if writes:
            self._note_write(frame)
        return result

    async def _statement(self, frame: Frame, connection: AsyncConnection, work: Work[T], guarded: bool) -> T:
        self._running = asyncio.current_task()
        if frame.parent is not None:
            await self._set_points(frame, connection)
        if guarded and not self.source.sqlite:  # SQLite undoes a failed statement by itself
            async with connection.begin_nested():
                return await work(connection)
        return await work(connection)

    def _cut_off(self, task: asyncio.Task[Any], frame: Frame, what: str) -> None:
        """Somebody was cancelled who waited for the database."""
        self._running = task
        self._lose(frame, f"{what} of {frame.label!r} was cut off in the middle of a statement")

    async def _failed(
        self, frame: Frame, what: str, error: Exception, connection: AsyncConnection, guarded: bool
    ) -> DatabaseFailedError:
        problem = translate(error, what)
        if problem.lost or (self.source.sqlite and not await _in_transaction(connection)):
            self._lose(frame, str(problem))
        elif not self.source.sqlite and not guarded and frame.parent is None:
            self._refused = f"nothing of this run can be committed, for a statement failed: {problem}"
        return problem

    def _note_write(self, frame: Frame) -> None:
        if self._points and frame.parent is not None:
            self._points[-1].wrote = True
        else:
            self._wrote = True

    # --- savepoints ---------------------------------------------------------------------------

    def _blocking(self, frame: Frame) -> _Point | None:
        """The savepoint of another call, on which nothing of this one may be laid."""
        point = self._points[-1] if self._points else None
        return point if point is not None and not frame.lies_in(point.frame) else None

    async def _set_points(self, frame: Frame, connection: AsyncConnection) -> None:
        """Set the savepoints of a call, and of the calls around it that have none yet."""
        missing: list[Frame] = []
        top = self._points[-1].frame if self._points else None
        inner: Frame | None = frame
        while inner is not None and inner is not top and inner.parent is not None:
            missing.append(inner)
            inner = inner.parent
        for item in reversed(missing):
            self._points.append(_Point(item, await connection.begin_nested()))

    async def _unwind(self, frame: Frame, keep: bool) -> None:
        """Keep or undo what a call did, with every savepoint that still lies on its own."""
        while self._points:
            point = self._points.pop()
            mine = point.frame is frame
            try:
                await (point.savepoint.commit() if keep else point.savepoint.rollback())
            except Exception as error:
                problem = translate(error, f"the tool {frame.label!r}")
                self._points.append(point)
                if not keep or problem.lost:
                    self._lose(frame, str(problem))
                else:
                    await self._unwind(frame, keep=False)
                raise problem from error
            finally:
                point.over.set()
            if keep and point.wrote:
                if self._points:
                    self._points[-1].wrote = True
                else:
                    self._wrote = True
            if mine:
                return

    # --- when it is lost ----------------------------------------------------------------------

    def _lose(self, frame: Frame, why: str) -> None:
        """The connection is of no use. What the run wrote outside the failing call is gone, and must be told."""
        connection, self._connection = self._connection, None
        for point in self._points:
            if point.wrote and not point.frame.lies_in(frame):
                point.frame.lost = why
            point.over.set()
        self._points.clear()
        if self._wrote:
            self._refused = f"what this run wrote before is gone: {why}"
        if connection is not None:
            self.source.later(self.source.discard(connection, self._running, writing=self._writing))


async def _committed(connection: AsyncConnection, work: Work[T]) -> T:
    result = await work(connection)
    await connection.commit()
    return result


async def _in_transaction(connection: AsyncConnection) -> bool:
    """Whether SQLite still has the transaction: a full disk makes it roll back by itself."""
    try:
        raw = await connection.get_raw_connection()
        return bool(raw.driver_connection.in_transaction)  # type: ignore[union-attr]
    except Exception:
        return False


def _refuse_if_left(frame: Frame) -> None:
    """Code that was left behind by a time limit does nothing more to the database."""
    inner: Frame | None = frame
    while inner is not None:
        if inner.left:
            raise DatabaseFailedError(f"the call of {inner.label!r} is over", type="left_behind")
        inner = inner.parent
