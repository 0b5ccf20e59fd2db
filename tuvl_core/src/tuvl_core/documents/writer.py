"""Writes YAML that reads back as the very same data."""

from __future__ import annotations

from functools import cache
from typing import Any

from tuvl_core.documents.breaks import OLD_BREAKS
from tuvl_core.documents.scalars import ScalarError, plain_value

__all__ = ["to_yaml"]


def to_yaml(data: Any) -> str:
    """Write plain data as YAML 1.2: mappings with text keys, lists, text, numbers, booleans, None.

    Text that would read as something else is quoted, for readers of YAML 1.1 too.

    Raises:
        ValueError: A text holds a character that no YAML can hold.
        yaml.YAMLError: A value is none of these.
    """
    import yaml

    text: str = yaml.dump(data, Dumper=_dumper(), sort_keys=False, allow_unicode=True, width=100)
    return text


@cache
def _dumper() -> Any:
    import yaml

    base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

    class Dumper(base):  # type: ignore[misc]
        def ignore_aliases(self, data: Any) -> bool:
            return True  # What is shared is written out: an anchor means nothing to an author.

    def write_text(dumper: Any, text: str) -> Any:
        style = '"' if _needs_quotes(text) else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    Dumper.add_representer(str, write_text)
    return Dumper


def _needs_quotes(text: str) -> bool:
    """Whether text must be quoted, beyond what the library knows of YAML 1.1."""
    if any(char in text for char in OLD_BREAKS) or text == "<<":
        return True
    try:
        return not isinstance(plain_value(text), str)
    except ScalarError:
        return True
