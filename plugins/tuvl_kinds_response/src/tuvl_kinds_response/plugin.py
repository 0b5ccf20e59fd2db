"""Kind Response: what a run answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tuvl_core import hookimpl

if TYPE_CHECKING:
    from tuvl_core import Code, Lazy, StepKind, Validator

TUVL_API = 1


@hookimpl
def tuvl_step_kinds() -> list[Lazy]:
    """Kind Response."""
    from tuvl_core import Lazy

    return [Lazy("Response", _kind)]


@hookimpl
def tuvl_validators() -> list[Validator]:
    """The codes that the kind's own checks can report."""
    from tuvl_core import Validator

    return [Validator(codes=_codes, check=lambda plan: ())]


def _kind() -> type[StepKind]:
    from tuvl_kinds_response.kind import Response

    return Response


def _codes() -> Sequence[Code]:
    from tuvl_kinds_response.checks import CODES

    return CODES
