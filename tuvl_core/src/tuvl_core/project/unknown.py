"""What to say of a kind that nothing installed knows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tuvl_core.plugins.known import DOCUMENTS, STEP_KINDS
from tuvl_core.structure.nearest import nearest

if TYPE_CHECKING:
    from tuvl_core.plugins import Plugins

__all__ = ["unknown_document", "unknown_step_kind"]


def unknown_step_kind(name: str, plugins: Plugins) -> str:
    """The package that brings a kind of step, the kind that was probably meant, or those there are."""
    return _hint(name, sorted(plugins.kinds), STEP_KINDS, plugins)


def unknown_document(name: str, known: Iterable[str], plugins: Plugins) -> str:
    """The same for a kind of document."""
    return _hint(name, list(known), DOCUMENTS, plugins)


def _hint(name: str, installed: list[str], brought: Iterable[str], plugins: Plugins) -> str:
    if (missing := plugins.explain_missing(name)) is not None:
        return missing
    near = nearest(name, (*brought, *installed))
    if near in installed:
        return f"did you mean `{near}`?"
    if near is not None and (missing := plugins.explain_missing(near)) is not None:
        return f"did you mean `{near}`? {missing}"
    suspect = plugins.suspect()
    return suspect or f"install the package that brings it; what is installed knows: {', '.join(installed) or 'none'}"
