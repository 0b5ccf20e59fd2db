"""A project: the typed definitions of a directory, and everything that is wrong with them."""

from __future__ import annotations

from tuvl_core.project.codes import CODES
from tuvl_core.project.definition import Definition
from tuvl_core.project.load import load_project
from tuvl_core.project.model import Project
from tuvl_core.project.pause import collector_paused
from tuvl_core.project.schemas import project_schema
from tuvl_core.project.workflow import (
    END,
    WORKFLOW,
    Limits,
    Metadata,
    StepDefinition,
    StepHead,
    WorkflowBody,
    WorkflowMetadata,
    WorkflowSpec,
)

__all__ = [
    "CODES",
    "END",
    "WORKFLOW",
    "Definition",
    "Limits",
    "Metadata",
    "Project",
    "StepDefinition",
    "StepHead",
    "WorkflowBody",
    "WorkflowMetadata",
    "WorkflowSpec",
    "collector_paused",
    "load_project",
    "project_schema",
]
