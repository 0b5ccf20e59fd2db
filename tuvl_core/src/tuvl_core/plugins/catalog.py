"""What plugins bring: kinds, documents, sections, validators, each name with one owner."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Final, NamedTuple

from tuvl_core.plugins.candidate import Candidate, KindEntry
from tuvl_core.plugins.contributed import Contributed
from tuvl_core.plugins.hooks import Hooks
from tuvl_core.plugins.importing import cause, way_out

__all__ = ["Brought", "Catalog", "Failure", "bring"]

RESERVED_WORKFLOW_KEYS: Final = frozenset({"input", "limits", "output", "reveal", "steps"})
RESERVED_STEP_KEYS: Final = frozenset({"id", "kind", "description", "timeout", "routes"})
KERNEL_DOCUMENT: Final = "Workflow"


class Brought:
    """Everything that one plugin brings, checked.

    Attributes:
        candidate: The plugin.
        names: Contributions by what they are and their name: `("kind", "acme.Delay")`.
    """

    __slots__ = ("candidate", "names")

    def __init__(self, candidate: Candidate) -> None:
        self.candidate = candidate
        self.names: dict[tuple[str, str], Any] = {}

    def add(self, what: str, name: str, value: Any) -> None:
        """Take in one contribution.

        Raises:
            ValueError: The plugin brings the name twice.
        """
        if (what, name) in self.names:
            raise ValueError(f"it brings the {what} {name!r} twice")
        self.names[what, name] = value


class Failure(NamedTuple):
    """A lazy contribution that could not be loaded; the rest of its plugin goes on."""

    candidate: Candidate
    what: str
    name: str
    error: str

    @property
    def message(self) -> str:
        """What is wrong, in one line."""
        return f"the {self.what} {self.name!r} of plugin {self.candidate.label} cannot be loaded: {self.error}"

    @property
    def remedy(self) -> str:
        """What to do about it."""
        return f"upgrade {self.candidate.dist} or tell its authors, or {way_out(self.candidate)}"


class Catalog:
    """Contributions by name, as they may be used.

    Attributes:
        owners: Who brings what, by what it is and its name.
        failures: Lazy contributions that could not be loaded when something asked for them.
    """

    __slots__ = ("_names", "failures", "owners", "validators")

    def __init__(self, brought: Iterable[Brought]) -> None:
        self.validators: list[tuple[Candidate, Any]] = []
        self.owners: dict[tuple[str, str], Candidate] = {}
        self.failures: list[Failure] = []
        given: dict[str, dict[str, Any]] = {what: {} for what in _WHATS}
        waiting: dict[str, dict[str, Callable[[], Any]]] = {what: {} for what in _WHATS}
        for item in brought:
            for (what, name), value in item.names.items():
                self.owners[what, name] = item.candidate
                if what not in given:
                    self._add_validator(item.candidate, value)
                elif type(value) is _Waiting:
                    waiting[what][name] = partial(self._load, item.candidate, what, name, value)
                else:
                    given[what][name] = _entry(item.candidate, what, name, value)
        self._names = {what: Contributed(given[what], waiting[what]) for what in _WHATS}

    @property
    def kinds(self) -> Contributed:
        """Step kinds, each a `KindEntry`."""
        return self._names["kind"]

    @property
    def document_kinds(self) -> Contributed:
        """Document kinds."""
        return self._names["document kind"]

    @property
    def workflow_sections(self) -> Contributed:
        """Keys under a workflow's `spec`."""
        return self._names["workflow section"]

    @property
    def step_sections(self) -> Contributed:
        """Keys on every step."""
        return self._names["step section"]

    def load(self) -> None:
        """Load everything that is lazy, so that `failures` is complete."""
        for names in self._names.values():
            names.load()

    def _add_validator(self, candidate: Candidate, value: Any) -> None:
        if all(value is not other for _, other in self.validators):
            self.validators.append((candidate, value))  # once, however many codes it has

    def _load(self, candidate: Candidate, what: str, name: str, waiting: _Waiting) -> Any:
        try:
            [(_, found, value)] = waiting.check(candidate, [waiting.load()])
            if found != name:
                raise ValueError(f"it gives {found!r}")
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self.failures.append(Failure(candidate, what, name, cause(error)))
            return None
        return _entry(candidate, what, name, value)


def _entry(candidate: Candidate, what: str, name: str, value: Any) -> Any:
    return KindEntry(name=name, kind=value, candidate=candidate) if what == "kind" else value


_WHATS: Final = ("kind", "document kind", "workflow section", "step section")


def bring(hooks: Hooks) -> list[Brought]:
    """Ask every plugin what it brings; one that raises, or brings what is none, is left out as a whole."""
    found: dict[str, Brought] = {}
    for hook, check in _CHECKS.items():
        for implementation in hooks.implementations(hook):
            candidate = implementation.candidate
            if candidate.state != "ready":
                continue
            item = found.setdefault(f"{candidate.dist}:{candidate.name}", Brought(candidate))
            try:
                for what, name, value in _checked(candidate, check, implementation({})):
                    item.add(what, name, value)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                candidate.leave_out(
                    "failed", f"{hook}: {cause(error)}", f"upgrade it or tell its authors, or {way_out(candidate)}"
                )
    for item in found.values():
        if item.candidate.state != "ready":
            hooks.drop(item.candidate)
    return [item for item in found.values() if item.candidate.state == "ready"]


# --- what a contribution must be ------------------------------------------------------------

Check = Callable[[Candidate, Any], Iterator[tuple[str, str, Any]]]


class _Waiting(NamedTuple):
    """A lazy contribution, and what it is held to when it is loaded."""

    load: Callable[[], Any]
    check: Check


def _checked(candidate: Candidate, check: Check, value: Any) -> Iterator[tuple[str, str, Any]]:
    """Check what a hook gives; of what is lazy only the name."""
    from tuvl_core.contributions import Lazy

    what = _LAZY.get(check)
    for item in _listed(value):
        if not isinstance(item, Lazy):
            yield from check(candidate, [item])
            continue
        if what is None:
            raise TypeError(f"{item!r} stands where nothing is lazy")
        if not isinstance(item.name, str) or not item.name:
            raise ValueError(f"{item!r} has no `name`")
        if not callable(item.load):
            raise TypeError(f"`load` of {item!r} is no function")
        _refuse_reserved(what, item.name)
        yield what, item.name, _Waiting(item.load, check)


def _refuse_reserved(what: str, name: str) -> None:
    if what == "document kind" and name == KERNEL_DOCUMENT:
        raise ValueError(f"documents of kind {KERNEL_DOCUMENT} are the kernel's")
    if name in _RESERVED.get(what, ()):
        raise ValueError(f"the key {name!r} is the kernel's")


def _kinds(candidate: Candidate, value: Any) -> Iterator[tuple[str, str, Any]]:
    from tuvl_core.kinds import StepKind

    for given in _listed(value):
        kind = given() if isinstance(given, type) else given
        if not isinstance(kind, StepKind):
            raise TypeError(f"{given!r} is no StepKind")
        if not isinstance(kind.name, str) or not kind.name:
            raise ValueError(f"{type(kind).__name__} has no `name`")
        if not inspect.iscoroutinefunction(kind.run):
            raise TypeError(f"`run` of {kind.name} is no `async def`")
        if not hasattr(kind.Config, "__attrs_attrs__"):
            raise TypeError(f"`Config` of {kind.name} is no attrs class")
        yield "kind", kind.name, kind


def _documents(candidate: Candidate, value: Any) -> Iterator[tuple[str, str, Any]]:
    from tuvl_core.contributions import DocumentKind

    for kind in _listed(value):
        _expect(kind, DocumentKind)
        _refuse_reserved("document kind", kind.kind)
        yield "document kind", kind.kind, kind


def _sections(what: str) -> Check:
    def check(candidate: Candidate, value: Any) -> Iterator[tuple[str, str, Any]]:
        from tuvl_core.contributions import Section

        for section in _listed(value):
            _expect(section, Section)
            _refuse_reserved(what, section.key)
            yield what, section.key, section

    return check


def _validators(candidate: Candidate, value: Any) -> Iterator[tuple[str, str, Any]]:
    from tuvl_core.contributions import LazyCodes, Validator

    for validator in _listed(value):
        _expect(validator, Validator)
        if candidate.first_party and isinstance(validator.codes, LazyCodes):
            # Nobody else may bring a code with tuvl's prefix: there is nothing to compare them with.
            yield "validator", f"{candidate.dist}:{id(validator)}", validator
            continue
        for code in validator.codes:
            if code.code.startswith("TUVL-") and not candidate.first_party:
                raise ValueError(f"the code {code.code} begins with TUVL-, which is tuvl's own prefix")
            yield "code", code.code, validator


def _listed(value: Any) -> Iterable[Any]:
    if value is None:
        return ()
    if isinstance(value, (str, bytes, type)) or not isinstance(value, Iterable):
        raise TypeError(f"it gives {type(value).__name__}, not a list")
    return value


def _expect(value: Any, cls: type) -> None:
    if not isinstance(value, cls):
        raise TypeError(f"{value!r} is no {cls.__name__}")


_RESERVED: Final = {"workflow section": RESERVED_WORKFLOW_KEYS, "step section": RESERVED_STEP_KEYS}
_CHECKS: Final[dict[str, Check]] = {
    "tuvl_step_kinds": _kinds,
    "tuvl_document_kinds": _documents,
    "tuvl_workflow_sections": _sections("workflow section"),
    "tuvl_step_sections": _sections("step section"),
    "tuvl_validators": _validators,
}
_LAZY: Final = dict(zip(_CHECKS.values(), _WHATS, strict=False))
"""What each hook's lazy contributions are; validators have lazy codes instead."""
