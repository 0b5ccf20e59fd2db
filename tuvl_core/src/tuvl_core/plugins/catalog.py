"""What plugins bring: kinds, documents, sections, validators, each name with one owner."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from tuvl_core.plugins.candidate import Candidate, KindEntry
from tuvl_core.plugins.hooks import Hooks
from tuvl_core.plugins.importing import cause, way_out

__all__ = ["Brought", "Catalog", "bring"]

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


class Catalog:
    """Contributions by name, as they may be used."""

    __slots__ = ("document_kinds", "kinds", "owners", "step_sections", "validators", "workflow_sections")

    def __init__(self, brought: Iterable[Brought]) -> None:
        self.kinds: dict[str, KindEntry] = {}
        self.document_kinds: dict[str, Any] = {}
        self.workflow_sections: dict[str, Any] = {}
        self.step_sections: dict[str, Any] = {}
        self.validators: list[tuple[Candidate, Any]] = []
        self.owners: dict[tuple[str, str], Candidate] = {}
        for item in brought:
            for (what, name), value in item.names.items():
                self._add(item.candidate, what, name, value)
        for names in (self.kinds, self.document_kinds, self.workflow_sections, self.step_sections):
            _sort(names)

    def _add(self, candidate: Candidate, what: str, name: str, value: Any) -> None:
        self.owners[what, name] = candidate
        if what == "kind":
            self.kinds[name] = KindEntry(name=name, kind=value, candidate=candidate)
        elif what == "document kind":
            self.document_kinds[name] = value
        elif what == "workflow section":
            self.workflow_sections[name] = value
        elif what == "step section":
            self.step_sections[name] = value
        elif all(value is not other for _, other in self.validators):
            self.validators.append((candidate, value))  # once, however many codes it has


def _sort(names: dict[str, Any]) -> None:
    items = sorted(names.items())
    names.clear()
    names.update(items)


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
                for what, name, value in check(candidate, implementation({})):
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
        if kind.kind == KERNEL_DOCUMENT:
            raise ValueError(f"documents of kind {KERNEL_DOCUMENT} are the kernel's")
        yield "document kind", kind.kind, kind


def _sections(what: str, reserved: frozenset[str]) -> Callable[[Candidate, Any], Iterator[tuple[str, str, Any]]]:
    def check(candidate: Candidate, value: Any) -> Iterator[tuple[str, str, Any]]:
        from tuvl_core.contributions import Section

        for section in _listed(value):
            _expect(section, Section)
            if section.key in reserved:
                raise ValueError(f"the key {section.key!r} is the kernel's")
            yield what, section.key, section

    return check


def _validators(candidate: Candidate, value: Any) -> Iterator[tuple[str, str, Any]]:
    from tuvl_core.contributions import Validator

    for validator in _listed(value):
        _expect(validator, Validator)
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


_CHECKS: Final[dict[str, Callable[[Candidate, Any], Iterator[tuple[str, str, Any]]]]] = {
    "tuvl_step_kinds": _kinds,
    "tuvl_document_kinds": _documents,
    "tuvl_workflow_sections": _sections("workflow section", RESERVED_WORKFLOW_KEYS),
    "tuvl_step_sections": _sections("step section", RESERVED_STEP_KEYS),
    "tuvl_validators": _validators,
}
