"""Values as text, by the place they land in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Final
from urllib.parse import quote

from tuvl_core import StepError, text_of

__all__ = ["header_value", "many_texts", "path_text", "quoted", "value_text"]

_BREAKS: Final = re.compile(r"[\r\n\0]")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_COMPOUND: Final = (Mapping, list, tuple, AbstractSet, bytes, bytearray)


def value_text(value: Any, place: str) -> str:
    """The text of a value in a query, a form or a header; mappings and lists as JSON.

    Raises:
        StepError: It holds halves of characters, which nothing can encode.
    """
    text = text_of(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise StepError(f"the value for {place} is no valid text", type="bad_request") from None
    return text


def path_text(value: Any, place: str) -> str:
    """The text of a value in a path or host name: one plain value, never null.

    Raises:
        StepError: It is null, a list, a mapping or bytes.
    """
    if value is None or isinstance(value, _COMPOUND):
        what = "null" if value is None else f"a {type(value).__name__}"
        raise StepError(f"the value for {place} is {what}; a plain value is needed", type="bad_request")
    return value_text(value, place)


def many_texts(name: str, value: Any, place: str) -> list[tuple[str, str]]:
    """The pairs of a query parameter or form field: none for null, several for a list."""
    if value is None:
        return []
    if isinstance(value, (list, tuple)):
        return [(name, value_text(item, f"{place} {name!r}")) for item in value if item is not None]
    return [(name, value_text(value, f"{place} {name!r}"))]


def header_value(name: str, value: Any) -> bytes:
    """A header's value on the wire.

    Raises:
        StepError: It would end the header and begin another.
    """
    text = value_text(value, f"header {name!r}")
    if _BREAKS.search(text) or _CONTROL.search(text):
        raise StepError(
            f"the value for header {name!r} holds a line break or control character, which would "
            "end the header; nothing was sent",
            type="bad_request",
        )
    try:
        return text.strip().encode("latin-1")
    except UnicodeEncodeError:
        return text.strip().encode()


def quoted(text: str) -> str:
    """Percent-encode a value so that it stays one path segment or one query value."""
    return quote(text, safe="")
