"""The outside of a document: `kind`, `version`, `enabled`, `metadata`, `spec`."""

from __future__ import annotations

from typing import Final

import attrs

from tuvl_core.diagnostics import Diagnostic
from tuvl_core.documents import Document
from tuvl_core.project import codes
from tuvl_core.project.catalog import Catalog
from tuvl_core.project.unknown import unknown_document
from tuvl_core.project.workflow import Metadata
from tuvl_core.structure import CODES as STRUCTURE_CODES
from tuvl_core.structure import did_you_mean, field, keys_of, structure, suggest

__all__ = ["Envelope", "read_envelope"]

_KEYS: Final = ("kind", "version", "enabled", "metadata", "spec")
_UNKNOWN_KEY: Final = STRUCTURE_CODES[0]


@attrs.frozen(kw_only=True)
class _Switches:
    """The scalars of the envelope."""

    kind: str | None = field(default=None, source_text=True)
    version: str | None = field(default=None, source_text=True)
    enabled: bool = True


@attrs.frozen(kw_only=True)
class Envelope:
    """What stands around a document's body.

    Attributes:
        kind: The kind, if it is a known one.
        enabled: Whether the document counts.
        metadata: What it says about itself; None if it has no name.
        has_body: Whether there is a `spec` to read, or its absence is still to be complained about.
        problems: What is wrong with it.
    """

    kind: str | None
    enabled: bool
    metadata: Metadata | None
    has_body: bool
    problems: list[Diagnostic]


def read_envelope(document: Document, catalog: Catalog) -> Envelope:
    """Read what stands around the body, and say what does not belong there."""
    problems: list[Diagnostic] = []
    data = document.data
    kind = document.kind
    switches, found = structure(
        {key: data[key] for key in ("kind", "version", "enabled") if key in data},
        _Switches,
        document=document,
        environment=catalog.environment,
    )
    problems += found
    known = _check_kind(kind, document, catalog, problems)
    strays = [key for key in data if key not in _KEYS] if known else []
    body_outside = _outside_body(strays, document, catalog)
    problems += body_outside
    metadata = _metadata(document, kind, catalog, problems) if known else None
    return Envelope(
        kind=kind if known else None,
        enabled=switches.enabled if switches is not None else document.enabled,
        metadata=metadata,
        has_body="spec" in data or not body_outside,
        problems=problems,
    )


def _check_kind(kind: str | None, document: Document, catalog: Catalog, problems: list[Diagnostic]) -> bool:
    if kind is not None and catalog.knows_document(kind):
        return True
    if kind is None:
        problems.append(
            Diagnostic.of(
                codes.NO_KIND,
                "the document has no `kind`, so nothing says what it is",
                location=document.locate(("kind",)),
                hint=f"add `kind:` with one of {', '.join(catalog.document_kinds)}",
            )
        )
        return False
    problems.append(
        Diagnostic.of(
            codes.UNKNOWN_DOCUMENT_KIND,
            f"nothing that is installed knows documents of kind `{kind}`",
            location=document.locate(("kind",)),
            hint=unknown_document(kind, catalog.document_kinds, catalog.plugins),
        )
    )
    return False


def _metadata(document: Document, kind: str | None, catalog: Catalog, problems: list[Diagnostic]) -> Metadata | None:
    cls = catalog.metadata_class(kind)
    metadata, found = structure(
        document.data.get("metadata") or {},
        cls,
        document=document,
        path=("metadata",),
        environment=catalog.environment,
        levels=lambda: catalog.document_level(kind),
    )
    problems += found
    name = metadata.name if metadata is not None else document.name
    if name is None:
        return None
    if not name.strip() or not name.isprintable():
        problems.append(
            Diagnostic.of(
                codes.BAD_NAME,
                "`metadata.name` must be text on one line",
                location=document.locate(("metadata", "name")),
            )
        )
    if metadata is not None:
        return metadata
    # What can be said of it although something is wrong; a class that wants more is not to be had then.
    bare = cls if not any(key.required for key in keys_of(cls) if key.name != "name") else Metadata
    return bare(name=name, schema_version=document.schema_version)


def _outside_body(strays: list[str], document: Document, catalog: Catalog) -> list[Diagnostic]:
    """Complain about keys beside `spec`: about those of the body in words of their own."""
    if not strays:
        return []
    level = catalog.document_level(document.kind)
    spec = level.below.get("spec")
    has_spec = "spec" in document.data
    problems = []
    for key in strays:
        location = document.locate((key,), key=True)
        of_the_body = spec is not None and key in spec.keys
        if of_the_body or (not has_spec and did_you_mean(key, _KEYS) is None):
            problems.append(
                Diagnostic.of(
                    codes.BODY_OUTSIDE_SPEC,
                    f"`{key}` stands outside `spec`: a document's body lies under `spec`",
                    location=location,
                    hint=f"move it to `spec.{key}`",
                )
            )
        else:
            hint = suggest(key, (), level)
            message = f"`{key}` is no known key"
            problems.append(Diagnostic.of(_UNKNOWN_KEY, message, location=location, hint=hint))
    return problems
