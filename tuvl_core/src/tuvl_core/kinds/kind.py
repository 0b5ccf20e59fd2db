"""The base class of every kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, overload

from tuvl_core.kinds.call import StepCall
from tuvl_core.kinds.declarations import Capabilities, Child, Cost, Effects, Keys, LoopShape, NoConfig, Signals, Sink
from tuvl_core.kinds.results import StepResult
from tuvl_core.kinds.views import PlanView, StepView

if TYPE_CHECKING:
    from tuvl_core.diagnostics import Diagnostic
    from tuvl_core.engine import App

__all__ = ["StepKind", "declared"]


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
