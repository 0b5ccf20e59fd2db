"""The project that every test here plays in."""

from __future__ import annotations

from supervised import play

__all__ = ["play"]
