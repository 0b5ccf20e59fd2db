"""A step, as a model is offered it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from tuvl_core.errors import ProjectError
from tuvl_core.tools.arguments import ArgumentCheck
from tuvl_core.tools.schemas import NOT_AN_OBJECT, build_validator, declared_names, is_open

__all__ = ["ToolSpec"]


@attrs.frozen(kw_only=True)
class ToolSpec:
    """A step that is offered to a model as a tool. Built once per plan.

    Attributes:
        ref: Id of the step: what people see.
        wire_name: What the model sees.
        description: What the model reads.
        parameters: JSON Schema of the arguments, `type: object`.
        writes_context: Whether the tool's changes enter the shared context.
        reveal: Names of result fields whose secrets the model may see.
        open: Whether names beyond the declared ones are welcome.
        openai: The function specification in the form of OpenAI's API.
        check: Checks the arguments of a call as the model sent them (JSON text, what a provider
            parsed, or None) and gives `(arguments, None)` or `(None, error)`; never raises.

    Raises:
        ProjectError: The parameters are no JSON Schema of an object.
    """

    ref: str
    wire_name: str
    description: str
    parameters: Mapping[str, Any] = attrs.field(eq=False)
    writes_context: bool = False
    reveal: frozenset[str] = frozenset()
    open: bool = attrs.field(init=False, eq=False)
    openai: dict[str, Any] = attrs.field(init=False, eq=False, repr=False)
    check: ArgumentCheck = attrs.field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        schema = {"type": "object", "properties": {}, **self.parameters}
        try:
            if schema["type"] != "object":
                raise ValueError(NOT_AN_OBJECT)
            validator = build_validator(schema)
        except ValueError as problem:
            raise ProjectError(f"tool {self.ref!r}: its parameters are no JSON Schema: {problem}") from None
        # A leading `_` is the run's own, whoever declares it.
        names = {name for name in declared_names(schema) if name[:1] != "_"}
        open = is_open(schema)
        check = ArgumentCheck(self.wire_name, schema, names=names, open=open, validator=validator)
        function = {
            "name": self.wire_name,
            "description": self.description,
            "parameters": schema,
        }
        put = object.__setattr__  # the class is frozen once it is built
        put(self, "parameters", schema)
        put(self, "open", open)
        put(self, "openai", {"type": "function", "function": function})
        put(self, "check", check)
