"""The findings this kind can report."""

from __future__ import annotations

from typing import Final

from tuvl_core import Code

__all__ = [
    "ALL",
    "BAD_FILE",
    "BAD_NODE",
    "BAD_RUNNER",
    "OUTSIDE",
    "TWIN_NAMES",
    "UNKNOWN_RUNNER",
]

UNKNOWN_RUNNER: Final = Code(
    code="TUVL-F001",
    severity="error",
    klass="structure",
    title="a Functional step names a runner that does not exist",
)
OUTSIDE: Final = Code(
    code="TUVL-F002",
    severity="error",
    klass="structure",
    title="a Functional step names code outside the project and the installed plugins",
)
BAD_RUNNER: Final = Code(
    code="TUVL-F003",
    severity="error",
    klass="structure",
    title="the node that a Functional step names cannot be used",
)
BAD_FILE: Final = Code(
    code="TUVL-F010",
    severity="error",
    klass="flow",
    title="a file in nodes/ cannot be used; workflows that need it are refused",
)
BAD_NODE: Final = Code(
    code="TUVL-F011",
    severity="error",
    klass="flow",
    title="a function in nodes/ cannot be a node; workflows that name it are refused",
)
TWIN_NAMES: Final = Code(
    code="TUVL-F012",
    severity="error",
    klass="flow",
    title="two nodes have one name; workflows that name it are refused",
)
ALL: Final = (UNKNOWN_RUNNER, OUTSIDE, BAD_RUNNER, BAD_FILE, BAD_NODE, TWIN_NAMES)
