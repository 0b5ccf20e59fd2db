"""What a step kind is: the contract between the engine and whoever writes a kind.

Everything here is a Protocol, a base class or a value; nothing imports asyncio or a heavy library, so
that a plugin's entry module stays cheap to load. See `docs/reference/kinds.md` for the authoring guide.
"""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, TypeVar, overload

import attrs

from tuvl_core.unset import UNSET

if TYPE_CHECKING:
    import logging

    from tuvl_core.diagnostics import Diagnostic
    from tuvl_core.engine import App
    from tuvl_core.identity import Principal
    from tuvl_core.loops import LoopHandle
    from tuvl_core.telemetry import Span

__all__ = [
    "UNSET",
    "Capabilities",
    "Child",
    "Cost",
    "Dispatch",
    "Effects",
    "Keys",
    "LoopShape",
    "NoConfig",
    "PlanView",
    "Signals",
    "Sink",
    "StepCall",
    "StepKind",
    "StepResult",
    "StepView",
    "UsageMeter",
    "declared",
]

T = TypeVar("T")
EMPTY: Final[Mapping[str, Any]] = {}


# --- what a kind declares -------------------------------------------------------------------


@attrs.frozen(init=False)
class Signals:
    """The signals a step can leave by. `error` is always among them: any step may fail.

    Attributes:
        names: Every signal that is known.
        open: Whether others are possible too (a Functional node may return any).
        fallback: What leaves by `default` only because no route names it, for people; None: nothing does.
    """

    names: tuple[str, ...]
    open: bool
    fallback: str | None

    def __init__(self, *names: str, open: bool = False, fallback: str | None = None) -> None:
        self.__attrs_init__(names=names, open=open, fallback=fallback)

    @classmethod
    def anything(cls) -> Signals:
        """The worst case: any signal at all."""
        return cls("default", open=True)

    def can_emit(self, signal: str) -> bool:
        """Whether a step with these signals may leave by `signal`."""
        return self.open or signal == "error" or signal in self.names


@attrs.frozen(init=False)
class Keys:
    """A set of context keys, or all of them.

    Attributes:
        names: Keys by name.
        open: Whether keys beyond `names` may be meant.
    """

    names: frozenset[str]
    open: bool

    def __init__(self, *names: str, open: bool = False) -> None:
        self.__attrs_init__(names=frozenset(names), open=open)

    @classmethod
    def anything(cls) -> Keys:
        """The worst case: every key."""
        return cls(open=True)


class Effects(enum.Enum):
    """What running a step does to the world, from harmless to final."""

    PURE = "pure"
    """Same input, same result, nothing touched."""
    READS = "reads"
    """Looks at the world, changes nothing."""
    WRITES = "writes"
    """Changes the world in a way that can be undone or repeated."""
    IRREVERSIBLE = "irreversible"
    """Changes the world in a way that cannot be taken back. The worst case."""


@attrs.frozen(kw_only=True)
class Capabilities:
    """What a step may reach for. The default of every field is "no".

    Attributes:
        network: Host names, or `("*",)` for any.
        filesystem: Files of the machine.
        subprocess: Starting other programs.
        database: A data source of the project.
        model: Calling a language model.
        environment: Reading environment variables.
    """

    network: tuple[str, ...] = ()
    filesystem: bool = False
    subprocess: bool = False
    database: bool = False
    model: bool = False
    environment: bool = False

    @classmethod
    def everything(cls) -> Capabilities:
        """The worst case."""
        return cls(
            network=("*",),
            filesystem=True,
            subprocess=True,
            database=True,
            model=True,
            environment=True,
        )


@attrs.frozen(kw_only=True)
class Cost:
    """An upper bound of one execution of a step, of what passes through tuvl. None means unbounded.

    Attributes:
        model_calls: Calls of a language model, attempts included.
        tool_calls: Steps dispatched as tools.
        tokens: Prompt and completion tokens together, as a run's usage counts them.
        seconds: Wall clock, without the time for which somebody pauses a loop.
        money: US dollars for language models, at list prices.
        call_tokens: Tokens of the largest single model call, of a kind that asks `call.check_limits()` before
            each; None: not known, or it does not ask.
        why: The reason, where a field is None.
        reasons: Reasons of single fields, by name, where `why` is not theirs.
        how: What the bound is made of, for people: `8 turns, each with up to 2 attempts`.
    """

    model_calls: int | None = 0
    tool_calls: int | None = 0
    tokens: int | None = 0
    seconds: float | None = None
    money: float | None = 0.0
    call_tokens: int | None = None
    why: str = ""
    reasons: Mapping[str, str] = EMPTY
    how: str = ""

    @classmethod
    def unbounded(cls, why: str) -> Cost:
        """The worst case: no bound is known for anything."""
        return cls(model_calls=None, tool_calls=None, tokens=None, seconds=None, money=None, why=why)

    def why_unbounded(self, quantity: str) -> str:
        """The reason why a field is None."""
        return self.reasons.get(quantity) or self.why or "the kind does not say"


@attrs.frozen
class Child:
    """A step that another step refers to.

    Attributes:
        ref: Id of the step referred to.
        role: `tool`: only its owner calls it, so it leaves the spine.
        path: Where the reference stands, as path below the step's mapping, for diagnostics.
        parameters: JSON Schema of the arguments it is called with, where its owner says so.
        reveal: Secure keys of its result that its owner shows to a model.
    """

    ref: str
    role: str = "tool"
    path: tuple[str | int, ...] = ()
    parameters: Mapping[str, Any] | None = attrs.field(default=None, eq=False)
    reveal: tuple[str, ...] = ()


@attrs.frozen
class Sink:
    """A place in a step's config where it matters who chose the values.

    Attributes:
        what: `url_host`, `sql_identifier`, `command` or `file_path`: a value that a language model chose is an error
            there; `prompt`: it is what the place is for.
        reads: First names of the context that the place reads.
        path: Where it stands, as path below the step's mapping.
    """

    what: str
    reads: tuple[str, ...]
    path: tuple[str | int, ...] = ()


@attrs.frozen(kw_only=True)
class LoopShape:
    """What is known, before any run, of the loop that a step opens with `call.open_loop`. None: not known.

    Attributes:
        max_iterations: The most turns.
        token_budget: The tokens after which it ends; None: it has no budget of its own.
        tools: Refs of the steps that it may call.
        calls_per_turn: The most calls that one turn can hold.
    """

    max_iterations: int | None = None
    token_budget: int | None = None
    tools: tuple[str, ...] | None = None
    calls_per_turn: int | None = None


@attrs.frozen(kw_only=True)
class NoConfig:
    """Config of a kind that has no keys of its own."""


# --- what a kind sees -----------------------------------------------------------------------


class StepView(Protocol):
    """A step as its declarations see it: typed, not yet running."""

    @property
    def id(self) -> str:
        """Its id."""
        ...

    @property
    def kind_name(self) -> str:
        """Its kind, as it is written in documents."""
        ...

    @property
    def config(self) -> Any:
        """Its own keys, typed: an instance of the kind's `config`."""
        ...

    @property
    def description(self) -> str | None:
        """What it is for: what a model reads of it where it is a tool."""
        ...

    @property
    def routes(self) -> Mapping[str, str]:
        """Where each signal leads: a step's id, or `END`."""
        ...

    @property
    def timeout(self) -> float | None:
        """How long it may take, in seconds; None: as long as the run may."""
        ...

    @property
    def sections(self) -> Mapping[str, Any]:
        """What it says in sections that plugins bring, by key."""
        ...

    @property
    def on_spine(self) -> bool:
        """Whether runs walk over it; False where only another step's call reaches it: its routes never count."""
        ...

    @property
    def prepared(self) -> Any:
        """What `StepKind.prepare` returned; None before that."""
        ...

    def locate(self, *path: str | int) -> Any:
        """The `Location` of a key below the step's mapping, or of the step itself."""
        ...


class PlanView(Protocol):
    """A workflow as declarations see it."""

    @property
    def workflow(self) -> str:
        """The workflow's name."""
        ...

    @property
    def steps(self) -> Mapping[str, StepView]:
        """Its steps that can be read, by id, in file order."""
        ...

    @property
    def project(self) -> Any:
        """The `Project` the workflow belongs to."""
        ...

    def kind_of(self, step: StepView) -> StepKind:
        """The kind that runs `step`."""
        ...

    def tool_parameters(self, step: StepView) -> dict[str, Any]:
        """JSON Schema of a step's arguments as a tool: declared, overridden by a hook, or derived."""
        ...


class UsageMeter(Protocol):
    """Counts what a step consumes; whatever is added counts in every enclosing loop and the run."""

    tokens: int
    llm_calls: int
    llm_attempts: int
    tool_calls: int

    def add(self, *, tokens: int = 0, llm_calls: int = 0, llm_attempts: int = 0, tool_calls: int = 0) -> None:
        """Count what has just been used."""
        ...


@attrs.define
class StepResult:
    """What a step did. The context changes through this and nothing else.

    Attributes:
        signal: Which route to take.
        writes: Context keys to set.
        deletes: Context keys to remove.
        error: For a failing exit: what went wrong; becomes `_last_error`.
        error_type: Its short name; becomes `_last_error_type`.
        result: The run's result, where the step decides it (a Response); UNSET otherwise.
        status: The HTTP status that goes with `result`.
        timed_out: Set by the engine alone: its own limit around a tool call passed.
    """

    signal: str = "default"
    writes: Mapping[str, Any] = EMPTY
    deletes: Sequence[str] = ()
    error: str | None = None
    error_type: str | None = None
    result: Any = UNSET
    status: int = 200
    timed_out: bool = False


@attrs.define
class Dispatch:
    """What came of a step that was called as a tool.

    Attributes:
        signal: The signal it left by; it never routes the workflow.
        delta: Public context keys it changed, the call's arguments not counted. Secrets are still
            wrapped: mask it before it leaves.
        deletes: Public context keys it removed.
        output: The value of its declared output key, or None.
        error: What went wrong, if it failed.
        error_type: The short name of the failure.
        timed_out: The engine's own limit fired: fatal for the caller's loop.
    """

    signal: str = "default"
    delta: Mapping[str, Any] = EMPTY
    deletes: Sequence[str] = ()
    output: Any = None
    error: str | None = None
    error_type: str | None = None
    timed_out: bool = False


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


# --- the kind -------------------------------------------------------------------------------


class StepKind:
    """A kind of step. Subclass it, name it, give it a Config and a `run`.

    Every declaration below is a constant or a method of `(step, plan)`, and has the worst case as its
    default, so that a kind that says nothing is treated with care. One instance serves every run: keep
    no state in it.
    """

    name: ClassVar[str] = ""
    """What stands after `kind:`. First-party names are unprefixed; others read `acme.Delay`."""

    Config: ClassVar[type[Any]] = NoConfig
    """A frozen attrs class: the step's own keys."""

    progress_channel: ClassVar[str | None] = None
    """Where this kind's progress lies in an event's snapshot; None: `progress.<distribution>`."""

    signals: ClassVar[Signals | Callable[..., Signals]] = Signals.anything()
    """The signals a step can leave by."""

    children: ClassVar[Sequence[Child] | Callable[..., Sequence[Child]]] = ()
    """Steps this one refers to."""

    composite: ClassVar[bool | Callable[..., bool]] = False
    """True when the step's inner calls pass the effect door themselves, instead of the whole."""

    callable_as_tool: ClassVar[bool | Callable[..., bool]] = True
    """Whether an agent may be given this step as a tool."""

    tool_parameters: ClassVar[Mapping[str, Any] | Callable[..., Mapping[str, Any] | None] | None] = None
    """JSON Schema of the arguments as a tool; None: derived from the config's template variables."""

    output_key: ClassVar[str | Callable[..., str | None] | None] = None
    """The context key that holds the step's result."""

    mutates_context: ClassVar[bool | Callable[..., bool]] = True
    """Whether `run` writes to `call.context` or changes nested values it reads there."""

    reads: ClassVar[Keys | Callable[..., Keys]] = Keys.anything()
    """Context keys the step reads."""

    writes: ClassVar[Keys | Callable[..., Keys]] = Keys.anything()
    """Context keys the step writes."""

    effects: ClassVar[Effects | Callable[..., Effects]] = Effects.IRREVERSIBLE
    """What running it does to the world."""

    transactional: ClassVar[bool | Callable[..., bool]] = False
    """Whether all it writes lies in a run scope's transaction, which a run that fails rolls back."""

    capabilities: ClassVar[Capabilities | Callable[..., Capabilities]] = Capabilities.everything()
    """What it may reach for."""

    cost: ClassVar[Cost | Callable[..., Cost]] = Cost.unbounded("the kind declares no cost")
    """An upper bound of one execution."""

    loop: ClassVar[LoopShape | Callable[..., LoopShape | None] | None] = None
    """What bounds the loop that it opens for supervisors; None: it opens none."""

    model_writes: ClassVar[Keys | Callable[..., Keys] | None] = None
    """Context keys whose values a language model chose; None: all it writes, where its capabilities name a model."""

    sinks: ClassVar[Sequence[Sink] | Callable[..., Sequence[Sink]]] = ()
    """Places where a value that a language model chose would decide what the step reaches, and its prompts."""

    def validate(self, step: StepView, plan: PlanView) -> Iterable[Diagnostic]:
        """Findings about one step of this kind that its Config alone cannot show."""
        return ()

    def prepare(self, step: StepView, plan: PlanView) -> Any:
        """Do at compile time what every run would repeat; the value is `call.step.prepared`.

        Called once per step and plan, before anything runs. Must not open connections.

        Raises:
            ProjectError: The step refers to something that does not exist.
        """
        return None

    async def open_resources(self, app: App) -> None:
        """Open what outlives a run: put it into `app.resources`, register `app.on_close`.

        Called once per process, before the first run of a plan that holds a step of this kind.
        """

    async def discover(self, step: StepView, plan: PlanView, app: App) -> bool:
        """Learn from outside what declarations depend on, such as the schema of a remote tool.

        Called once per process and plan, after `open_resources` and before the first run. Keep it to a
        few seconds, and treat what cannot be had as unknown: it must not fail for that. `tuvl validate`
        never calls it.

        Returns:
            Whether something was learned, so that the plan is compiled anew.
        """
        return False

    async def run(self, call: StepCall) -> StepResult:
        """Do the step.

        Raises:
            StepError: The step fails; it leaves by `error`. Any other exception is a bug and fails
                the run, or the tool call where the step is a tool.
        """
        raise NotImplementedError(f"kind {self.name or type(self).__name__} does not define run")


@overload
def declared(kind: StepKind, what: str, step: StepView, plan: PlanView) -> Any: ...
@overload
def declared(kind: StepKind, what: str, step: None = None, plan: None = None) -> Any: ...
def declared(kind: StepKind, what: str, step: StepView | None = None, plan: PlanView | None = None) -> Any:
    """Read a declaration, whether the kind gives it as a constant or as a method.

    Without a step, a declaration that depends on the step reads as the base class's worst case.
    """
    value = getattr(kind, what)
    if not callable(value):
        return value
    if step is None or plan is None:
        return getattr(StepKind, what)
    return value(step, plan)
