"""What a run has of its databases, and what nodes get as `ctx["_db"]`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from tuvl_core import AccessError, ConflictError, Run, StepError
from tuvl_kinds_modelop.access import Allowed, Verb, require
from tuvl_kinds_modelop.failures import CONFLICTS, DatabaseFailedError
from tuvl_kinds_modelop.models import Model
from tuvl_kinds_modelop.sources import Sources
from tuvl_kinds_modelop.tables import Tables
from tuvl_kinds_modelop.touched import changes_of, tables_of
from tuvl_kinds_modelop.transaction import CURRENT, Frame, Transaction

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from tuvl_kinds_modelop.repository import Repository

__all__ = ["Database"]

T = TypeVar("T")


class Database:
    """The databases of one run: one transaction on each, begun when it is first used.

    A node has it as `ctx["_db"]`. It reaches the models that `spec.context` names, with the scopes of the
    run's principal; whatever it does is committed when the run completes, and rolled back when it does not.

    Args:
        run: The run.
        sources: The databases of the process.
        allowed: What the workflow may touch.
    """

    def __init__(self, run: Run, sources: Sources, allowed: Allowed) -> None:
        self._run = run
        self._sources = sources
        self._allowed = allowed
        self._tables = Tables.of(run.plan.project)
        self._transactions: dict[str, Transaction] = {}
        self._loop = asyncio.get_running_loop()
        self._root = Frame(self, None, run.workflow)

    def __getitem__(self, model: str) -> Repository:
        """`db["Order"]`: the records of a model."""
        return self.repository(model)

    def repository(self, model: str) -> Repository:
        """The records of a model.

        Raises:
            AccessError: The run may not even know of it; what it may do is checked with each call.
        """
        from tuvl_kinds_modelop.repository import Repository

        if model not in self._allowed.models:
            require(self._allowed, self._run.principal, model, "read")
        return Repository(self, model)

    def table(self, model: str) -> sa.Table:
        """The SQLAlchemy table of a model, for statements of your own; `execute` runs them.

        Raises:
            AccessError: The run may not read the model.
        """
        return self._tables.table(self.require(model, "read"))

    async def execute(self, statement: sa.Executable, *, source: str | None = None) -> list[dict[str, Any]]:
        """Run a statement of SQLAlchemy Core that is built from `table(…)`.

        Args:
            statement: A select, insert, update or delete; no text of SQL, for nobody could tell what it touches.
            source: Name of the data source; by itself that of its tables.

        Returns:
            Its rows, each a dict by column; secure values are `Secret`s. None where it gives none.

        Raises:
            AccessError: It touches what the run may not, or a model whose rows are bound to a tenant.
            DatabaseFailedError: It failed; nothing of it is left.
        """
        models, writes = self._touched(statement)
        sources = {model.source for model in models} | ({source} if source is not None else set())
        if len(sources) != 1:
            raise StepError("a statement is about the tables of one data source", type="bad_statement")

        async def work(connection: AsyncConnection) -> list[dict[str, Any]]:
            result = await connection.execute(statement)
            return [dict(row) for row in result.mappings()] if result.returns_rows else []

        return await self.do(sources.pop(), "statement", work, writes=writes, guarded=True)

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for one of the calls above in a plain function, which runs in a thread: `db.wait(db["Order"].list())`.

        Raises:
            RuntimeError: It was called on the event loop; `await` the call there.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run_coroutine_threadsafe(work, self._loop).result()
        work.close()
        raise RuntimeError("an `async def` node awaits the call itself: `await db[…].list()`")

    # --- for the kind and repositories --------------------------------------------------------

    @property
    def tenant(self) -> str | None:
        """The run's tenant."""
        return self._run.principal.tenant

    @property
    def tables(self) -> Tables:
        """The project's tables."""
        return self._tables

    def require(self, model: str, verb: Verb) -> Model:
        """Give a model that the run may use so.

        Raises:
            AccessError: It may not.
        """
        return require(self._allowed, self._run.principal, model, verb)

    def opened(self, text: str) -> None:
        """Note a secret that was opened, so that no error shows it."""
        self._run.revealed.add(text)

    async def do(
        self,
        source: str,
        what: str,
        work: Callable[[AsyncConnection], Awaitable[T]],
        *,
        writes: bool,
        guarded: bool = False,
    ) -> T:
        """Do something inside the run's transaction on a data source; see `Transaction.do`.

        Raises:
            ConflictError: Another run was in the way, and this one can be done again.
        """
        transaction = self._transactions.get(source)
        if transaction is None:
            writing = self._allowed.may_write
            transaction = self._transactions[source] = Transaction(self._sources.source(source), writing=writing)
        frame = self.frame()
        try:
            return await transaction.do(frame, what, work, writes=writes, guarded=guarded)
        except DatabaseFailedError as error:
            whole = frame is self._root and not transaction.source.per_step
            if error.type in CONFLICTS and whole and self._run.repeatable:
                raise ConflictError(str(error), type=error.type) from error
            raise

    def frame(self) -> Frame:
        """The tool call that the running code belongs to, or the run."""
        current = CURRENT.get()
        return current if current is not None and current.owner is self else self._root

    async def leave(self, frame: Frame, *, keep: bool, left_behind: bool) -> None:
        """A tool call is over: keep or undo what it did, everywhere.

        Raises:
            DatabaseFailedError: It could not be kept.
        """
        problem: DatabaseFailedError | None = None
        for transaction in self._transactions.values():
            try:
                await transaction.end(frame, keep=keep and problem is None, left_behind=left_behind)
            except DatabaseFailedError as error:
                problem = problem or error
        frame.left = True
        if problem is not None and keep:
            raise problem

    async def commit(self) -> None:
        """Make everything last, one data source after the other.

        Raises:
            ConflictError: Another run was in the way; nothing was committed.
            DatabaseFailedError: It could not be committed; the message says what of it was.
        """
        done: list[str] = []
        for name, transaction in self._transactions.items():
            try:
                await transaction.commit()
            except DatabaseFailedError as error:
                if error.type in CONFLICTS and not done:
                    raise ConflictError(str(error), type=error.type) from error
                told = f"; {', '.join(done)} had been committed already" if done else ""
                raise DatabaseFailedError(f"{error}{told}", type=error.type) from error
            if not transaction.source.per_step:
                done.append(name)

    async def close(self) -> None:
        """Roll back what is not committed, and give every connection back."""
        self._root.left = True
        for transaction in self._transactions.values():
            await transaction.close()

    def _touched(self, statement: sa.Executable) -> tuple[list[Model], bool]:
        """The models that a statement is about, and whether it changes any."""
        by_table = {self._tables.table(model): model for model in self._allowed.models.values()}
        models: dict[str, Model] = {}
        changed = changes_of(statement)
        for table in tables_of(statement):
            model = by_table.get(table)
            if model is None:
                raise AccessError(f"table {table.name!r} is of no model in the workflow's `spec.context`")
            models[model.name] = model
        for model in models.values():
            self.require(model.name, changed.get(self._tables.table(model), "read"))
            if model.tenant_field is not None:
                raise AccessError(f"the records of {model.name!r} are bound to a tenant: use `db[{model.name!r}]`")
        return list(models.values()), bool(changed)
