"""For tests of projects and of kinds: a scripted model, fixtures, record and replay, strategies.

Names are imported when first used, so that `tuvl` itself never waits for a testing library.
Hypothesis strategies are in `tuvl_testing.strategies`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tuvl_testing.bench import ProjectBuilder
    from tuvl_testing.checks import KindCheckError, check_kind
    from tuvl_testing.records import DivergenceError, Record, RecordingHandler, ReplayHandler
    from tuvl_testing.scripted.history import HistoryError, check_history
    from tuvl_testing.scripted.model import ScriptedModel, use_model
    from tuvl_testing.scripted.turns import answer, call, fails, turn

_MODULES: Final = {
    "bench": "ProjectBuilder",
    "checks": "KindCheckError check_kind",
    "records": "DivergenceError Record RecordingHandler ReplayHandler",
    "scripted.history": "HistoryError check_history",
    "scripted.model": "ScriptedModel use_model",
    "scripted.turns": "answer call fails turn",
}
_WHERE: Final = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = [
    "DivergenceError",
    "HistoryError",
    "KindCheckError",
    "ProjectBuilder",
    "Record",
    "RecordingHandler",
    "ReplayHandler",
    "ScriptedModel",
    "answer",
    "call",
    "check_history",
    "check_kind",
    "fails",
    "turn",
    "use_model",
]


def __getattr__(name: str) -> Any:
    module = _WHERE.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
