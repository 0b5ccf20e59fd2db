"""Which keys are known where, so that a key in the wrong place can be told its right one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, get_args, get_origin

import attrs

from tuvl_core.structure.fields import keys_of
from tuvl_core.structure.nearest import nearest
from tuvl_core.structure.problems import Path, shown_path
from tuvl_core.structure.unions import unwrapped
from tuvl_core.templates import Template

__all__ = ["Level", "level_of", "suggest"]

_MAX_DEPTH: Final = 6
_MAX_LISTED: Final = 12
_NEAR: Final = 0.85
_ELSEWHERE: Final = 0.8


@attrs.define(kw_only=True)
class Level:
    """A mapping with a fixed set of keys.

    Attributes:
        keys: The keys it knows, each with the keys that are mistaken for it.
        below: Levels inside it, by key; lists in between do not count.
        title: How a message calls it, where its path says less.
        noun: What it is the keys of, where paths below it are better told from here: `the step`.
        named: What stands below any key, for a mapping whose keys are names.
    """

    keys: dict[str, tuple[str, ...]] = attrs.field(factory=dict)
    below: dict[str, Level] = attrs.field(factory=dict)
    title: str = ""
    noun: str = ""
    named: Level | None = None

    def at(self, path: Path) -> Level | None:
        """The level at a path, indexes left out."""
        level: Level | None = self
        for part in path:
            if isinstance(part, int):
                continue
            level = (level.below.get(part) or level.named) if level is not None else None
        return level

    def walk(self, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Level]]:
        """This level and those below, each with its path."""
        yield path, self
        for key, level in self.below.items():
            yield from level.walk((*path, key))
        if self.named is not None:
            yield from self.named.walk((*path, "<name>"))


def level_of(cls: Any, *, title: str = "", depth: int = 0) -> Level:
    """The level that an attrs class, or whatever holds one, describes."""
    level = Level(title=title)
    for inner, named in _classes_in(cls):
        target = level
        if named:
            target = level.named = level.named or Level()
        for key in keys_of(inner):
            target.keys[key.name] = key.meaning.lookalikes
            if depth < _MAX_DEPTH:
                below = level_of(key.type, depth=depth + 1)
                if below.keys or below.named is not None:
                    target.below[key.name] = below
    return level


def _classes_in(cls: Any, named: bool = False) -> Iterator[tuple[type, bool]]:
    """The attrs classes in a type, and whether each stands below names."""
    cls = unwrapped(cls)
    origin = get_origin(cls) or cls
    if origin is Template:
        return
    if attrs.has(origin):
        yield origin, named
        return
    is_mapping = isinstance(origin, type) and issubclass(origin, Mapping)
    for argument in get_args(cls):
        yield from _classes_in(argument, named or is_mapping)


def suggest(key: str, path: Path, root: Level) -> str | None:
    """Say what to do about a key that is not known.

    Args:
        key: The key.
        path: Where it stands, without the key itself.
        root: The levels of the whole document, or the part of it that is known.
    """
    from difflib import SequenceMatcher

    here = root.at(path) or Level()
    names = tuple(part for part in path if isinstance(part, str))
    for name, lookalikes in here.keys.items():
        if key in lookalikes:
            return f"did you mean `{name}`?"
    near = nearest(key, here.keys)
    if near is not None and SequenceMatcher(None, key, near).ratio() >= _NEAR:
        return f"did you mean `{near}`?"
    if (place := _nearest_place(names, root, key)) is not None:
        return f"`{key}` belongs {place}"
    if near is not None:
        return f"did you mean `{near}`?"
    others = {name for _, level in root.walk() for name in level.keys}
    if (other := nearest(key, others, _ELSEWHERE)) is not None:
        return f"did you mean `{other}`, {_nearest_place(names, root, other)}?"
    listed = sorted(here.keys)
    more = ", …" if len(listed) > _MAX_LISTED else ""
    return f"known here: {', '.join(listed[:_MAX_LISTED])}{more}" if listed else None


def _nearest_place(here: tuple[str, ...], root: Level, key: str) -> str | None:
    """The place nearest to a path where a key is known, in words."""
    places = [
        (_distance(here, path), len(path), path, level)
        for path, level in root.walk()
        if key in level.keys and path != here
    ]
    if not places:
        return None
    _, _, path, level = min(places, key=lambda place: place[:3])
    return level.title or _under(path, root)


def _under(path: tuple[str, ...], root: Level) -> str:
    """`under …`, from the nearest level around the path that has a noun."""
    for end in range(len(path) - 1, 0, -1):
        around = root.at(path[:end])
        if around is not None and around.noun:
            return f"under `{shown_path(path[end:])}` of {around.noun}"
    return f"under `{shown_path(path)}`" if path else "at the top"


def _distance(here: tuple[str, ...], there: tuple[str, ...]) -> int:
    shared = 0
    for a, b in zip(here, there, strict=False):
        if a != b:
            break
        shared += 1
    return len(here) + len(there) - 2 * shared
