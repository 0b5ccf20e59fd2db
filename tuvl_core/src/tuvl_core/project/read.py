"""From documents to definitions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import attrs

from tuvl_core.diagnostics import Diagnostic
from tuvl_core.documents import Document
from tuvl_core.project import codes
from tuvl_core.project.catalog import Catalog
from tuvl_core.project.definition import Definition
from tuvl_core.project.envelope import Envelope, read_envelope
from tuvl_core.project.sections import read_sections, unknown_keys
from tuvl_core.project.steps import check_references, of_step, read_step
from tuvl_core.project.workflow import WORKFLOW, StepDefinition, WorkflowBody, WorkflowSpec
from tuvl_core.structure import keys_of, structure

if TYPE_CHECKING:
    from tuvl_core.contributions import Section

__all__ = ["read_definition"]

_BODY: Final = tuple(key.name for key in keys_of(WorkflowBody))
_SPEC: Final = ("spec",)


def read_definition(document: Document, catalog: Catalog) -> tuple[Definition[Any] | None, list[Diagnostic]]:
    """Read a document's outside; its body waits until it is asked for.

    Returns:
        The definition, or None with what is wrong if the document has no known kind or no name.
    """
    envelope = read_envelope(document, catalog)
    problems = [*document.problems, *envelope.problems]
    if envelope.kind is None or envelope.metadata is None:
        return None, problems
    metadata = envelope.metadata
    definition: Definition[Any] = Definition(
        kind=envelope.kind,
        name=metadata.name,
        schema_version=metadata.schema_version,
        enabled=envelope.enabled,
        metadata=metadata,
        document=document,
        read=partial(_read_body, document, envelope, catalog),
        problems=problems,
    )
    return definition, problems


def _read_body(document: Document, envelope: Envelope, catalog: Catalog) -> tuple[Any, list[Diagnostic]]:
    if not envelope.enabled:
        # Turning a document off is also how to keep it where its package is not installed.
        return None, []
    if envelope.kind == WORKFLOW:
        return _read_workflow(document, envelope, catalog)
    kind = envelope.kind or ""
    if not envelope.has_body:
        return None, []
    return structure(
        document.data.get("spec", {}),
        catalog.plugins.document_kinds[kind].spec,
        document=document,
        path=_SPEC,
        environment=catalog.environment,
        levels=lambda: catalog.document_level(kind),
    )


def _read_workflow(document: Document, envelope: Envelope, catalog: Catalog) -> tuple[WorkflowSpec, list[Diagnostic]]:
    data = document.data.get("spec")
    if not isinstance(data, dict):
        if not envelope.has_body:
            return WorkflowSpec(), []
        _, problems = structure(
            {} if data is None else data,
            WorkflowBody,
            document=document,
            path=_SPEC,
            environment=catalog.environment,
        )
        return WorkflowSpec(), problems or [_no_steps(document)]
    problems = []
    levels = lambda: catalog.workflow_document_level(None)  # noqa: E731
    known_sections = catalog.plugins.workflow_sections
    strangers = [key for key in data if key not in _BODY and key != "steps" and key not in known_sections]
    problems += unknown_keys(strangers, document, _SPEC, catalog, levels)
    body, found = structure(
        {key: data[key] for key in _BODY if key in data},
        WorkflowBody,
        document=document,
        path=_SPEC,
        environment=catalog.environment,
        levels=levels,
    )
    problems += found
    sections, found = read_sections(
        data,
        known_sections,
        document=document,
        path=_SPEC,
        environment=catalog.environment,
        levels=levels,
    )
    problems += found
    steps, found = _read_steps(data.get("steps"), document, catalog)
    problems += found
    fields = attrs.asdict(body or WorkflowBody(), recurse=False)
    if fields["input"] is None:
        fields["input"] = _input_of_sections(sections, known_sections)
    return WorkflowSpec(**fields, steps=steps, sections=sections), problems


def _input_of_sections(sections: Mapping[str, Any], known: Mapping[str, Section]) -> dict[str, Any] | None:
    """What a section says that a run's input is, in the place of `spec.input`."""
    for key, value in sections.items():
        given = known[key].input
        if given is not None and (schema := given(value)) is not None:
            return schema
    return None


def _read_steps(data: Any, document: Document, catalog: Catalog) -> tuple[tuple[StepDefinition, ...], list[Diagnostic]]:
    if data is None or data == []:
        return (), [_no_steps(document)]
    if not isinstance(data, list):
        _, problems = structure(
            data,
            list[dict[str, Any]],
            document=document,
            path=(*_SPEC, "steps"),
            environment=catalog.environment,
        )
        return (), problems
    steps: list[StepDefinition] = []
    problems = []
    for index, item in enumerate(data):
        step, found = read_step(item, document, (*_SPEC, "steps", index), catalog)
        problems += of_step(found, step.id if step is not None else None)
        if step is not None:
            steps.append(step)
    return tuple(steps), problems + check_references(tuple(steps))


def _no_steps(document: Document) -> Diagnostic:
    return Diagnostic.of(
        codes.NO_STEPS,
        "a workflow needs at least one step",
        location=document.locate((*_SPEC, "steps")),
        hint="add `steps:` with a list of steps under `spec`",
    )
