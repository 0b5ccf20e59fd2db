"""Kind Router: decide which way a workflow goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tuvl_core import hookimpl

if TYPE_CHECKING:
    from tuvl_core import Code, Lazy, StepKind, Validator

TUVL_API = 1


@hookimpl
def tuvl_step_kinds() -> list[Lazy]:
    """Kind Router."""
    from tuvl_core import Lazy

    return [Lazy("Router", _kind)]


@hookimpl
def tuvl_validators() -> list[Validator]:
    """The codes that the kind's own checks can report."""
    from tuvl_core import Validator

    return [Validator(codes=_codes, check=lambda plan: ())]


def _kind() -> type[StepKind]:
    from tuvl_kinds_router.kind import Router

    return Router


def _codes() -> Sequence[Code]:
    from tuvl_kinds_router.checks import CODES

    return CODES
