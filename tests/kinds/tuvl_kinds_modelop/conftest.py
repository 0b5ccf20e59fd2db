"""A project with models, on SQLite and on PostgreSQL: every test that asks for `shop` runs on both."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from modelop_shop import SQLITE, Shop, drop_databases, empty_postgresql


@pytest.fixture(scope="session", autouse=True)
def databases_go_again() -> Iterator[None]:
    """What the tests made on the server does not stay there."""
    yield
    asyncio.run(drop_databases())


@pytest.fixture(params=["sqlite", "postgresql"])
async def shop(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Shop]:
    """A project with customers and orders."""
    made = Shop(tmp_path, SQLITE if request.param == "sqlite" else await empty_postgresql())
    yield made
    await made.close()


@pytest.fixture
async def sqlite_shop(tmp_path: Path) -> AsyncIterator[Shop]:
    """The same, for what only SQLite does."""
    made = Shop(tmp_path, SQLITE)
    yield made
    await made.close()


@pytest.fixture
async def postgresql_shop(tmp_path: Path) -> AsyncIterator[Shop]:
    """The same, for what only PostgreSQL does."""
    made = Shop(tmp_path, await empty_postgresql())
    yield made
    await made.close()
