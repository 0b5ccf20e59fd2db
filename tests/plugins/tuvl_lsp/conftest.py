"""An editor, and a folder for its project."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest_asyncio
from lsp_editor import Editor


@pytest_asyncio.fixture
async def editor(tmp_path: Path) -> AsyncIterator[Editor]:
    """An editor with nothing open yet; `start` it after writing files."""
    made = Editor(tmp_path)
    yield made
    process: Any = getattr(made.client, "_server", None)
    if process is not None and process.returncode is None:
        process.kill()
        await process.wait()
        await made.client.stop()
