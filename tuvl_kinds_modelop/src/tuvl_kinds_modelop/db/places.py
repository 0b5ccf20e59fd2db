"""The databases of a project, and connections to them."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

import attrs
import click
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from tuvl_core import Plugins, Project, ProjectError, did_you_mean, load_project
from tuvl_kinds_modelop.document_checks import check_models
from tuvl_kinds_modelop.failures import translate
from tuvl_kinds_modelop.models import DATA_SOURCE, MODEL, Model, Models
from tuvl_kinds_modelop.sources import Source
from tuvl_kinds_modelop.tables import Tables

__all__ = ["Place", "find_places"]

T = TypeVar("T")
FOLDER: Final = "migrations"
_FOLDER: Final = re.compile(r"\w[\w. -]{0,99}")


@attrs.frozen(kw_only=True, eq=False)
class Place:
    """One database of a project.

    Attributes:
        source: The data source.
        root: The project's directory.
        models: The models whose tables are in it, by table.
    """

    source: Source
    root: Path
    models: dict[str, Model]

    @property
    def name(self) -> str:
        """The name of the data source."""
        return self.source.name

    @property
    def versions(self) -> Path:
        """Where its migration files are."""
        return self.root / FOLDER / self.name / "versions"

    @property
    def wait_ms(self) -> int:
        """How long to wait for the right to write."""
        return max(int(self.source.wait_s * 1000), 1)

    @property
    def missing(self) -> bool:
        """Whether it is a file that is not there yet."""
        path = self.source.address.path
        return path is not None and not path.exists()

    def shown(self, path: Path) -> str:
        """A path as people write it: from the project's directory."""
        return str(path.relative_to(self.root)) if path.is_relative_to(self.root) else str(path)

    def __str__(self) -> str:
        address = self.source.address
        if address.path is not None:
            return f"{self.name} ({self.shown(address.path)})"
        url = address.url  # its query may hold a password as well
        who = f"{url.username}@" if url.username else ""
        port = f":{url.port}" if url.port else ""
        return f"{self.name} ({url.get_backend_name()}://{who}{url.host or ''}{port}/{url.database or ''})"

    async def read(self, work: Callable[[sa.Connection], T]) -> T:
        """Do something that only looks; a file that is not there is not made, and is as an empty one.

        Raises:
            TuvlError: The database cannot be reached, or refused it.
        """
        if not self.missing:
            return await self._with(self.source.engine, work)
        return await self._with(create_async_engine("sqlite+aiosqlite://"), work)

    async def write(self, work: Callable[[sa.Connection], T]) -> T:
        """Do something that may write; `work` begins and ends the transaction.

        Raises:
            TuvlError: The database cannot be reached, or refused it.
        """
        self.source.address.make_folder()
        return await self._with(self.source.engine, work)

    async def _with(self, engine: AsyncEngine, work: Callable[[sa.Connection], T]) -> T:
        try:
            connection = await self._connected(engine)
            try:
                return await connection.run_sync(work)
            finally:
                await connection.close()
        except sa.exc.SQLAlchemyError as error:
            raise translate(error, f"data source {self}") from error
        finally:
            await engine.dispose()

    async def _connected(self, engine: AsyncEngine) -> AsyncConnection:
        end = time.monotonic() + self.source.wait_s
        while True:
            try:
                return await engine.connect().start()
            except Exception as error:  # whatever the driver raises: what the address says goes straight to it
                problem = translate(error, f"data source {self}")
                # Two who open a new SQLite file at once: the mode of its journal is the one thing that does not wait.
                if problem.type != "db_busy" or not self.source.sqlite or time.monotonic() >= end:
                    raise problem from error
            await asyncio.sleep(0.05)


def find_places(directory: Path, name: str | None) -> list[Place]:
    """Load a project, and give its databases.

    Args:
        directory: The project's directory.
        name: One data source; None: every one.

    Raises:
        ProjectError: Its models or data sources are not in order.
        click.BadParameter: There is no such data source.
    """
    project = load_project(directory, plugins=Plugins.load(root=directory))
    _refuse_errors(project)
    tables = Tables.of(project)
    known = tables.models.sources
    if name is not None and name not in known:
        hint = did_you_mean(name, known) or f"the project has: {', '.join(sorted(known))}"
        raise click.BadParameter(f"there is no {DATA_SOURCE} {name!r}; {hint}", param_hint="'--source'")
    for item in known.values():
        if not _FOLDER.fullmatch(item.name):
            where = item.definition.locate("metadata", "name") if item.definition is not None else "?"
            raise ProjectError(
                f"{DATA_SOURCE} {item.name!r}: a folder of migrations has its name: letters, digits, `_`, `-`, `.` and "
                f"spaces, a letter or digit first ({where})"
            )
    wait_s: float = project.settings["db.wait_s"]
    chosen = [known[item] for item in sorted(known) if name in (None, item)]
    return [
        Place(source=Source(item, tables, wait_s), root=project.root, models=_models(tables.models, item.name))
        for item in chosen
    ]


def _models(models: Models, source: str) -> dict[str, Model]:
    found: dict[str, Model] = {}
    for model in models.all():
        if model.source == source:
            found.setdefault(model.table, model)
    return found


def _refuse_errors(project: Project) -> None:
    """What is wrong with files of models and data sources stands in the way; workflows do not."""
    own = {item.path for item in project.documents if item.kind in (MODEL, DATA_SOURCE)}
    others = {item.path for item in project.documents} - own
    found = [
        item
        for item in [*project.diagnostics, *check_models(project)]
        if item.severity == "error"
        and item.workflow is None
        and not (item.location is not None and item.location.path in others)
    ]
    if found:
        raise ProjectError("the models and data sources of the project are not in order", dict.fromkeys(found))
