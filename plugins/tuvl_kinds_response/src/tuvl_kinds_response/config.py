"""The keys of a Response step."""

from __future__ import annotations

import attrs

from tuvl_core import Path
from tuvl_core import field as key

__all__ = ["ResponseConfig"]


@attrs.frozen(kw_only=True)
class ResponseConfig:
    """The keys of a Response step: `source` or `mapping`."""

    source: Path | None = key(default=None, doc="Dotted path of the value that is the result.")
    mapping: dict[str, Path] | None = key(
        default=None, doc="The result's own names, each with the dotted path of its value."
    )
    status: int = key(default=200, min=200, max=599, doc="The HTTP status of the answer.")
