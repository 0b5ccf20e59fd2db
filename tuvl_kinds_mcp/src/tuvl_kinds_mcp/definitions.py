"""What is known of a server's tools: from `tuvl.lock`, or from the server itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import attrs

from tuvl_kinds_mcp.censor import without

__all__ = ["ToolDefinition"]


@attrs.frozen
class ToolDefinition:
    """A tool as its server describes it.

    Attributes:
        name: Its name.
        description: What it says of itself.
        schema: The JSON Schema of its arguments.
    """

    name: str
    description: str
    schema: Mapping[str, Any] = attrs.field(eq=False)

    @classmethod
    def of(cls, tool: Any, secrets: tuple[str, ...] = ()) -> ToolDefinition:
        """Take what the SDK gives, without secrets."""
        return cls(tool.name, without(tool.description or "", secrets), without(tool.input_schema or {}, secrets))

    def to_lock(self) -> dict[str, Any]:
        """What stands for it in `tuvl.lock`."""
        return {"description": self.description, "name": self.name, "schema": dict(self.schema)}

    def changes(self, other: ToolDefinition) -> list[str]:
        """Name what differs in another definition of the same tool."""
        found = []
        if self.description != other.description:
            found.append("its description")
        if _canonical(self.schema) != _canonical(other.schema):
            mine, theirs = _properties(self.schema), _properties(other.schema)
            changed = sorted(
                name for name in {*mine, *theirs} if _canonical(mine.get(name)) != _canonical(theirs.get(name))
            )
            shown = ", ".join(changed[:5]) + (", …" if len(changed) > 5 else "")
            found.append(f"its schema ({shown})" if shown else "its schema")
        return found


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    found = schema.get("properties")
    return found if isinstance(found, Mapping) else {}
