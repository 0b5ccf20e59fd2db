"""Fixtures for pytest. Nothing of tuvl is imported before a test asks for it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest_asyncio

if TYPE_CHECKING:
    from tuvl_testing.bench import ProjectBuilder

__all__ = ["tuvl_project"]


@pytest_asyncio.fixture
async def tuvl_project(tmp_path: Path) -> AsyncIterator[ProjectBuilder]:
    """A project to fill, in a temporary folder; closed when the test is over."""
    from tuvl_testing.bench import ProjectBuilder

    builder = ProjectBuilder(tmp_path)
    yield builder
    await builder.close()
