"""The surface that a kind runs against."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from tuvl_core.kinds.results import Dispatch
from tuvl_core.kinds.views import StepView, UsageMeter

if TYPE_CHECKING:
    import logging

    from tuvl_core.identity import Principal
    from tuvl_core.loops import LoopHandle
    from tuvl_core.telemetry import Span

__all__ = ["StepCall"]

T = TypeVar("T")


class StepCall(Protocol):
    """One execution of one step: the frozen surface that a kind runs against."""

    @property
    def step(self) -> StepView:
        """The step: typed config, templates compiled."""
        ...

    @property
    def context(self) -> MutableMapping[str, Any]:
        """The context as this step may see it.

        A kind that declares `mutates_context = False` gets a read-only view and must not change nested
        values. Every other kind gets an overlay: reads are isolated copies, writes stay in the overlay
        and count only when the kind returns them (`call.context.changes()`).
        """
        ...

    @property
    def arguments(self) -> Mapping[str, Any] | None:
        """The arguments of a tool call; None on the spine."""
        ...

    @property
    def names(self) -> Mapping[str, Any]:
        """What templates read: arguments over public context, `_last_error*` and `_run_id`."""
        ...

    @property
    def principal(self) -> Principal: ...
    @property
    def run_id(self) -> str: ...
    @property
    def workflow(self) -> str: ...

    @property
    def run(self) -> Any:
        """The `Run` this call belongs to."""
        ...

    @property
    def key(self) -> str:
        """The position in the run, such as `triage#1/tool#2:lookup_order`."""
        ...

    @property
    def visit(self) -> int:
        """How many times the run has been at this step, from 1."""
        ...

    @property
    def parent(self) -> StepCall | None:
        """The call that dispatched this one as a tool."""
        ...

    @property
    def deadline(self) -> float | None:
        """When the step must be done, on the event loop's clock; None if nothing bounds it."""
        ...

    @property
    def resources(self) -> Mapping[str, Any]:
        """What kinds opened for the process and what run scopes published, by name."""
        ...

    @property
    def usage(self) -> UsageMeter: ...
    @property
    def log(self) -> logging.LoggerAdapter[Any]: ...

    def render(self, value: Any) -> Any:
        """Render a compiled template or a structure of them; other values come back as they are.

        Secrets stay wrapped, except in config fields that the kind declares as `reveals`.

        Raises:
            UndefinedNameError: A name has no value and no default; the message names the full path.
            StepError: The value does not convert to the field's type.
        """
        ...

    def effect(
        self,
        name: str,
        fn: Callable[..., Awaitable[T]],
        *args: Any,
        kind: str = "effect",
        replay: str = "recorded",
    ) -> Awaitable[T]:
        """Do something to the world, through the effect door.

        Only composite kinds need it: a leaf step passes the door as a whole.

        Args:
            name: The segment of the key below `self.key`, such as `llm#3`.
            fn: What to await.
            args: Its arguments.
            kind: `model`, `input` or `effect`, for handlers that care.
            replay: `recorded`, `reexecute` (pure) or `transactional`.
        """
        ...

    def dispatch(
        self,
        ref: str,
        arguments: Mapping[str, Any],
        *,
        name: str,
        timeout_s: float | None = None,
    ) -> Awaitable[Dispatch]:
        """Run a declared child step as a tool, on a view of this call's context.

        Any exception of the tool is a failed `Dispatch`; only `RunLimitError` and cancellation come out.

        Args:
            ref: The child's step id.
            arguments: Checked arguments, visible to its templates.
            name: The segment of the key, such as `tool#2:lookup_order`.
            timeout_s: The limit; it holds even when the tool does not cooperate.
        """
        ...

    def progress(self, type: str, fields: Mapping[str, Any]) -> None:
        """Tell subscribers how far the step is; metadata only, never context values."""
        ...

    def span(
        self, name: str, attributes: Mapping[str, Any] | None = None, *, client: bool = False
    ) -> AbstractContextManager[Span]:
        """Open a telemetry span; costs nothing when nobody traces.

        Args:
            name: Its name, one out of few.
            attributes: What is known at its start: metadata, never a value of the context.
            client: Whether it stands for a call to another system.
        """
        ...

    def open_loop(self, **metadata: Any) -> LoopHandle:
        """Register a supervisable loop for the time of this call; close it in a `finally`."""
        ...

    def check_limits(self) -> None:
        """Raise `RunLimitError` when the run's token budget is used up; call it before a model call."""
        ...
