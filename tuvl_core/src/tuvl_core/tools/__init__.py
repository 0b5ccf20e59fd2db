"""Steps as tools: what a model is told about them, and what it may send."""

from __future__ import annotations

from tuvl_core.tools.arguments import IDENTITY
from tuvl_core.tools.naming import wire_names
from tuvl_core.tools.parameters import derive_parameters, parameters_of
from tuvl_core.tools.schemas import check_parameters, check_schema
from tuvl_core.tools.spec import ToolSpec

__all__ = [
    "IDENTITY",
    "ToolSpec",
    "check_parameters",
    "check_schema",
    "derive_parameters",
    "parameters_of",
    "wire_names",
]
