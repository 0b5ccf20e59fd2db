"""The databases of a process: engines, pools, and who may write to SQLite next."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Final

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from tuvl_core import Project
from tuvl_kinds_modelop.addresses import Address, address_of
from tuvl_kinds_modelop.columns import DECIMAL_KEY, decimal_key
from tuvl_kinds_modelop.failures import DatabaseFailedError, translate
from tuvl_kinds_modelop.models import SourceDefinition
from tuvl_kinds_modelop.tables import Tables
from tuvl_kinds_modelop.undisturbed import undisturbed

if TYPE_CHECKING:
    from sqlalchemy.engine.interfaces import DBAPIConnection

__all__ = ["Source", "Sources"]

_GRACE_S: Final = 0.1
"""How long a statement of SQLite that was interrupted may take to end."""
_PATIENCE_S: Final = 5.0
"""How long what was cancelled may take to end."""
IMMEDIATE: Final = "tuvl_immediate"
"""An execution option: a SQLite transaction takes the right to write when it begins, and waits so many ms for it."""


class Source:
    """One database, as this process uses it.

    Args:
        definition: What its document says.
        tables: The project's tables.
        wait_s: Seconds to wait for the right to write, a lock or a connection.
    """

    def __init__(self, definition: SourceDefinition, tables: Tables, wait_s: float) -> None:
        self.name = definition.name
        self.spec = definition.spec
        self.wait_s = wait_s
        self.address: Address = address_of(definition, tables.models.project.root)
        self.metadata = tables.metadata(definition.name)
        self.engine: AsyncEngine = _engine(self.address, self.spec, wait_s)
        self._writer = asyncio.Lock()
        self._preparing = asyncio.Lock()
        self._prepared = False
        self._background: set[asyncio.Task[Any]] = set()

    @property
    def sqlite(self) -> bool:
        """Whether it is SQLite: one writes at a time."""
        return self.address.sqlite

    @property
    def per_step(self) -> bool:
        """Whether each step commits by itself."""
        return self.spec.transaction == "step"

    async def connect(self, *, writing: bool, what: str) -> AsyncConnection:
        """Take a connection and begin a transaction on it; `release` gives it back.

        Args:
            writing: Whether the transaction may write: on SQLite it then waits for its turn first.
            what: What is being done, for error messages.

        Raises:
            DatabaseFailedError: No turn or connection came free in time, or the database cannot be reached.
        """
        if not self._prepared:
            await undisturbed(self._prepare(what), self._keep)
        serial = writing and self.sqlite
        left = self.wait_s
        if serial:
            left -= await self._take_turn(what)
        try:
            return await undisturbed(self._begun(serial, left), lambda task: self.later(self._undo(task, serial)))
        except Exception as error:
            if serial:
                self._writer.release()
            raise translate(error, what) from error

    async def release(self, connection: AsyncConnection, *, writing: bool) -> None:
        """Give a connection back to the pool; what was not committed is rolled back."""
        await undisturbed(self._release(connection, writing), self._keep)

    async def discard(self, connection: AsyncConnection, running: asyncio.Task[Any] | None, *, writing: bool) -> None:
        """Give back a connection that somebody was using when it was taken from them.

        Args:
            connection: The connection.
            running: What is under way on it.
            writing: Whether it holds the right to write to SQLite.
        """
        try:
            if running is not None and not running.done():
                await self._stop(connection, running)
            if running is not None and running.done() and not running.cancelled():
                running.exception()  # retrieved: nobody else will
        finally:
            await self._release(connection, writing)

    def later(self, work: Coroutine[Any, Any, Any]) -> None:
        """Have something done that nobody waits for before the source closes."""
        self._keep(asyncio.ensure_future(work))

    async def close(self) -> None:
        """Close every connection, once what still goes on is done."""
        if self._background:
            await asyncio.wait(self._background, timeout=_PATIENCE_S)
        await self.engine.dispose()

    def _keep(self, task: asyncio.Task[Any]) -> None:
        self._background.add(task)
        task.add_done_callback(self._dropped)

    def _dropped(self, task: asyncio.Task[Any]) -> None:
        self._background.discard(task)
        if not task.cancelled():
            task.exception()  # retrieved: nobody waits for it

    async def _release(self, connection: AsyncConnection, writing: bool) -> None:
        try:
            await connection.close()
        finally:
            if writing and self.sqlite:
                self._writer.release()

    async def _undo(self, begun: asyncio.Task[AsyncConnection], serial: bool) -> None:
        """Give back what a caller that was cancelled did not wait for."""
        await asyncio.wait({begun})
        if not begun.cancelled() and begun.exception() is None:
            await self._release(begun.result(), serial)
        elif serial:
            self._writer.release()

    async def _stop(self, connection: AsyncConnection, running: asyncio.Task[Any]) -> None:
        """End what is under way: by the driver's own means, and only then by cancelling it."""
        if self.sqlite:
            driver = (await connection.get_raw_connection()).driver_connection
            if driver is not None:
                await driver.interrupt()
            await asyncio.wait({running}, timeout=_GRACE_S)
        if not running.done():
            running.cancel()
            await asyncio.wait({running}, timeout=_PATIENCE_S)

    async def _begun(self, serial: bool, left: float) -> AsyncConnection:
        connection = self.engine.connect()
        await connection.start()
        try:
            if serial:
                # What is left of the wait, for whoever writes in another process.
                await connection.execution_options(**{IMMEDIATE: max(int(left * 1000), 1)})
            await connection.begin()
        except BaseException:
            await connection.close()
            raise
        return connection

    async def _take_turn(self, what: str) -> float:
        """Wait for the right to write, in the order of asking; the file's own lock is for other processes.

        Returns:
            The seconds it took.
        """
        began = time.monotonic()
        try:
            async with asyncio.timeout(self.wait_s):
                await self._writer.acquire()
        except TimeoutError:
            raise DatabaseFailedError(
                f"{what}: another run writes to {self.name!r}, and did not end within {self.wait_s:g} s "
                "(TUVL_DB_WAIT_S); SQLite has one writer at a time: long runs that write want PostgreSQL, "
                "or `transaction: step` in the DataSource",
                type="db_busy",
            ) from None
        return time.monotonic() - began

    async def _prepare(self, what: str) -> None:
        """Make ready, once: tables where the source may create them, and the connections to begin with."""
        async with self._preparing:
            if self._prepared:
                return
            self.address.make_folder()
            if self.spec.create_tables:
                await self._create_tables(what)
            await self._fill_pool(what)
            self._prepared = True

    async def _create_tables(self, what: str) -> None:
        for attempt in (1, 2):
            try:
                async with self.engine.begin() as connection:
                    await connection.run_sync(self.metadata.create_all)
                return
            except Exception as error:
                if attempt == 2:  # the first time, another process may have been at it too
                    raise translate(error, what) from error

    async def _fill_pool(self, what: str) -> None:
        opened: list[AsyncConnection] = []
        try:
            for _ in range(self.spec.pooling.min_size):
                opened.append(await self.engine.connect())  # noqa: PERF401 - what was opened is given back
        except Exception as error:
            raise translate(error, what) from error
        finally:
            for connection in opened:
                await connection.close()


class Sources:
    """Every database of a project; each is opened when it is first used.

    Args:
        project: The project.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._open: dict[str, Source] = {}

    def source(self, name: str) -> Source:
        """Give a database."""
        found = self._open.get(name)
        if found is None:
            tables = Tables.of(self._project)
            wait_s: float = self._project.settings["db.wait_s"]
            found = self._open[name] = Source(tables.models.sources[name], tables, wait_s)
        return found

    async def close(self) -> None:
        """Close every connection."""
        while self._open:
            _, source = self._open.popitem()
            await source.close()


def _engine(address: Address, spec: Any, wait_s: float) -> AsyncEngine:
    pool = {
        "pool_size": spec.pooling.max_size,
        "max_overflow": 0,
        "pool_timeout": wait_s,
        # Values of rows are nobody's business in an error message.
        "hide_parameters": True,
    }
    if address.sqlite:
        _keep_values_out_of_logs()
        engine = create_async_engine(
            address.url, poolclass=sa.AsyncAdaptedQueuePool, connect_args={"timeout": wait_s}, **pool
        )
        sa.event.listen(engine.sync_engine, "connect", _prepare_sqlite)
        sa.event.listen(engine.sync_engine, "begin", _begin_sqlite)
        return engine
    if spec.isolation is not None:
        pool["isolation_level"] = spec.isolation.replace("_", " ").upper()
    arguments: Mapping[str, Any] = {
        "timeout": wait_s,
        "server_settings": {"application_name": "tuvl", "lock_timeout": str(max(int(wait_s * 1000), 1))},
    }
    # A server that was restarted, or ended a connection, is noticed before a run meets it.
    return create_async_engine(address.url, pool_pre_ping=True, connect_args=arguments, **pool)


def _keep_values_out_of_logs() -> None:
    """The driver writes every value it binds to its log at level DEBUG: only whoever asks it by name gets that."""
    logger = logging.getLogger("aiosqlite")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)


def _prepare_sqlite(connection: DBAPIConnection, record: Any) -> None:
    connection.isolation_level = None  # BEGIN is ours to say
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "foreign_keys=ON", "synchronous=NORMAL", "case_sensitive_like=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
    connection.create_function(DECIMAL_KEY, 1, decimal_key, deterministic=True)


def _begin_sqlite(connection: sa.Connection) -> None:
    wait_ms = connection.get_execution_options().get(IMMEDIATE)
    if wait_ms:
        connection.exec_driver_sql(f"PRAGMA busy_timeout = {int(wait_ms)}")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if wait_ms else "BEGIN")
