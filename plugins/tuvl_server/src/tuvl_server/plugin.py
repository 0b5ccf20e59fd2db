"""What tuvl-server brings."""

from __future__ import annotations

TUVL_API = 1
