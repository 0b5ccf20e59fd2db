"""What may be written at a place.

A text is hardly ever in order while somebody types. So the word under the cursor is replaced by a marker, once as a
key and once as a value, and what can be read then says where the marker stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import attrs

from tuvl_core import END, declared
from tuvl_lsp.look import STEP, Look, step_path
from tuvl_lsp.spots import Spot, find_text
from tuvl_lsp.text import Text

__all__ = ["Completions", "Offer", "complete"]

_MARKER: Final = "tuvl_cursor_0"
_WORD_BEFORE: Final = re.compile(r"[\w.@/-]*\Z")
_WORD_AFTER: Final = re.compile(r"[\w.@/-]*")
_ALONE: Final = re.compile(r"\s*(?:- +)*\Z")

Read = Callable[[str], Look]


@attrs.frozen(kw_only=True)
class Offer:
    """One thing that may be written.

    Attributes:
        label: What it is.
        text: What is written; the label where it is empty.
        what: `key`, `kind`, `step`, `signal`, `document` or `value`.
        documentation: What is said about it.
    """

    label: str
    what: str
    text: str = ""
    documentation: str = ""


@attrs.frozen(kw_only=True)
class Completions:
    """What may be written in place of the characters from `start` to `end`."""

    start: int
    end: int
    offers: list[Offer]


def complete(text: Text, index: int, read: Read) -> Completions:
    """Say what may be written at a character.

    Args:
        text: The file's text, in order or not.
        index: The character.
        read: Reads a text as if it stood in the file.
    """
    start_of_line, end_of_line = text.line_start(index), text.line_end(index)
    before, after = text.text[start_of_line:index], text.text[index:end_of_line]
    word = _WORD_BEFORE.search(before)
    start = index - len(word[0] if word is not None else "")
    rest = _WORD_AFTER.match(after)
    end = index + len(rest[0] if rest is not None else "")
    gap = " " if text.text[start - 1 : start] == ":" else ""
    alone = _ALONE.match(text.text[start_of_line:start]) and not text.text[end:end_of_line].strip()
    behind_key = text.text[start_of_line:start].rstrip().endswith(":")
    for as_key in (True, False) if alone else (False,):
        marked = f"{text.text[:start]}{gap}{_MARKER}{':' if as_key else ''}{text.text[end:]}"
        look = read(marked)
        spot = find_text(look.documents, _MARKER)
        offers = []
        if spot is not None:
            offers = list(_offers(look, spot, new_key=bool(alone), starts_mapping=not behind_key))
        if offers:
            shown = [attrs.evolve(item, text=gap + (item.text or item.label)) for item in offers]
            return Completions(start=start, end=end, offers=shown)
    return Completions(start=start, end=end, offers=[])


def _offers(look: Look, spot: Spot, *, new_key: bool, starts_mapping: bool) -> Iterator[Offer]:
    if spot.key:
        yield from _keys(look, spot, spot.path[:-1], new=new_key)
        return
    refers = look.refers(spot)
    if refers == STEP:
        yield from _steps(look, spot)
    elif refers is not None:
        for name, found in look.project.definitions(refers).items():
            yield Offer(label=name, what="document", documentation=found.metadata.description)
    is_kind = spot.path[-1:] == ("kind",)
    for choice in look.knowledge.choices(spot.document.data, spot.path):
        yield _choice(look, spot, choice) if is_kind else Offer(label=_yaml(choice), what="value")
    if starts_mapping:
        # A word where a mapping belongs is going to be a key of it.
        yield from _keys(look, spot, spot.path, new=True)


def _keys(look: Look, spot: Spot, path: tuple[str | int, ...], *, new: bool) -> Iterator[Offer]:
    around = step_path(path)
    data = spot.document.data
    if around is not None and path == (*around, "routes"):
        yield from _signals(look, spot, new)
        return
    try:
        there = spot.document.get(path)
    except KeyError:
        there = None
    taken = set(there) if isinstance(there, dict) else set()
    if not path and "kind" not in taken:
        # Without a kind nothing else is known, and every document has the same outside.
        data = {**data, "kind": "Workflow"}
    for name, schema in look.knowledge.properties(data, path).items():
        if name not in taken:
            said = str(schema.get("description", ""))
            yield Offer(label=name, what="key", text=f"{name}: " if new else name, documentation=said)


def _signals(look: Look, spot: Spot, new: bool) -> Iterator[Offer]:
    found = look.step(spot)
    if found is None:
        return
    plan, step = found
    try:
        names = declared(step.kind, "signals", step, plan).names
    except Exception:  # a plugin's mistake, which checking reports
        names = ()
    for name in dict.fromkeys((*names, "error")):
        if name not in step.routes:
            yield Offer(label=name, what="signal", text=f"{_key_text(name)}: " if new else _key_text(name))


def _steps(look: Look, spot: Spot) -> Iterator[Offer]:
    around = step_path(spot.path)
    routing = around is not None and spot.path[3:4] == ("routes",)
    own = spot.document.raw((*around, "id")) if around is not None else None
    for id, step in look.ids(spot.document):
        if id != own or routing:
            yield Offer(label=id, what="step", documentation=str(step.get("description") or ""))
    if routing:
        yield Offer(label=END, what="step", documentation="Completes the run.")


def _choice(look: Look, spot: Spot, choice: Any) -> Offer:
    from tuvl_lsp.hover import about_kind

    said = about_kind(look, str(choice), of_step=len(spot.path) > 1)
    return Offer(label=str(choice), what="kind", documentation=said or "")


def _key_text(name: str) -> str:
    """A signal as a key: `true` and the like need no quotes in tuvl, but read better with them."""
    return f'"{name}"' if name in ("true", "false", "null") else name


def _yaml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
