"""What a node is given: the context, with the few things of the engine that it may use."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any, Final

from tuvl_core import StepCall, StepError

__all__ = ["NodeContext"]

_ENGINE: Final = frozenset({"_step", "_run", "_db"})


class NodeContext(MutableMapping[str, Any]):
    """The context as a mapping.

    What a node sets or deletes by key counts; everything it reads is its own copy, so changing a value in
    place changes nothing but that copy.

    `ctx["_step"]` is the step, `ctx["_run"]` the run, `ctx["_db"]` the database session where a
    scope publishes one as `db`. Names that start with `_` are the engine's: they can be read by
    name, do not show when iterating, and cannot be set.

    Args:
        call: The execution of the step.
    """

    __slots__ = ("_call", "_view", "touched")

    def __init__(self, call: StepCall) -> None:
        self._call = call
        self._view = call.context
        self.touched = False

    def __getitem__(self, key: str) -> Any:
        if key in _ENGINE:
            return self._engine(key)
        return self._view[key]

    def get(self, key: str, default: Any = None) -> Any:
        """Read a key, or give the default."""
        if key in _ENGINE:
            return self._engine(key) if key in self else default
        return self._view.get(key, default)

    def __setitem__(self, key: str, value: Any) -> None:
        self._refuse(key, "set")
        self.touched = True
        self._view[key] = value

    def __delitem__(self, key: str) -> None:
        self._refuse(key, "delete")
        del self._view[key]
        self.touched = True

    def __contains__(self, key: object) -> bool:
        if key in _ENGINE:
            return key != "_db" or "db" in self._call.resources
        return key in self._view

    def __iter__(self) -> Iterator[str]:
        return iter([key for key in self._view if key[:1] != "_"])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"<NodeContext {', '.join(self)}>"  # names only: values may be private

    @property
    def _node(self) -> str:
        return str(self._call.step.config.runner)

    def _engine(self, key: str) -> Any:
        if key == "_step":
            return self._call.step
        if key == "_run":
            return self._call.run
        if "db" not in self._call.resources:
            raise StepError(
                f"node {self._node!r} reads ctx['_db'], but nothing opened a database for this run; "
                "name the models it uses in the workflow's `spec.context`",
                type="no_database",
            )
        return self._call.resources["db"]

    def _refuse(self, key: str, verb: str) -> None:
        if not isinstance(key, str):
            raise StepError(
                f"node {self._node!r} tries to {verb} the context key {key!r}; keys are text",
                type="bad_key",
            )
        if key[:1] == "_":
            raise StepError(
                f"node {self._node!r} tries to {verb} {key!r}; names that start with '_' belong to "
                "the engine, so choose another",
                type="bad_key",
            )
