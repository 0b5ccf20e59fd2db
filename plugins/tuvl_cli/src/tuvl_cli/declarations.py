"""Everything that kinds declare, as JSON-ready data."""

from __future__ import annotations

import enum
import inspect
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import attrs

from tuvl_core import KindEntry, StepKind, declared, json_schema

if TYPE_CHECKING:
    from tuvl_core import Plugins

__all__ = ["describe"]

DECLARATIONS: Final = (
    "signals",
    "children",
    "composite",
    "callable_as_tool",
    "tool_parameters",
    "output_key",
    "mutates_context",
    "reads",
    "writes",
    "effects",
    "transactional",
    "capabilities",
    "cost",
    "model_writes",
    "sinks",
)

_BY_STEP_ONLY: Final = (("signals", "fallback"), ("cost", "call_tokens"), ("cost", "reasons"), ("cost", "how"))
"""What declarations say of a single step alone."""


def describe(plugins: Plugins) -> dict[str, Any]:
    """Kinds, documents and sections, each with its owner and its schema."""
    return {
        "kinds": [_kind(entry) for entry in plugins.kinds.values()],
        "documents": [
            {"kind": name, **_owner(plugins, "document kind", name), "schema": _schema(kind.spec)}
            for name, kind in plugins.document_kinds.items()
        ],
        "sections": [
            {"key": f"{place}.{name}", **_owner(plugins, what, name), "schema": _schema(section.spec)}
            for place, what, sections in (
                ("spec", "workflow section", plugins.workflow_sections),
                ("steps[]", "step section", plugins.step_sections),
            )
            for name, section in sections.items()
        ],
    }


def _kind(entry: KindEntry) -> dict[str, Any]:
    kind = entry.kind
    by_step = [name for name in DECLARATIONS if callable(getattr(kind, name))]
    # A declaration that depends on the step shows here as what it is at its worst.
    worst = {name: _plain(declared(kind, name)) for name in DECLARATIONS}
    for name, part in _BY_STEP_ONLY:
        worst[name].pop(part, None)
    if "cost" in by_step:
        worst["cost"]["why"] = "it depends on the step"
    return {
        "name": entry.name,
        "distribution": entry.candidate.dist,
        "version": entry.candidate.version,
        "description": inspect.getdoc(type(kind)) or "",
        **worst,
        "depends_on_step": by_step,
        "silent_on": [name for name in DECLARATIONS if not _says(kind, name)],
        "schema": _schema(kind.Config),
    }


def _says(kind: StepKind, name: str) -> bool:
    """Whether a kind declares something itself, rather than being taken at its worst."""
    return any(name in vars(cls) for cls in type(kind).__mro__ if cls not in (StepKind, object))


def _owner(plugins: Plugins, what: str, name: str) -> dict[str, Any]:
    candidate = plugins.owner(what, name)
    return {
        "distribution": candidate.dist if candidate is not None else None,
        "version": candidate.version if candidate is not None else None,
    }


def _schema(cls: Any) -> dict[str, Any] | None:
    """The schema of a class; None for one that is a stranger's mistake, which `tuvl validate` reports."""
    try:
        return json_schema(cls)
    except Exception:
        return None


def _plain(value: Any) -> Any:
    if attrs.has(type(value)):
        return {item.name: _plain(getattr(value, item.name)) for item in attrs.fields(type(value))}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(map(str, value))
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    finite = isinstance(value, (str, int)) or (isinstance(value, float) and math.isfinite(value))
    return value if value is None or finite else repr(value)
