"""What plugins contribute besides kinds: documents, sections, validators, and who may do what."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import attrs

from tuvl_core.diagnostics import Code, Diagnostic

if TYPE_CHECKING:
    from tuvl_core.events import EventLog, RecordedEvent
    from tuvl_core.identity import Principal
    from tuvl_core.kinds import Cost, Dispatch, PlanView, StepCall
    from tuvl_core.loops import Applied, Directive
    from tuvl_core.project import Project

__all__ = [
    "AppScope",
    "Authenticator",
    "DocumentKind",
    "HttpRoute",
    "Lazy",
    "Listener",
    "Peers",
    "RemoteClient",
    "Section",
    "ToolBoundary",
    "Validator",
]


@attrs.frozen
class Lazy:
    """A step kind, document kind or section that is loaded when a project first uses its name.

    What brings many classes costs a project that uses none of them next to nothing. A hook may give it in the place
    of what it stands for.

    Attributes:
        name: The name it will have: a kind's `name`, a document kind's `kind`, a section's `key`.
        load: Gives the kind, `DocumentKind` or `Section`; called once at most. Import inside it. Where it raises,
            or gives something of another name, everything that needs the name is refused, with the cause.
    """

    name: str
    load: Callable[[], Any]


class LazyCodes(Sequence[Code]):
    """The codes of a validator, loaded when somebody asks for them."""

    def __init__(self, load: Callable[[], Sequence[Code]]) -> None:
        self._load = load
        self._codes: Sequence[Code] | None = None

    def _loaded(self) -> Sequence[Code]:
        if self._codes is None:
            self._codes = tuple(self._load())
        return self._codes

    def __getitem__(self, index: Any) -> Any:
        return self._loaded()[index]

    def __len__(self) -> int:
        return len(self._loaded())


def _codes(given: Sequence[Code] | Callable[[], Sequence[Code]]) -> Sequence[Code]:
    return LazyCodes(given) if callable(given) else given


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
        input: For a key under `spec` that may say what a run's input is: called with its value, it gives a JSON
            Schema, which then stands for `spec.input` where that is not given; or None.
    """

    key: str
    spec: Any
    cost: Callable[[Any, PlanView, Cost], Cost] | None = None
    input: Callable[[Any], dict[str, Any] | None] | None = None


@attrs.frozen(kw_only=True)
class Validator:
    """Static checks over a whole workflow, and over the project's documents.

    Attributes:
        codes: Every code that the checks can report, or a function that gives them. Codes that start with `TUVL-`
            are first-party.
        check: Called with a plan (a `PlanView`); gives findings. Must not run user code.
        documents: Called with the project, whatever workflows it has; gives findings about its documents. What
            stands in the way of a workflow `check` has to give as well.
    """

    codes: Sequence[Code] = attrs.field(converter=_codes)
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


@attrs.frozen(kw_only=True)
class HttpRoute:
    """Something a plugin serves over HTTP, beside the runs.

    Attributes:
        path: Where, in Starlette's form: `/metrics`, `/console/runs/{id}`.
        endpoint: `async def endpoint(request)`, called with a Starlette `Request` and giving a Starlette
            `Response`. `request.state.service` is the `RunService`; `request.state.principal` the caller, None
            on a public route.
        methods: HTTP methods.
        scope: What the caller must hold; None: to be known is enough.
        public: Whether anybody may call it, and nobody is asked who they are.
        help: One line for the list of routes.
    """

    path: str
    endpoint: Callable[[Any], Awaitable[Any]]
    methods: Sequence[str] = ("GET",)
    scope: str | None = None
    public: bool = False
    help: str = ""


class Listener(Protocol):
    """Something that takes calls beside the HTTP server: another protocol, a queue."""

    async def start(self) -> str:
        """Begin to listen; give where, for people, such as `gRPC on 127.0.0.1:8886`."""
        ...

    async def stop(self, grace_s: float) -> None:
        """Take no more calls, and end those that go on once the grace is over."""
        ...


class Peers(Protocol):
    """The other workers that serve the same project, as this one reaches them.

    An app scope brings it: `app.peers = …` in its `open`. Every answer is of one tenant, and where a `subject` is
    given of the runs that this caller started. What cannot be reached is left out of lists, and `missing` says so;
    where one loop or run is asked for, `BusyError` says that nobody can tell now. A run never waits for it, and
    never fails by it.
    """

    @property
    def missing(self) -> str | None:
        """What cannot be seen right now, for people; None when everything can."""
        ...

    async def loops(self, tenant: str | None) -> list[dict[str, Any]]:
        """The loops of other workers: their snapshots."""
        ...

    async def direct(self, id: str, tenant: str | None, directive: Directive) -> Applied | None:
        """Send a directive to another worker's loop; None where nobody has such a loop."""
        ...

    async def runs(self, tenant: str | None, subject: str | None = None) -> list[dict[str, Any]]:
        """The runs of other workers, running and kept, in the form of `RunRecord.to_dict`."""
        ...

    async def run(self, run_id: str, tenant: str | None, subject: str | None = None) -> dict[str, Any] | None:
        """One run of another worker."""
        ...

    async def events(
        self, run_id: str, tenant: str | None, after: int, *, follow: bool, subject: str | None = None
    ) -> AsyncIterator[RecordedEvent] | None:
        """The kept events of another worker's run, and with `follow` those to come; None where nobody has it."""
        ...

    async def abort(self, run_id: str, tenant: str | None, reason: str) -> bool | None:
        """Have another worker cancel a run: whether it did; None where nobody has it."""
        ...

    def began(self, record: Mapping[str, Any], tenant: str | None, log: EventLog, *, subject: str) -> None:
        """A run of this worker has begun, started by `subject`; must return at once."""
        ...

    def ended(self, record: Mapping[str, Any], tenant: str | None) -> None:
        """A run of this worker is over; must return at once."""
        ...


class RemoteClient(Protocol):
    """Speaks to a server of tuvl, over any protocol. An async context manager.

    Every method raises `TuvlError` with what to do where the server does not answer as it should.
    """

    async def __aenter__(self) -> RemoteClient: ...

    async def __aexit__(self, *exc: object) -> None: ...

    def start(self, workflow: str, input: Mapping[str, Any], *, detach: bool) -> AsyncIterator[RecordedEvent]:
        """Start a run and follow it; leaving the iteration cancels it, unless it is detached."""
        ...

    def follow(self, run_id: str, after: int = 0) -> AsyncIterator[RecordedEvent]:
        """Follow a run from an event on."""
        ...

    async def runs(self) -> list[dict[str, Any]]:
        """The runs that the caller may see."""
        ...

    async def run(self, run_id: str) -> dict[str, Any]:
        """One run."""
        ...

    async def abort(self, run_id: str, reason: str) -> bool:
        """Cancel a run; False if it was over."""
        ...

    async def loops(self) -> tuple[list[dict[str, Any]], str | None]:
        """The loops that the caller may see, and what could not be seen."""
        ...

    async def direct(self, id: str, directive: Directive) -> Applied:
        """Ask something of a loop."""
        ...
