"""Whose a name is that two plugins bring. It never depends on what was installed first.

An explicit `[plugins.choose]` decides. Else tuvl's own plugin keeps the name, and the other one is left
out; where neither is tuvl's own, both are, for nobody said which is meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tuvl_core.diagnostics import Diagnostic
from tuvl_core.plugins import codes
from tuvl_core.plugins.candidate import Candidate
from tuvl_core.plugins.catalog import Brought
from tuvl_core.plugins.importing import way_out
from tuvl_core.plugins.scan import canonical

__all__ = ["settle"]

Name = tuple[str, str]


def settle(brought: Sequence[Brought], choose: Mapping[str, str]) -> tuple[list[Brought], list[Diagnostic]]:
    """Give each name one owner; candidates that lose one undecided are left out as a whole.

    Returns:
        What is left, and what is wrong.
    """
    problems: list[Diagnostic] = []
    claims = _claims(brought)
    for (what, name), owners in claims.items():
        chosen = choose.get(name)
        if chosen is not None:
            problems += _choose((what, name), owners, chosen)
        elif len(owners) > 1:
            problems += _without_choice((what, name), owners)
    problems += _useless_choices(claims, choose)
    return [item for item in brought if item.candidate.state == "ready"], problems


def _claims(brought: Iterable[Brought]) -> dict[Name, list[Brought]]:
    claims: dict[Name, list[Brought]] = {}
    for item in brought:
        for name in item.names:
            claims.setdefault(name, []).append(item)
    return claims


def _choose(name: Name, owners: list[Brought], chosen: str) -> list[Diagnostic]:
    if not any(_is(item.candidate, chosen) for item in owners):
        return _without_choice(name, owners) if len(owners) > 1 else []
    for item in owners:
        if not _is(item.candidate, chosen):
            del item.names[name]
    return []


def _without_choice(name: Name, owners: list[Brought]) -> list[Diagnostic]:
    what, text = name
    own = [item for item in owners if item.candidate.first_party]
    others = [item.candidate for item in owners if not item.candidate.first_party]
    labels = " and ".join(sorted(item.candidate.label for item in owners))
    for candidate in others:
        rivals = ", ".join(sorted(i.candidate.label for i in owners if i.candidate is not candidate))
        candidate.leave_out(
            "duplicate",
            f"it brings the {what} {text!r}, as {rivals} does",
            f'say whose it is, `[plugins.choose] "{text}" = "{candidate.dist}"` in tuvl.toml, or {way_out(candidate)}',
        )
    if own:
        return []  # the loser's own report says it all
    hint = f'say which: `[plugins.choose] "{text}" = "<distribution>"` in tuvl.toml, or remove one'
    return [Diagnostic.of(codes.TWINS, f"{labels} both bring the {what} {text!r}", hint=hint)]


def _useless_choices(claims: Mapping[Name, list[Brought]], choose: Mapping[str, str]) -> list[Diagnostic]:
    problems = []
    for name, dist in choose.items():
        owners = [item for (_, text), items in claims.items() if text == name for item in items]
        if any(_is(item.candidate, dist) for item in owners):
            continue
        known = ", ".join(sorted({item.candidate.dist for item in owners})) or "nobody"
        message = f"`plugins.choose` gives {name!r} to {dist}, which does not bring it ({known} does)"
        hint = "correct it, or take it out"
        problems.append(Diagnostic.of(codes.BAD_CHOICE, message, hint=hint))
    return problems


def _is(candidate: Candidate, dist: str) -> bool:
    return candidate.dist == dist or canonical(candidate.dist) == canonical(dist)
