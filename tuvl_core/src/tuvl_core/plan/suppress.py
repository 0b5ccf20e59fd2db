"""Findings that somebody has looked at: by a comment at their place, or in the project's settings.

A structure error cannot be suppressed: it refuses the run, whatever anybody says about it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final, Literal

import attrs

from tuvl_core.diagnostics import Code, Diagnostic, Location, Suppression
from tuvl_core.documents import Document, comments_of
from tuvl_core.structure import did_you_mean

if TYPE_CHECKING:
    from tuvl_core.project import Project

__all__ = ["CODES", "suppress"]


def _code(number: int, title: str) -> Code:
    return Code(code=f"TUVL-S{number:03}", severity="warning", klass="flow", title=title)


NO_REASON: Final = _code(60, "a suppression without a code or a reason suppresses nothing")
UNUSED: Final = _code(61, "a suppression of what is not there")
NOT_POSSIBLE: Final = _code(62, "a structure error cannot be suppressed")
CODES: Final = (NO_REASON, UNUSED, NOT_POSSIBLE)

_WORD: Final = "tuvl:"
_SETTING: Final = "validate.ignore"
_NAME: Final = r"[A-Za-z][A-Za-z0-9_.]*-[A-Za-z0-9_-]*[0-9]"
_ORDER: Final = rf"ignore\s+({_NAME}(?:\s*,\s*{_NAME})*)(?:[\s:–—-]+(.*))?$"
_FORM: Final = "`# tuvl: ignore CODE reason`"


@attrs.define(kw_only=True, eq=False)
class _Order:
    """One suppression of one code; `line` is the line it covers, None: any."""

    code: str
    reason: str
    location: Location | None
    kind: Literal["inSource", "external"]
    path: str | None = None
    line: int | None = None
    used: bool = False
    refused: bool = False

    def covers(self, item: Diagnostic) -> bool:
        """Whether it is about a finding: its code, and where it stands or the files it names."""
        if self.code != item.code:
            return False
        where = item.location
        if self.path is None:
            return True
        if where is None:
            return False
        if self.line is None:
            return fnmatchcase(where.path, self.path)
        return (where.path, where.line) == (self.path, self.line)


def suppress(found: Iterable[Diagnostic], project: Project) -> list[Diagnostic]:
    """Mark what is suppressed, and report suppressions that are none.

    Args:
        found: The findings about a project.
        project: The project.

    Returns:
        All findings, those that are suppressed with `suppression`, and findings about suppressions.
    """
    orders, problems = _orders(project)
    if not orders:
        return [*found, *problems]
    by_code: defaultdict[str, list[_Order]] = defaultdict(list)
    for order in orders:
        by_code[order.code].append(order)
    told = [_apply(item, by_code.get(item.code, ())) for item in found]
    return [*told, *problems, *(_idle(order, project) for order in orders if not order.used)]


def _apply(item: Diagnostic, orders: Iterable[_Order]) -> Diagnostic:
    for order in orders:
        if not order.covers(item):
            continue
        if item.severity == "error" and item.klass == "structure":
            order.refused = True
            continue
        order.used = True
        item = attrs.evolve(item, suppression=Suppression(kind=order.kind, reason=order.reason))
    return item


def _idle(order: _Order, project: Project) -> Diagnostic:
    if order.refused:
        return Diagnostic.of(
            NOT_POSSIBLE,
            f"{order.code} is a structure error: it refuses the run, and cannot be suppressed",
            location=order.location,
            hint="correct what it is about, and remove the suppression",
        )
    from tuvl_core.plan.rules import all_codes  # which collects the codes of this module as well

    known = all_codes(project.plugins)
    hint: str | None = "remove the suppression"
    if order.code not in known:
        hint = did_you_mean(order.code, known) or "there is no such code; `tuvl rule` lists every code"
    return Diagnostic.of(UNUSED, f"there is no {order.code} here to suppress", location=order.location, hint=hint)


# --- where suppressions stand ---------------------------------------------------------------


def _orders(project: Project) -> tuple[list[_Order], list[Diagnostic]]:
    orders: list[_Order] = []
    problems: list[Diagnostic] = []
    files: defaultdict[str, list[Document]] = defaultdict(list)
    for document in project.documents:
        files[document.path].append(document)
    for path, documents in files.items():
        # Of a document that is turned off nothing is found, so nothing could be told of its suppressions.
        if _WORD in documents[0].text and all(document.enabled for document in documents):
            for item in _of_file(path, documents):
                (problems if isinstance(item, Diagnostic) else orders).append(item)  # type: ignore[arg-type]
    for item in _of_settings(project):
        (problems if isinstance(item, Diagnostic) else orders).append(item)  # type: ignore[arg-type]
    return orders, problems


def _of_file(path: str, documents: list[Document]) -> Iterator[_Order | Diagnostic]:
    for comment in comments_of(documents, _WORD):
        place = Location(path=path, line=comment.line, column=comment.column)
        match = re.match(_ORDER, comment.text)
        if match is None or not (match[2] or "").strip():
            what = "gives no reason" if match is not None else f"is not of the form {_FORM}"
            yield Diagnostic.of(
                NO_REASON,
                f"the suppression {what}: it suppresses nothing",
                location=place,
                hint=f"say why the finding is right as it is: {_FORM}",
            )
            continue
        for code in re.split(r"\s*,\s*", match[1]):
            yield _Order(
                code=code.upper(),
                reason=match[2].strip(),
                location=place,
                kind="inSource",
                path=path,
                line=comment.covers,
            )


def _of_settings(project: Project) -> Iterator[_Order | Diagnostic]:
    settings = project.settings
    if _SETTING in settings.unreadable:  # reported with the settings
        return
    entries: tuple[dict[str, Any], ...] = settings.get(_SETTING, ())
    for index, entry in enumerate(entries):
        place = settings.locate(_SETTING, index)
        reason, code = entry.get("reason", "").strip(), entry.get("code", "").strip()
        strangers = sorted(entry.keys() - {"code", "path", "reason"})
        if strangers or not reason or not code:
            missing = "reason" if code else "code"
            what = f"has an unknown key `{strangers[0]}`" if strangers else f"has no `{missing}`"
            yield Diagnostic.of(
                NO_REASON,
                f"the suppression {what}: it suppresses nothing",
                location=place,
                hint='write `{ code = "…", path = "glob", reason = "…" }`; `path` may be left out',
            )
        else:
            yield _Order(code=code.upper(), reason=reason, location=place, kind="external", path=entry.get("path"))
