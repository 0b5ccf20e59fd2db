"""What a kind declares of its steps, as values."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, Final

import attrs

__all__ = ["Capabilities", "Child", "Cost", "Effects", "Keys", "LoopShape", "NoConfig", "Signals", "Sink"]

EMPTY: Final[Mapping[str, Any]] = {}


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
