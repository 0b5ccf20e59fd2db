"""Whether a version lies in a range such as `>=3.0,<4`. Only releases are compared."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["satisfies"]

_CLAUSE: Final = re.compile(r"\s*(~=|===?|!=|<=|>=|<|>)\s*v?(\d+(?:\.\d+)*)(\.\*)?\S*\s*$")


def satisfies(version: str, wanted: str) -> bool:
    """Whether a version lies in a range. What is no range that we know of never excludes anything."""
    have = _release(version)
    return have is None or all(_fits(have, part) for part in wanted.split(",") if part.strip())


def _release(text: str) -> tuple[int, ...] | None:
    match = re.match(r"\s*v?(?:\d+!)?(\d+(?:\.\d+)*)", text)
    return tuple(int(part) for part in match[1].split(".")) if match else None


def _fits(have: tuple[int, ...], clause: str) -> bool:
    match = _CLAUSE.match(clause)
    if match is None:
        return True
    sign, text, star = match.groups()
    want = tuple(int(part) for part in text.split("."))
    if star:
        same = have[: len(want)] == want
        return same if sign.startswith("=") else not same
    size = max(len(have), len(want))
    left, right = _padded(have, size), _padded(want, size)
    if sign == "~=":
        return left >= right and have[: len(want) - 1] == want[:-1]
    return {
        "==": left == right,
        "===": left == right,
        "!=": left != right,
        "<=": left <= right,
        ">=": left >= right,
        "<": left < right,
        ">": left > right,
    }[sign]


def _padded(release: tuple[int, ...], size: int) -> tuple[int, ...]:
    return release + (0,) * (size - len(release))
