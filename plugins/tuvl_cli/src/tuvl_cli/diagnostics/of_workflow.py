"""What `tuvl validate` says of one workflow."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tuvl_core import Diagnostic, Plan

__all__ = ["findings_of"]

_READING = "TUVL-Y"


def findings_of(plan: Plan) -> list[Diagnostic]:
    """Everything that is found about a workflow, and about reading its file; not what is suppressed."""
    from tuvl_core import check_project

    path = plan.definition.document.path
    return [
        item
        for item in check_project(plan.project)
        if item.workflow == plan.workflow
        or (item.code.startswith(_READING) and item.location is not None and item.location.path == path)
    ]
