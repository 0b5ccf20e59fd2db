"""What tuvl-server brings: the hooks through which other packages serve more over HTTP."""

from __future__ import annotations

TUVL_API = 1
TUVL_HOOKSPECS = "tuvl_server.hookspecs"
