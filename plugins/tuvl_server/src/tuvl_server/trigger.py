"""The section `spec.trigger`: a workflow on a path of its own."""

from __future__ import annotations

import re
from typing import Any, Final, Literal

import attrs

from tuvl_core import field

__all__ = ["PATH", "Trigger", "path_names", "schema_of"]

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
PATH: Final = re.compile(r"(/([A-Za-z0-9._~-]+|\{[A-Za-z][A-Za-z0-9_]*\}))+")
"""Segments of unreserved characters (RFC 3986), or a name in braces that takes one segment of the path."""
_NAME: Final = re.compile(r"\{([A-Za-z][A-Za-z0-9_]*)\}")


@attrs.frozen(kw_only=True)
class Trigger:
    """Where a workflow is started over HTTP, besides `/api/workflows/{name}/runs`."""

    path: str = field(
        source_text=True, doc="The path, such as `/api/refunds`; `{name}` takes a segment into the input."
    )
    method: Method = field(default="POST", doc="The HTTP method; with GET and DELETE the query is the input.")
    public: bool = field(default=False, doc="Let everybody in: nobody is asked who they are.")
    on_disconnect: Literal["cancel", "detach"] = field(
        default="cancel", doc="What becomes of the run when its client goes away before it ends."
    )
    input_schema: dict[str, Any] | None = field(default=None, doc="Another place for `spec.input`.")


def path_names(path: str) -> list[str]:
    """The names in a path that take a segment each."""
    return _NAME.findall(path)


def schema_of(trigger: Trigger) -> dict[str, Any] | None:
    """What the trigger says of a run's input."""
    return trigger.input_schema
