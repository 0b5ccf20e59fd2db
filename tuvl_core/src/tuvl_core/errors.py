"""Every exception tuvl raises on purpose, in one tree.

    TuvlError
    ├── SettingsError              a setting has no usable value
    ├── PluginError                a plugin cannot be used as asked
    ├── ProjectError               the project has structure errors (carries diagnostics)
    ├── UnknownWorkflowError       no workflow of that name
    ├── InputError                 a run's input does not fit `spec.input`
    ├── DeniedError                the principal may not do this
    │   └── UnauthenticatedError   nobody knows who is calling
    ├── UnknownRunError            no run or loop of that id, or none that the caller may see
    ├── BusyError                  too much runs already; it may be tried again later
    ├── CodecError                 a value has no wire form or no lossless form
    ├── TemplateError              a template or condition cannot be compiled
    ├── StepError                  a step failed as a step may fail: it leaves by `error`
    │   ├── UndefinedNameError     a template names something the context does not hold
    │   └── StepTimeoutError       a step's own `timeout` passed
    └── RunError                   the run as a whole fails
        ├── UnroutedSignalError    a signal that `routes` does not map
        ├── RunLimitError          `max_steps`, `timeout_s` or `token_budget` reached
        ├── StepCrashedError       a kind raised what is not its `error`: a bug
        ├── AccessError            a step reached for what the run may not touch
        ├── ConflictError          another run was in the way; all was undone and may be done again
        └── CommitFailedError      a scope refused to finish the run

`StepError` is what a kind raises; everything under `RunError` is the engine's to raise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tuvl_core.diagnostics import Diagnostic

__all__ = [
    "AccessError",
    "BusyError",
    "CodecError",
    "CommitFailedError",
    "ConflictError",
    "DeniedError",
    "InputError",
    "PluginError",
    "ProjectError",
    "RunError",
    "RunLimitError",
    "SettingsError",
    "StepCrashedError",
    "StepError",
    "StepTimeoutError",
    "TemplateError",
    "TuvlError",
    "UnauthenticatedError",
    "UndefinedNameError",
    "UnknownRunError",
    "UnknownWorkflowError",
    "UnroutedSignalError",
]


_SHOWN: Final = 5
"""How many findings the text of an error shows."""


class TuvlError(Exception):
    """Base of every error tuvl raises on purpose."""


class SettingsError(TuvlError):
    """A setting has no usable value; the message names the setting, its source and the fix."""


class PluginError(TuvlError):
    """A plugin cannot be used as asked; the message names distribution and remedy."""


class ProjectError(TuvlError):
    """The project, or the part of it a run needs, has structure errors. As text it shows the first of them.

    Args:
        message: One line for people.
        diagnostics: Every finding that stands in the way, located.
    """

    def __init__(self, message: str, diagnostics: Iterable[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)

    def __str__(self) -> str:
        more = [text for item in self.diagnostics if (text := str(item)) not in self.message]
        lines = [self.message, *(f"  {text}" for text in more[:_SHOWN])]
        if len(more) > _SHOWN:
            lines.append(f"  … and {len(more) - _SHOWN} more")
        return "\n".join(lines)


class UnknownWorkflowError(TuvlError):
    """No workflow of that name is in the project."""

    def __init__(self, name: str, known: Sequence[str] = ()) -> None:
        shown = ", ".join(sorted(known)) or "none"
        super().__init__(f"there is no workflow {name!r} in this project; it has: {shown}")
        self.name = name
        self.known = tuple(known)


class InputError(TuvlError):
    """A run's input does not fit the workflow's `spec.input`.

    Args:
        message: One line for people.
        problems: `(path, message)` for each field that does not fit.
    """

    def __init__(self, message: str, problems: Iterable[tuple[str, str]] = ()) -> None:
        super().__init__(message)
        self.problems: tuple[tuple[str, str], ...] = tuple(problems)


class DeniedError(TuvlError):
    """The principal holds neither the scope nor the group that is required."""


class UnauthenticatedError(DeniedError):
    """Nobody knows who is calling: credentials are missing, or they are not good."""


class UnknownRunError(TuvlError):
    """There is no run or loop of that id, or none that the caller may see: both are told the same."""

    def __init__(self, id: str, what: str = "run") -> None:
        super().__init__(f"there is no {what} {id!r}")
        self.id = id


class BusyError(TuvlError):
    """Too much runs already, or the process is about to end.

    Args:
        message: One line for people.
        retry_after_s: After how many seconds it may be tried again.
        draining: Whether the process is about to end.
    """

    def __init__(self, message: str, *, retry_after_s: int = 1, draining: bool = False) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.draining = draining


class CodecError(TuvlError):
    """A value has no wire form or no lossless form; `path` is the key that holds it."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path


class TemplateError(TuvlError):
    """A template or condition cannot be compiled.

    Args:
        message: What is wrong and what to do.
        offset: Where in its text, in characters from the start.
        path: Keys and indices that lead to the text, where a structure was compiled.
    """

    def __init__(self, message: str, offset: int = 0, *, path: tuple[str | int, ...] = ()) -> None:
        super().__init__(message)
        self.offset = offset
        self.path = path


class StepError(TuvlError):
    """A step failed in a way a workflow can route: the step leaves by `error`.

    Args:
        message: What went wrong, fit for a person and for a model. Never a secret.
        type: The short name that becomes `_last_error_type`.
        writes: Context keys to keep although the step failed, such as a status code.
    """

    default_type = "error"

    def __init__(self, message: str, *, type: str | None = None, writes: dict[str, object] | None = None) -> None:
        super().__init__(message)
        self.type = type or self.default_type
        self.writes = writes or {}


class UndefinedNameError(StepError):
    """A template names something the context does not hold and gives no default."""

    default_type = "undefined_name"


class StepTimeoutError(StepError):
    """A step's own `timeout` passed."""

    default_type = "timeout"


class RunError(TuvlError):
    """The run as a whole fails.

    Args:
        message: What went wrong and how far the run came.
        step: Id of the step it happened at, where there is one.
        workflow: Name of the workflow.
    """

    def __init__(self, message: str, *, step: str | None = None, workflow: str | None = None) -> None:
        super().__init__(message)
        self.step = step
        self.workflow = workflow


class UnroutedSignalError(RunError):
    """A step yielded a signal that its `routes` does not map."""

    def __init__(self, *, workflow: str, step: str, signal: str, mapped: Sequence[str]) -> None:
        shown = ", ".join(mapped) or "none"
        super().__init__(
            f"workflow {workflow!r}: step {step!r} left by signal {signal!r}, which its routes "
            f"do not map (mapped: {shown}); add `{signal}: <step id or END>` to its routes",
            step=step,
            workflow=workflow,
        )
        self.signal = signal
        self.mapped = tuple(mapped)


class RunLimitError(RunError):
    """A bound of `spec.limits` was reached; `limit` is its key."""

    def __init__(self, message: str, *, limit: str, step: str | None = None, workflow: str | None = None) -> None:
        super().__init__(message, step=step, workflow=workflow)
        self.limit = limit


class StepCrashedError(RunError):
    """A kind raised what is not its `error`: a bug in the kind, not in the workflow."""


class AccessError(RunError):
    """A step reached for something this run may not touch."""


class ConflictError(RunError):
    """Another run was in the way: a deadlock, or a transaction that cannot be serialized.

    What this run did will be undone. The engine does it again where that repeats nothing outside
    the transaction (`Run.repeatable`); else the run fails.

    Args:
        message: What was in the way.
        type: Its short name, such as `deadlock`.
        step: Id of the step it happened at, where there is one.
        workflow: Name of the workflow.
    """

    def __init__(
        self, message: str, *, type: str = "conflict", step: str | None = None, workflow: str | None = None
    ) -> None:
        super().__init__(message, step=step, workflow=workflow)
        self.type = type


class CommitFailedError(RunError):
    """A scope refused to finish the run, so its outcome is `failed`."""

    type = "commit_failed"
