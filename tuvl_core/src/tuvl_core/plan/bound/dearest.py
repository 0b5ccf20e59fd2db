"""The dearest way through a workflow that takes at most so many steps."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from tuvl_core.plan.bound.result import Leg
from tuvl_core.plan.flow import FlowGraph

__all__ = ["dearest_way"]

EXACT: Final = 2000
"""So many steps are followed one by one; each beyond them counts as much as the dearest there is."""


def dearest_way(
    graph: FlowGraph, weights: Mapping[str, float], max_steps: int, among: Collection[str] | None = None
) -> tuple[float, tuple[Leg, ...]]:
    """The most that the steps of one way weigh together, and such a way.

    Without a cycle the way is as long as it may be; with one, it goes round until `max_steps`.

    Args:
        graph: The ways.
        weights: What each step weighs, once.
        max_steps: The most steps a run takes.
        among: Only ways through these steps; None: through all.
    """
    first = graph.plan.first
    if first is None or (among is not None and first.id not in among):
        return 0, ()
    allowed = graph.reachable if among is None else graph.reachable & set(among)
    if not any(weights[id] for id in allowed):
        return 0, ()
    after = {id: [target for target in graph.successors(id) if target in allowed] for id in allowed}
    length = max_steps if graph.cycles else min(max_steps, len(allowed))
    total, walked = _walk(first.id, after, weights, min(length, EXACT))
    # A longer way is one of the length that was followed, and a rest of which each step weighs the most at most.
    beyond = max(length - EXACT, 0)
    if not beyond:
        return total, _legs(walked)
    most = max(allowed, key=weights.__getitem__)
    return total + beyond * weights[most], (*_legs(walked), Leg((most,), beyond))


def _walk(
    first: str, after: Mapping[str, Sequence[str]], weights: Mapping[str, float], length: int
) -> tuple[float, list[str]]:
    """Ways of one step more at a time, of which the dearest to each step is kept."""
    reached: dict[str, float] = {first: weights[first]}
    came: list[dict[str, str]] = [{}]
    best, end, at = reached[first], first, 0
    for number in range(1, length):
        following: dict[str, float] = {}
        origin: dict[str, str] = {}
        for id, total in reached.items():
            for target in after[id]:
                candidate = total + weights[target]
                if target not in following or candidate > following[target]:
                    following[target], origin[target] = candidate, id
        if not following:
            break
        reached = following
        came.append(origin)
        dearest = max(following, key=following.__getitem__)
        if following[dearest] > best:
            best, end, at = following[dearest], dearest, number
    return best, _back(end, at, came)


def _back(end: str, at: int, came: Sequence[Mapping[str, str]]) -> list[str]:
    way = [end]
    for number in range(at, 0, -1):
        way.append(came[number][way[-1]])
    return way[::-1]


def _legs(way: Sequence[str]) -> tuple[Leg, ...]:
    """Tell a way shortly: what comes again and again is told once."""
    legs: list[Leg] = []
    start = 0
    longest = len(set(way))
    while start < len(way):
        covered, period, times = 1, 1, 1
        for length in range(1, longest + 1):
            count = _repeats(way, start, length)
            if count > 1 and count * length > covered:
                covered, period, times = count * length, length, count
        steps = tuple(way[start : start + period])
        if times == 1 and legs and legs[-1].times == 1:
            legs[-1] = Leg((*legs[-1].steps, *steps))
        else:
            legs.append(Leg(steps, times))
        start += covered
    return tuple(legs)


def _repeats(way: Sequence[str], start: int, length: int) -> int:
    pattern = way[start : start + length]
    count = 1
    while way[start + count * length : start + (count + 1) * length] == pattern:
        count += 1
    return count
