"""Supervision of tuvl's agents: rules and a judge that pause, steer or abort.

A plugin adds kinds of rules by contributing a `RuleKind` through the hook `tuvl_rule_kinds`. Names are
imported when first used: the command's start must not wait for them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tuvl_supervisor.config import SupervisorSpec
    from tuvl_supervisor.kinds import Rule, RuleKind, called, rule_kinds
    from tuvl_supervisor.replay import Replayed, replay

_MODULES: Final = {
    "config": "SupervisorSpec",
    "replay": "Replayed replay",
    "kinds": "Rule RuleKind called rule_kinds",
}
_WHERE: Final = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = ["Replayed", "Rule", "RuleKind", "SupervisorSpec", "called", "replay", "rule_kinds"]


def __getattr__(name: str) -> Any:
    module = _WHERE.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
