"""Every code that a diagnostic can have: the kernel's own and those that plugins bring."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tuvl_core.documents import CODES as DOCUMENTS
from tuvl_core.plan.check import CODES as PLAN
from tuvl_core.plugins.codes import CODES as PLUGINS
from tuvl_core.project import CODES as PROJECT
from tuvl_core.structure import CODES as STRUCTURE

if TYPE_CHECKING:
    from tuvl_core.diagnostics import Code
    from tuvl_core.plugins import Plugins

__all__ = ["all_codes"]


def all_codes(plugins: Plugins) -> dict[str, Code]:
    """Give every code by its name, in order.

    Args:
        plugins: Their validators bring codes of their own.
    """
    from tuvl_core.settings.problems import CODES as SETTINGS  # loaded only when somebody asks

    own = (*DOCUMENTS, *STRUCTURE, *PROJECT, *PLAN, *SETTINGS, *PLUGINS)
    brought = (code for _, validator in plugins.validators for code in validator.codes)
    found = {item.code: item for item in (*brought, *own)}
    return {name: found[name] for name in sorted(found)}
