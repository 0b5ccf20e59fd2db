"""A value that stands for the absence of one."""

from __future__ import annotations

import enum
from typing import Final

__all__ = ["UNSET"]


class _Unset(enum.Enum):
    UNSET = "UNSET"

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = _Unset.UNSET
"""Stands for "no value was given", where None is a value."""
