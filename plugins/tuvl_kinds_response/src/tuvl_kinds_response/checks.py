"""What is wrong with a Response step, beyond the shape of its keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tuvl_core import Code, Diagnostic, Path, PlanView, StepView
from tuvl_kinds_response.config import ResponseConfig

__all__ = ["CODES", "check"]

ONE_OF: Final = Code(
    code="TUVL-R101",
    severity="error",
    klass="structure",
    title="a Response step needs either `source` or `mapping`",
)
BRACES: Final = Code(
    code="TUVL-R102",
    severity="error",
    klass="structure",
    title="a Response step has a template where a dotted path is meant",
)
CODES: Final = (ONE_OF, BRACES)


def check(step: StepView, plan: PlanView) -> Iterator[Diagnostic]:
    """Every finding about one Response step."""
    config: ResponseConfig = step.config
    if (config.source is None) == (config.mapping is None):
        what = "both" if config.source is not None else "neither"
        message = f"the step has {what} of `source` and `mapping`; it needs one"
        yield _found(ONE_OF, message, step, plan)
        return
    if config.source is not None:
        yield from _path(config.source, step, plan, "source")
    for name, path in (config.mapping or {}).items():
        yield from _path(path, step, plan, "mapping", name)


def _path(path: Path, step: StepView, plan: PlanView, *place: str) -> Iterator[Diagnostic]:
    if "{{" in path.source:
        bare = path.source.strip("{} ")
        message = f"a plain dotted path is meant: write `{bare}`, without braces"
        yield _found(BRACES, message, step, plan, *place)


def _found(code: Code, message: str, step: StepView, plan: PlanView, *place: str | int) -> Diagnostic:
    return Diagnostic.of(code, message, location=step.locate(*place), workflow=plan.workflow, step=step.id)
