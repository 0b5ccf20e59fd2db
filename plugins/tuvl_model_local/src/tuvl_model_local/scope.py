"""Ties local servers to the apps that use them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from tuvl_model_local.server import release, retain

__all__ = ["LocalScope"]


class LocalScope:
    """Lives as long as an app; the last one to close stops every server."""

    async def open(self) -> Mapping[str, Any] | None:
        """Count in; nothing is started before a model is asked."""
        retain()
        return None

    async def close(self) -> None:
        """Count out."""
        await asyncio.to_thread(release)
