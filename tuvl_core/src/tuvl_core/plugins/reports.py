"""What is wrong with plugins, as diagnostics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from tuvl_core.diagnostics import Diagnostic, Location
from tuvl_core.plugins import codes
from tuvl_core.plugins.candidate import Candidate
from tuvl_core.plugins.catalog import Failure
from tuvl_core.plugins.policy import Policy
from tuvl_core.plugins.scan import canonical
from tuvl_core.plugins.versions import satisfies

__all__ = ["broken", "report", "unprefixed"]

_BY_STATE = {
    "failed": codes.FAILED,
    "incompatible": codes.INCOMPATIBLE,
    "duplicate": codes.REPLACES,
}


def report(candidates: Sequence[Candidate], policy: Policy, found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Say which plugins are left out without anybody's wish, and which are missing."""
    problems = [*map(_left_out, filter(lambda item: item.state in _BY_STATE, candidates))]
    problems += [*found, *_missing(candidates, policy)]
    if not policy.strict:
        return problems
    return [
        attrs.evolve(item, severity="error", klass="structure") if item.severity == "warning" else item
        for item in problems
    ]


def broken(failure: Failure) -> Diagnostic:
    """Say which lazy contribution could not be loaded."""
    return Diagnostic.of(codes.FAILED, failure.message, plugin=failure.candidate.label, hint=failure.remedy)


def unprefixed(owners: Mapping[tuple[str, str], Candidate]) -> list[Diagnostic]:
    """Names of strangers that tuvl itself may take one day."""
    return [
        Diagnostic.of(
            codes.UNPREFIXED,
            f"{candidate.label} brings the {what} {name!r} without a prefix of its own",
            plugin=candidate.label,
            hint=f"its authors should call it `<prefix>.{name}`: names without a prefix are tuvl's own",
        )
        for (what, name), candidate in owners.items()
        if what in ("kind", "document kind") and "." not in name and not candidate.first_party and not candidate.local
    ]


def _left_out(candidate: Candidate) -> Diagnostic:
    location = None
    if candidate.local:
        location = Location(path=candidate.dist, line=candidate.error_line or 1, column=1)
    where = "" if candidate.local else f" (entry point {candidate.name!r})"
    return Diagnostic.of(
        _BY_STATE[candidate.state],
        f"plugin {candidate.label}{where} is left out, {candidate.state}: {candidate.error}",
        location=location,
        plugin=candidate.label,
        hint=candidate.remedy,
    )


def _missing(candidates: Sequence[Candidate], policy: Policy) -> Iterator[Diagnostic]:
    for wanted in policy.require:
        end = next((at for at, sign in enumerate(wanted) if sign in " <>=!~["), len(wanted))
        name, span = canonical(wanted[:end]), wanted[end:].strip()
        own = [item for item in candidates if canonical(item.dist) == name]
        ready = [item for item in own if item.state == "ready"]
        if ready and (not span or satisfies(ready[0].version or "0", span)):
            continue
        if ready:
            why = f"{ready[0].label} is installed"
        elif own:
            why = f"it is left out, {own[0].state}: {own[0].error}"
        else:
            why = "it is not installed"
        yield Diagnostic.of(
            codes.MISSING,
            f"`plugins.require` names {wanted}, and {why}",
            hint=f"`pip install '{wanted}'`, or take it out of `require`",
        )
