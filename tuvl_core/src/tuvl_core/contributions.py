"""What plugins contribute besides kinds: documents, sections, validators, and who may do what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import attrs

from tuvl_core.diagnostics import Code, Diagnostic

if TYPE_CHECKING:
    from tuvl_core.identity import Principal
    from tuvl_core.kinds import Cost, Dispatch, PlanView, StepCall
    from tuvl_core.project import Project

__all__ = ["AppScope", "Authenticator", "DocumentKind", "Section", "ToolBoundary", "Validator"]


@attrs.frozen(kw_only=True)
class DocumentKind:
    """A kind of YAML document.

    Attributes:
        kind: What stands after `kind:`, such as `acme.Region`; first-party names are unprefixed.
        spec: A frozen attrs class: the keys under `spec`.
        unique: Whether a name may be used once only, per schema version.
        metadata: A frozen attrs class, a subclass of `Metadata`: what may stand under `metadata`.
            None: `name`, `schema_version` and `description`, as in every document.
    """

    kind: str
    spec: type[Any]
    unique: bool = True
    metadata: type[Any] | None = None


@attrs.frozen(kw_only=True)
class Section:
    """A key under a workflow's `spec`, or on every step.

    Attributes:
        key: The key, such as `acme_audit`; first-party keys are unprefixed.
        spec: A frozen attrs class or any other type: what stands behind the key.
        cost: For a key under `spec` that makes runs cost more, such as by judges: called with its value, the
            plan (a `PlanView`) and the `Cost` of a run's steps together, it gives the most that it adds to a run.
    """

    key: str
    spec: Any
    cost: Callable[[Any, PlanView, Cost], Cost] | None = None


@attrs.frozen(kw_only=True)
class Validator:
    """Static checks over a whole workflow, and over the project's documents.

    Attributes:
        codes: Every code that the checks can report. Codes that start with `TUVL-` are first-party.
        check: Called with a plan (a `PlanView`); gives findings. Must not run user code.
        documents: Called with the project, whatever workflows it has; gives findings about its documents. What
            stands in the way of a workflow `check` has to give as well.
    """

    codes: Sequence[Code]
    check: Callable[[PlanView], Iterable[Diagnostic]]
    documents: Callable[[Project], Iterable[Diagnostic]] | None = None


class Authenticator(Protocol):
    """Tells who is calling a server."""

    async def authenticate(self, credentials: Mapping[str, str]) -> Principal | None:
        """Give the caller, or None where these credentials are not this authenticator's to judge.

        Args:
            credentials: The request's headers, or what the transport has in their place; lower-case
                names.

        Raises:
            DeniedError: The credentials are this authenticator's, and are not good.
        """
        ...


class AppScope(Protocol):
    """Something that lives as long as one open `App`."""

    async def open(self) -> Mapping[str, Any] | None:
        """Begin; return handles to publish by name in `app.resources`."""
        ...

    async def close(self) -> None:
        """Let go of everything."""
        ...


class ToolBoundary(Protocol):
    """Stands around every tool call of a run: a savepoint, a lease, an undo log.

    A run scope offers one as its attribute `tool_boundary`. Calls nest: a tool that is an agent calls
    tools of its own.
    """

    def enter(self, call: StepCall) -> Any:
        """A tool call begins, in the task that made it; must return at once.

        Args:
            call: The tool's call; `call.parent` made it.

        Returns:
            Anything; `leave` gets it back.
        """
        ...

    async def leave(self, token: Any, answer: Dispatch | None) -> None:
        """The tool call is over: keep what it did, or undo it.

        Args:
            token: What `enter` gave.
            answer: What came of it. It failed where `answer.error` is set; `answer.timed_out`: the tool was
                left behind and may go on. None: the run itself was cut off.

        Raises:
            Exception: What the tool did could not be kept: the call has failed, with this text.
        """
        ...
