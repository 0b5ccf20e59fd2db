"""What tuvl-console brings: the pages under `/console`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tuvl_core import hookimpl

if TYPE_CHECKING:
    from tuvl_core import HttpRoute, RunService

TUVL_API = 1


@hookimpl(optionalhook=True)
def tuvl_http_routes(service: RunService) -> Iterable[HttpRoute]:
    """The console."""
    from tuvl_console.routes import routes

    return routes()
