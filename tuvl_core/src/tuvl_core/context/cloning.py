"""A deep copy that is quick for data and safe for everything else."""

from __future__ import annotations

import copy
import datetime as dt
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from tuvl_core.codec import SealedSecret, Secret

__all__ = ["ATOMIC", "clone"]

ATOMIC: Final = frozenset(
    {
        str,
        int,
        float,
        bool,
        type(None),
        bytes,
        complex,
        frozenset,
        UUID,
        Decimal,
        dt.date,
        dt.datetime,
        dt.time,
        dt.timedelta,
        Secret,
        SealedSecret,
    }
)
"""Types whose values cannot be changed, so that sharing one isolates as well as a copy."""


def clone(value: Any) -> Any:
    """Copy a value so that changing the copy, at any depth, leaves the original alone.

    Secrets are shared, as is what cannot be copied at all (a connection, a lock).
    """
    try:
        return _clone(value)
    except RecursionError:
        return copy.deepcopy(value)  # data that holds itself


def _clone(value: Any) -> Any:
    kind = type(value)
    if kind in ATOMIC:
        return value
    if kind is dict:
        return {key: item if type(item) in ATOMIC else _clone(item) for key, item in value.items()}
    if kind is list:
        return [item if type(item) in ATOMIC else _clone(item) for item in value]
    if kind is tuple:
        return tuple([_clone(item) for item in value])
    if kind is set:
        return set(value)  # members are hashable, hence fixed
    return _copy(value)


def _copy(value: Any) -> Any:
    try:
        return copy.deepcopy(value)
    except RecursionError:
        raise
    except Exception:  # whatever its own copying raises, it cannot be copied
        return value
