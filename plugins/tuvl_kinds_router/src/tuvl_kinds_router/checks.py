"""What is wrong with a Router step, beyond the shape of its keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tuvl_core import Code, Diagnostic, Path, PlanView, StepView
from tuvl_kinds_router.config import NO_VALUE, UNARY, Comparison, RouterConfig

__all__ = ["CODES", "check"]

ONE_OF: Final = Code(
    code="TUVL-R001",
    severity="error",
    klass="structure",
    title="a Router step needs either `condition` or `match`",
)
BRACES: Final = Code(
    code="TUVL-R002",
    severity="error",
    klass="structure",
    title="a Router's `field` is a template instead of a dotted path",
)
VALUE: Final = Code(
    code="TUVL-R003",
    severity="error",
    klass="structure",
    title="a Router's operator and its `value` do not go together",
)
UNROUTED: Final = Code(
    code="TUVL-R004",
    severity="error",
    klass="flow",
    title="a Router can leave by a signal that its routes do not map",
)
CODES: Final = (ONE_OF, BRACES, VALUE, UNROUTED)


def check(step: StepView, plan: PlanView) -> Iterator[Diagnostic]:
    """Every finding about one Router step."""
    config: RouterConfig = step.config
    if (config.condition is None) == (config.match is None):
        what = "both" if config.match is not None else "neither"
        message = f"the step has {what} of `condition` and `match`; it needs one"
        yield _found(ONE_OF, message, step, plan)
        return
    if isinstance(config.condition, Comparison):
        yield from _comparison(config.condition, step, plan)
    elif config.match is not None:
        yield from _path(config.match.field, step, plan, "match", "field")
    if step.on_spine:
        yield from _routes(config, step, plan)


def _comparison(comparison: Comparison, step: StepView, plan: PlanView) -> Iterator[Diagnostic]:
    yield from _path(comparison.field, step, plan, "condition", "field")
    if comparison.operator in UNARY and comparison.value is not NO_VALUE:
        message = f"`{comparison.operator}` looks at the field alone; remove `value`"
        yield _found(VALUE, message, step, plan, "condition", "value")
    if comparison.operator not in UNARY and comparison.value is NO_VALUE:
        message = f"`{comparison.operator}` needs a `value` to compare `{comparison.field}` with"
        yield _found(VALUE, message, step, plan, "condition")


def _path(path: Path, step: StepView, plan: PlanView, *place: str) -> Iterator[Diagnostic]:
    if "{{" in path.source:
        bare = path.source.strip("{} ")
        message = f"a field is a plain dotted path: write `{bare}`, without braces"
        yield _found(BRACES, message, step, plan, *place)


def _routes(config: RouterConfig, step: StepView, plan: PlanView) -> Iterator[Diagnostic]:
    routes = step.routes
    if config.match is not None:
        missing = [] if routes else ["default"]
        message = "`match` leads nowhere: the step has no routes, so every value is unrouted"
    else:
        missing = [signal for signal in ("true", "false") if signal not in routes]
        shown = " and ".join(f"`{signal}`" for signal in missing)
        message = f"the routes do not map {shown}; the run fails when the step leaves by it"
    if missing:
        hint = "add " + ", ".join(f"`{signal}: <step id or END>`" for signal in missing)
        place = ("routes",) if routes else ()
        yield _found(UNROUTED, message, step, plan, *place, hint=hint)


def _found(
    code: Code,
    message: str,
    step: StepView,
    plan: PlanView,
    *place: str | int,
    hint: str | None = None,
) -> Diagnostic:
    return Diagnostic.of(
        code,
        message,
        location=step.locate(*place),
        workflow=plan.workflow,
        step=step.id,
        hint=hint,
    )
