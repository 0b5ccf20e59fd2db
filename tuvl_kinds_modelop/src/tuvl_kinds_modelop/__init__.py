"""Kind ModelOp: records of SQLite and PostgreSQL as workflow steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tuvl_kinds_modelop.database import Database
    from tuvl_kinds_modelop.repository import Repository

__all__ = ["Database", "Repository"]

_WHERE = {"Database": "database", "Repository": "repository"}


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
