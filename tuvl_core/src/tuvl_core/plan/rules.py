"""Every code that a diagnostic can have, the kernel's own and those that plugins bring, and the pages about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tuvl_core.documents import CODES as DOCUMENTS
from tuvl_core.plan.bound.demands import CODES as DEMANDS
from tuvl_core.plan.check import CODES as CHECK
from tuvl_core.plan.flow import CODES as FLOW
from tuvl_core.plan.suppress import CODES as SUPPRESS
from tuvl_core.plan.taint import CODES as TAINT
from tuvl_core.plugins.codes import CODES as PLUGINS
from tuvl_core.project import CODES as PROJECT
from tuvl_core.structure import CODES as STRUCTURE

if TYPE_CHECKING:
    from tuvl_core.diagnostics import Code
    from tuvl_core.plugins import Plugins

__all__ = ["all_codes", "rule_page"]


def all_codes(plugins: Plugins) -> dict[str, Code]:
    """Give every code by its name, in order.

    Args:
        plugins: Their validators bring codes of their own.
    """
    from tuvl_core.settings.problems import CODES as SETTINGS  # loaded only when somebody asks

    own = (*DOCUMENTS, *STRUCTURE, *PROJECT, *CHECK, *FLOW, *DEMANDS, *TAINT, *SUPPRESS, *SETTINGS, *PLUGINS)
    brought = (code for _, validator in plugins.validators for code in validator.codes)
    found = {item.code: item for item in (*brought, *own)}
    return {name: found[name] for name in sorted(found)}


def rule_page(plugins: Plugins, code: str) -> str | None:
    """Give the page about a code, as Markdown: what it means, a document that fires it, and the fix.

    A page is the file `rules/CODE.md` in the package that owns the code, and comes with its wheel.

    Args:
        plugins: Their packages bring pages of their own.
        code: Such as `TUVL-W003`.

    Returns:
        The page's text; None where its owner brings none.
    """
    from importlib.resources import files  # loaded only when somebody asks

    try:
        return files(_owner(plugins, code)).joinpath("rules", f"{code}.md").read_text(encoding="utf-8")
    except (OSError, ValueError, TypeError, ImportError):  # a TypeError: the owner is one module, no package
        return None


def _owner(plugins: Plugins, code: str) -> str:
    """The package of a code's owner; the kernel's where no plugin brings it."""
    for candidate, validator in plugins.validators:
        if any(item.code == code for item in validator.codes) and not candidate.local:
            return candidate.entry_point.partition(":")[0].partition(".")[0]
    return "tuvl_core"
