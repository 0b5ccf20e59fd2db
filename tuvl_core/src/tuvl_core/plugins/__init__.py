"""Discovery, policy, quarantine and ownership of plugins.

Loading goes: metadata without import, policy, version range, import, contract version, hooks, and,
when something first asks, what each plugin brings. Whatever goes wrong on the way costs that plugin
alone, and is on record with its cause and remedy.
"""

from tuvl_core.plugins.candidate import Candidate, KindEntry, State
from tuvl_core.plugins.manager import Plugins
from tuvl_core.plugins.policy import Policy

__all__ = ["Candidate", "KindEntry", "Plugins", "Policy", "State"]
