"""The name that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["did_you_mean", "nearest"]


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known name nearest to another, case aside; None if none is near."""
    from difflib import get_close_matches

    by_case = {item.casefold(): item for item in known}
    near = get_close_matches(name.casefold(), by_case, 1, cutoff)
    return by_case[near[0]] if near else None


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A hint that names the known name nearest to another, if there is one."""
    found = nearest(name, known)
    return f"did you mean `{found}`?" if found is not None else None
