"""Steps: from the mapping in the file to a `StepDefinition`, level by level."""

from __future__ import annotations

import re
from typing import Any, Final

import attrs

from tuvl_core.diagnostics import Code, Diagnostic
from tuvl_core.documents import Document
from tuvl_core.project import codes
from tuvl_core.project.catalog import Catalog
from tuvl_core.project.sections import read_sections, unknown_keys
from tuvl_core.project.unknown import unknown_step_kind
from tuvl_core.project.workflow import END, StepDefinition, StepHead
from tuvl_core.structure import Level, did_you_mean, keys_of, structure

__all__ = ["check_references", "of_step", "read_step"]

_ID: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_HEAD: Final = tuple(key.name for key in keys_of(StepHead))

Path = tuple[str | int, ...]


def read_step(
    data: Any, document: Document, path: Path, catalog: Catalog
) -> tuple[StepDefinition | None, list[Diagnostic]]:
    """Read one step: what all steps have, sections, and the kind's own keys, each for itself.

    Returns:
        The step, with `config` None where its own keys could not be read; None if it has no id.
    """
    if not isinstance(data, dict):
        return None, structure(data, StepHead, document=document, path=path, environment=catalog.environment)[1]
    reader = _StepReader(data, document, path, catalog)
    step = reader.read()
    return step, reader.problems


class _StepReader:
    def __init__(self, data: dict[str, Any], document: Document, path: Path, catalog: Catalog) -> None:
        self.data = data
        self.document = document
        self.path = path
        self.catalog = catalog
        self.problems: list[Diagnostic] = []
        self.id = self._source_text("id")
        self.kind = self._source_text("kind") or catalog.default_kind

    def _source_text(self, key: str) -> str | None:
        value = self.data.get(key)
        return value or None if isinstance(value, str) else self.document.raw((*self.path, key))

    def read(self) -> StepDefinition | None:
        head = self._structure({key: self.data[key] for key in _HEAD if key in self.data}, StepHead)
        sections = self._sections()
        config = self._config(sections)
        if self.id is None:
            if head is not None:
                self._problem(codes.BAD_ID, "an empty text cannot be an id", "id", "name the step")
            return None
        self._check_id(self.id)
        return StepDefinition(
            id=self.id,
            kind=self.kind,
            config=config,
            description=head.description if head is not None else None,
            timeout=head.timeout if head is not None else None,
            routes=head.routes if head is not None else self._routes(),
            sections=sections,
            document=self.document,
            path=self.path,
        )

    def _sections(self) -> dict[str, Any]:
        sections, found = read_sections(
            self.data,
            self.catalog.plugins.step_sections,
            document=self.document,
            path=self.path,
            environment=self.catalog.environment,
            levels=self._levels,
        )
        self.problems += found
        return sections

    def _config(self, sections: dict[str, Any]) -> Any:
        own = {
            key: value
            for key, value in self.data.items()
            if key not in _HEAD and key not in self.catalog.plugins.step_sections
        }
        entry = self.catalog.plugins.kinds.get(self.kind)
        if entry is None:
            self._unknown_kind()
            return None
        known = {key.name for key in keys_of(entry.kind.Config)}
        strangers = [key for key in own if key not in known]
        self.problems += unknown_keys(strangers, self.document, self.path, self.catalog, self._levels)
        config = self._structure({key: own[key] for key in own if key in known}, entry.kind.Config)
        # A key that is not known may be the one that was meant: nothing runs on a guess.
        return None if strangers else config

    def _structure(self, data: dict[str, Any], cls: Any) -> Any:
        value, found = structure(
            data,
            cls,
            document=self.document,
            path=self.path,
            environment=self.catalog.environment,
            levels=self._levels,
        )
        self.problems += found
        return value

    def _levels(self) -> Level:
        return self.catalog.workflow_document_level(self.kind)

    def _routes(self) -> dict[str, str]:
        """What can be said of the routes although the keys beside them are wrong."""
        routes = self.data.get("routes")
        if not isinstance(routes, dict):
            return {}
        raw = {signal: self.document.raw((*self.path, "routes", signal)) for signal in routes}
        return {signal: target for signal, target in raw.items() if target is not None}

    def _unknown_kind(self) -> None:
        written = "kind" in self.data
        if written:
            message = f"nothing that is installed knows steps of kind `{self.kind}`"
        else:
            message = f"the step has no `kind`, and its default `{self.kind}` is not installed"
        self._problem(codes.UNKNOWN_KIND, message, "kind", unknown_step_kind(self.kind, self.catalog.plugins))

    def _check_id(self, id: str) -> None:
        if id == END:
            message = f"`{END}` is no id: as the target of a route it completes the run"
            self._problem(codes.BAD_ID, message, "id", "choose another id")
        elif _ID.fullmatch(id) is None:
            message = f"`{id[:80]}` cannot be an id"
            hint = "use letters, digits, `_` and `-`, not a digit or `-` first, at most 64"
            self._problem(codes.BAD_ID, message, "id", hint)

    def _problem(self, code: Code, message: str, key: str, hint: str | None) -> None:
        location = self.document.locate((*self.path, key))
        self.problems.append(Diagnostic.of(code, message, location=location, hint=hint))


def check_references(steps: tuple[StepDefinition, ...]) -> list[Diagnostic]:
    """Find ids that are given twice, and routes that lead nowhere."""
    problems: list[Diagnostic] = []
    first: dict[str, StepDefinition] = {}
    for step in steps:
        if (other := first.setdefault(step.id, step)) is not step:
            problems.append(_duplicate(step, other))  # noqa: PERF401 - setdefault keeps the first
    problems += [
        _dangling(step, signal, target, first)
        for step in steps
        for signal, target in step.routes.items()
        if target != END and target not in first
    ]
    return problems


def _duplicate(step: StepDefinition, other: StepDefinition) -> Diagnostic:
    here, there = step.locate("id"), other.locate("id")
    return Diagnostic.of(
        codes.DUPLICATE_ID,
        f"two steps have the id `{step.id}`: here (line {here.line}) and on line {there.line}",
        location=here,
        step=step.id,
        hint="give one of them another id, and check the routes that lead there",
    )


def _dangling(step: StepDefinition, signal: str, target: str, known: dict[str, StepDefinition]) -> Diagnostic:
    return Diagnostic.of(
        codes.UNKNOWN_TARGET,
        f"the route `{signal}` leads to `{target}`, which is no step of this workflow",
        location=step.locate("routes", signal),
        step=step.id,
        hint=did_you_mean(target, (*known, END)) or f"name a step's id, or `{END}`",
    )


def of_step(problems: list[Diagnostic], id: str | None) -> list[Diagnostic]:
    """Say of which step problems are."""
    return [attrs.evolve(problem, step=problem.step or id) for problem in problems]
