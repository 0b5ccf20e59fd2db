"""Line breaks of YAML 1.1 that are characters like any other in 1.2.

libyaml still breaks lines at NEL, LINE SEPARATOR and PARAGRAPH SEPARATOR and changes the text
around them. So they pass the parser in disguise: as private-use characters that the file does not
hold.
"""

from __future__ import annotations

from typing import Final

from tuvl_core.documents.nodes import Node

__all__ = ["OLD_BREAKS", "disguise", "undisguise"]

OLD_BREAKS: Final = "\x85\u2028\u2029"
_PRIVATE_USE: Final = range(0xE000, 0xF900)


def disguise(text: str) -> tuple[str, dict[int, str]]:
    """Give the text to parse, of equal length, and the table that turns values back."""
    if not any(char in text for char in OLD_BREAKS):
        return text, {}
    taken = set(text)
    free = (chr(code) for code in _PRIVATE_USE if chr(code) not in taken)
    there = {ord(char): stand_in for char, stand_in in zip(OLD_BREAKS, free, strict=False)}
    return text.translate(there), {ord(there[code]): chr(code) for code in there}


def undisguise(root: Node, back: dict[int, str]) -> None:
    """Put the characters back into every scalar below a node."""
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if node.id == "scalar":
            node.value = node.value.translate(back)
        elif node.id == "sequence":
            waiting.extend(node.value)
        else:
            waiting.extend(part for pair in node.value for part in pair)
