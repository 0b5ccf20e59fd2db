"""One document of a project, typed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import attrs

from tuvl_core.diagnostics import Diagnostic, Location
from tuvl_core.documents import Document
from tuvl_core.project.plain import spec_data
from tuvl_core.project.workflow import Metadata
from tuvl_core.structure import plain_data

__all__ = ["Definition"]

T = TypeVar("T")

Read = Callable[[], tuple[T | None, list[Diagnostic]]]


@attrs.define(kw_only=True, eq=False)
class Definition(Generic[T]):
    """A document with a kind and a name. Its body is read when it is first asked for, once.

    Attributes:
        kind: What it is, such as `Workflow` or `AgentModel`.
        name: Its name.
        schema_version: Tells versions of one name apart.
        enabled: False where the document says so; it then counts for nothing.
        metadata: What it says about itself; a workflow's is a `WorkflowMetadata`.
        document: The document.
    """

    kind: str
    name: str
    schema_version: str
    enabled: bool
    metadata: Metadata
    document: Document = attrs.field(repr=False)
    _read: Read[T] = attrs.field(repr=False)
    _problems: list[Diagnostic] = attrs.field(factory=list, repr=False)
    _body: tuple[T | None, list[Diagnostic]] | None = attrs.field(default=None, init=False, repr=False)
    _own: int = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._own = len(self._problems)

    @property
    def usable(self) -> bool:
        """Whether its body could be read."""
        return self._loaded()[0] is not None

    @property
    def spec(self) -> T:
        """The typed body.

        Raises:
            ValueError: It could not be read; `usable` tells.
        """
        spec = self._loaded()[0]
        if spec is None:
            raise ValueError(f"{self.kind} {self.name!r} could not be read; see its problems")
        return spec

    @property
    def problems(self) -> list[Diagnostic]:
        """Everything that is wrong with it."""
        return [*self._problems, *self._loaded()[1]]

    def add_problem(self, problem: Diagnostic) -> None:
        """Note something that is wrong with it beside other documents."""
        self._problems.append(problem)

    def renewed(self) -> Definition[T]:
        """The same without what was noted beside other documents; a body is read once for both."""
        return attrs.evolve(self, read=self._loaded, problems=self._problems[: self._own])

    def to_data(self) -> dict[str, Any]:
        """The document as plain data, from its typed values: `to_yaml` makes a file of it.

        Values that equal their default are left out, references to the environment are expanded,
        and secrets are written as `***`.

        Raises:
            ValueError: It could not be read; `usable` tells.
        """
        return {
            "kind": self.kind,
            "metadata": plain_data(self.metadata),
            "spec": spec_data(self.spec),
        }

    def locate(self, *path: str | int, key: bool = False, offset: int | None = None) -> Location:
        """The place of something in the document; paths start at its root: `("spec", "model")`.

        Args:
            path: Keys and indexes.
            key: The place of the key, not of the value.
            offset: For text: the place of this character of it.
        """
        return self.document.locate(path, key=key, offset=offset)

    def _loaded(self) -> tuple[T | None, list[Diagnostic]]:
        if self._body is None:
            self._body = self._read()
        return self._body
