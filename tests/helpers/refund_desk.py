"""The refund desk of the examples, with a shop of its own."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tuvl_core import App, Plugins, load_project

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "refund_desk"


async def stocked_shop(folder: Path) -> dict[str, str]:
    """Fill a new shop; give the variables that lead the example to it."""
    environ = {"SHOP_DB": str(folder / "shop.db"), "PYTHON": sys.executable, "MODEL": "scripted"}
    orders = json.loads((EXAMPLE / "orders.json").read_text())
    async with App(load_project(EXAMPLE, plugins=Plugins.load(root=EXAMPLE, environ=environ), environ=environ)) as app:
        result = await app.run("stock", orders)
    assert result.status == "completed", result.error
    return environ
