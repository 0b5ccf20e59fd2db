"""Where a data source is: the URL that SQLAlchemy takes, and what of it may be shown."""

from __future__ import annotations

from pathlib import Path
from typing import Final
from urllib.parse import unquote

import attrs
import sqlalchemy as sa

from tuvl_core import ProjectError
from tuvl_kinds_modelop.models import URL_PARAMETERS, SourceDefinition

__all__ = ["Address", "address_of"]

_DRIVERS: Final = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+asyncpg"}
_SCHEMES: Final = {"sqlite": "sqlite", "postgresql": "postgresql", "postgres": "postgresql"}


@attrs.frozen(kw_only=True)
class Address:
    """Where a database is.

    Attributes:
        url: For SQLAlchemy, with the password.
        path: The file, for SQLite.
    """

    url: sa.URL = attrs.field(repr=False)
    path: Path | None = None

    @property
    def sqlite(self) -> bool:
        """Whether it is a file."""
        return self.path is not None

    def make_folder(self) -> None:
        """Make the folder that the file lies in."""
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)

    def __str__(self) -> str:
        return str(self.path) if self.path is not None else self.url.render_as_string(hide_password=True)


def address_of(source: SourceDefinition, root: Path) -> Address:
    """Say where a data source is.

    Args:
        source: The source.
        root: The project's directory, from which paths count.

    Raises:
        ProjectError: Its `url` cannot be read, or is not of its `type`.
    """
    spec = source.spec
    if spec.url is not None:
        return _from_url(source, str(spec.url.reveal()), root)
    if spec.type == "sqlite":
        return _file(spec.path or f".tuvl/{source.name}.db", root)
    found = spec.connection
    if found is None:
        raise ProjectError(f"DataSource `{source.name}`: a postgresql source has `connection`, or `url`")
    password = str(found.password.reveal()) if found.password is not None else None
    url = sa.URL.create(_DRIVERS["postgresql"], username=found.username, password=password, database=found.database)
    if found.host.startswith("/"):  # the folder of a socket
        return Address(url=url.set(query={"host": found.host, "port": str(found.port)}))
    return Address(url=url.set(host=found.host, port=found.port))


def _from_url(source: SourceDefinition, text: str, root: Path) -> Address:
    where = f"DataSource `{source.name}`: its `url`"
    try:
        url = sa.make_url(text)
    except (sa.exc.ArgumentError, ValueError):
        raise ProjectError(f"{where} is no database address such as postgresql://user:password@host/name") from None
    scheme = _SCHEMES.get(url.drivername.partition("+")[0])
    if scheme != source.spec.type:
        raise ProjectError(f"{where} begins with `{url.drivername}`, but its `type` is {source.spec.type}")
    if scheme == "sqlite":
        return _file(unquote(url.database or ""), root)
    unknown = sorted(url.query.keys() - URL_PARAMETERS)
    query = {"ssl" if name == "sslmode" else name: value for name, value in url.query.items()}
    if unknown:
        raise ProjectError(f"{where} has parameters that its driver does not know: {', '.join(unknown)}")
    return Address(url=url.set(drivername=_DRIVERS[scheme], query=query))


def _file(name: str, root: Path) -> Address:
    if name in ("", ":memory:"):
        raise ProjectError("a SQLite source needs a file: a database in memory is another one in each connection")
    path = (root / name).expanduser()
    return Address(url=sa.URL.create(_DRIVERS["sqlite"], database=str(path)), path=path)
