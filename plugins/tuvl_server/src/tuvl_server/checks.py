"""What can be wrong with triggers, beyond the shape of their keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from tuvl_core import Code, Diagnostic
from tuvl_server.codes import BAD_PATH, CODES, NO_INPUT, OWN_PATH, PUBLIC_AND_GUARDED, TWIN, TWO_SCHEMAS
from tuvl_server.trigger import PATH, Trigger, path_names

if TYPE_CHECKING:
    from tuvl_core import Definition, PlanView

__all__ = ["CODES", "OWN", "check", "shape_of"]

OWN: Final = (
    "/api/agents",
    "/api/runs",
    "/api/workflows",
    "/console",
    "/healthz",
    "/metrics",
    "/openapi.json",
    "/readyz",
)
"""Paths of the server itself, and of what ships with it; what lies below them is the server's too."""


def check(plan: PlanView) -> Iterator[Diagnostic]:
    """Every finding about a workflow's trigger."""
    definition: Definition[Any] = plan.definition  # type: ignore[attr-defined]
    trigger: Trigger | None = definition.spec.sections.get("trigger")
    if trigger is None:
        return
    yield from _path(trigger, definition, plan)
    metadata = definition.metadata
    guard = getattr(metadata, "required_scope", None) or getattr(metadata, "required_group", None)
    if trigger.public and guard:
        text = f"the trigger is public, but the workflow requires {guard!r}: every caller would be refused"
        hint = "take `public` out, or what is required"
        yield _finding(PUBLIC_AND_GUARDED, text, definition, "public", hint)
    # Where only one of the two is given, the kernel takes that for both.
    if trigger.input_schema is not None and definition.spec.input is not trigger.input_schema:
        text = "`input_schema` is another name for `spec.input`, which is there as well"
        yield _finding(TWO_SCHEMAS, text, definition, "input_schema", "keep one of the two")


def _path(trigger: Trigger, definition: Definition[Any], plan: PlanView) -> Iterator[Diagnostic]:
    path = trigger.path
    if not PATH.fullmatch(path) or {".", ".."} & set(path.split("/")):
        text = f"{path!r} is no path that a request can have"
        hint = "write it as `/orders/{order_id}`: letters, digits, `-._~`, and names in braces that take a segment"
        yield _finding(BAD_PATH, text, definition, "path", hint)
        return
    names = path_names(path)
    if len(names) != len(set(names)):
        text = f"{path!r} names two segments alike"
        yield _finding(BAD_PATH, text, definition, "path", "give each a name of its own")
    own = next((one for one in OWN if path == one or path.startswith(f"{one}/")), None)
    if own is not None:
        hint = "choose another, such as `/hooks/…` or `/api/refunds`"
        yield _finding(OWN_PATH, f"what lies at and under {own} is the server's own", definition, "path", hint)
    for other in _others(trigger, plan):
        text = f"{trigger.method} {path} also triggers workflow {other!r}"
        yield _finding(TWIN, text, definition, "path", "give one of them another path or method")
    yield from _names(names, definition)


def _others(trigger: Trigger, plan: PlanView) -> Iterable[str]:
    wanted = (trigger.method, shape_of(trigger.path))
    for name, definition in plan.project.workflows.items():
        other = definition.spec.sections.get("trigger")
        if name != plan.workflow and isinstance(other, Trigger) and wanted == (other.method, shape_of(other.path)):
            yield name


def shape_of(path: str) -> str:
    """A path with its names left out: paths of one shape take the same requests."""
    return re.sub(r"\{[^}]*\}", "{}", path)


def _names(names: Iterable[str], definition: Definition[Any]) -> Iterator[Diagnostic]:
    schema = definition.spec.input
    if not isinstance(schema, dict) or schema.get("additionalProperties", True) is not False:
        return
    known = schema.get("properties")
    for name in names:
        if not isinstance(known, dict) or name not in known:
            text = f"the path gives {name!r} to the input, and the input's schema allows no such key"
            yield _finding(NO_INPUT, text, definition, "path", "declare it under `properties`")


def _finding(code: Code, message: str, definition: Definition[Any], key: str, hint: str) -> Diagnostic:
    location = definition.locate("spec", "trigger", key)
    return Diagnostic.of(code, message, location=location, workflow=definition.name, hint=hint)
