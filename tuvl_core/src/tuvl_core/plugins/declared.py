"""The settings that plugins declare, each name with one owner."""

from __future__ import annotations

from typing import Any

from tuvl_core.diagnostics import Diagnostic
from tuvl_core.plugins import codes
from tuvl_core.plugins.candidate import Candidate
from tuvl_core.plugins.hooks import Hooks
from tuvl_core.plugins.importing import cause, way_out
from tuvl_core.settings import KERNEL_SETTINGS, Setting

__all__ = ["declared_settings"]


def declared_settings(hooks: Hooks) -> tuple[list[Setting], list[Diagnostic]]:
    """Collect settings; a plugin that raises or takes another's name is left out as a whole."""
    owners: dict[str, Candidate | None] = {setting.name: None for setting in KERNEL_SETTINGS}
    found: list[Setting] = []
    problems: list[Diagnostic] = []
    for implementation in hooks.implementations("tuvl_settings"):
        candidate = implementation.candidate
        try:
            settings = _checked(implementation({}))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            candidate.leave_out("failed", f"tuvl_settings: {cause(error)}", way_out(candidate))
            hooks.drop(candidate)
            continue
        for setting in settings:
            if setting.name in owners:
                owner = owners[setting.name]
                whose = owner.label if owner is not None else "the kernel"
                message = f"{candidate.label} declares setting {setting.name}, which is {whose}'s"
                problems.append(Diagnostic.of(codes.REPLACES, message, plugin=candidate.label))
                continue
            owners[setting.name] = candidate
            found.append(setting)
    return found, problems


def _checked(value: object) -> list[Setting]:
    settings: list[Any] = list(value or ())  # type: ignore[call-overload]
    for setting in settings:
        if not isinstance(setting, Setting):
            raise TypeError(f"{setting!r} is no Setting")
    return settings
