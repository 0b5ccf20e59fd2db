"""Text with placeholders: taken apart once, put together on every rendering."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from tuvl_core.errors import CodecError, StepError
from tuvl_core.templates.arithmetic import total_length
from tuvl_core.templates.expressions import Expression, failed, placeholder
from tuvl_core.templates.values import opened
from tuvl_core.views import MASK, Secret

__all__ = ["OPEN", "join_parts", "split"]

OPEN: Final = "{{"
"""What a placeholder begins with."""


def split(text: str, hidden: bool) -> tuple[str | Expression, ...]:
    """Give literal text and expressions in turn.

    A line break at the end, as YAML's `|` leaves one, does not make text of a lone placeholder.

    Args:
        text: The template.
        hidden: Whether the text is a secret, which no error message may show.

    Raises:
        TemplateError: An expression cannot be compiled.
    """
    parts = tuple(_parts(text, MASK if hidden else None))
    if len(parts) == 2 and isinstance(parts[0], Expression) and parts[1] in ("\n", "\r\n"):
        return parts[:1]
    return parts


def _parts(text: str, shown: str | None) -> Iterator[str | Expression]:
    position = 0
    while (start := text.find(OPEN, position)) >= 0:
        if start > position:
            yield text[position:start]
        expression, position = placeholder(text, start + len(OPEN), shown)
        yield expression
    if position < len(text):
        yield text[position:]


def join_parts(
    parts: tuple[str | Expression, ...],
    names: Mapping[str, Any],
    encode: Callable[[Any], str],
    hidden: bool,
) -> str | Secret:
    """Put a text together.

    Args:
        parts: What `split` gave.
        names: What expressions read.
        encode: Gives the text of one value; it sees secrets opened.
        hidden: Whether the literal text is a secret already.

    Returns:
        The text; a `Secret` if anything in it comes from one.
    """
    texts: list[str] = []
    length = 0
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
            continue
        value = part.evaluate(names)
        try:
            if type(value) is not str:
                value, secret = opened(value)
                hidden = hidden or secret
            text = encode(value)
            length = total_length(length + len(text))
        except (CodecError, StepError) as problem:
            raise failed(part.source, problem) from None
        texts.append(text)
    joined = "".join(texts)
    return Secret(joined) if hidden else joined
