"""Holds plugins to the hooks, and calls their implementations one at a time."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from types import GeneratorType
from typing import Any

import pluggy

from tuvl_core import hookspecs
from tuvl_core.plugins.candidate import Candidate
from tuvl_core.plugins.importing import cause, way_out

__all__ = ["Hooks", "Implementation"]


class Implementation:
    """One plugin's implementation of one hook."""

    __slots__ = ("_argnames", "_function", "candidate")

    def __init__(self, candidate: Candidate, impl: pluggy.HookImpl) -> None:
        self.candidate = candidate
        self._function = impl.function
        self._argnames = impl.argnames

    def __call__(self, arguments: Mapping[str, Any]) -> Any:
        """Call it with the arguments it names; what it yields is collected at once."""
        value = self._function(*[arguments[name] for name in self._argnames])
        return list(value) if isinstance(value, GeneratorType) else value


class Hooks:
    """Every known hook and who implements it."""

    def __init__(self) -> None:
        self._manager = pluggy.PluginManager("tuvl")
        self._manager.add_hookspecs(hookspecs)
        self._candidates: dict[str, Candidate] = {}
        self._cache: dict[str, list[Implementation]] = {}

    @property
    def names(self) -> list[str]:
        """Names of all hooks that somebody specifies."""
        callers = vars(self._manager.hook).items()
        return sorted(name for name, hook in callers if getattr(hook, "spec", None) is not None)

    def add_specs(self, candidate: Candidate) -> None:
        """Add the hooks that a plugin owns itself: the module its `TUVL_HOOKSPECS` names."""
        owned = getattr(candidate.module, "TUVL_HOOKSPECS", None)
        if owned is None:
            return
        try:
            self._check_twins(owned)
            self._manager.add_hookspecs(importlib.import_module(owned))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            candidate.leave_out(
                "failed",
                f"its hooks in {owned!r} cannot be used: {cause(error)}",
                f"upgrade it or tell its authors, or {way_out(candidate)}",
            )

    def register(self, candidate: Candidate) -> None:
        """Register a plugin if everything in it fits; otherwise leave it out as a whole."""
        plugin, key = candidate.module, f"{candidate.dist}:{candidate.name}"
        try:
            known = self._manager.get_name(plugin)
            if known is not None:
                self._seen_twice(candidate, self._candidates[known])
                return
            self._manager.register(plugin, key)
            problem = self._misfit(plugin)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            problem = _plain(cause(error))
        if problem is not None:
            if self._manager.has_plugin(key):
                self._manager.unregister(name=key)
            candidate.leave_out(
                "failed",
                problem,
                f"correct it against docs/reference/hooks.md, or {way_out(candidate)}",
            )
            return
        self._candidates[key] = candidate
        callers = self._manager.get_hookcallers(plugin) or []
        candidate.hooks = tuple(sorted(hook.name for hook in callers if hook.spec is not None))
        self._cache.clear()

    def drop(self, candidate: Candidate) -> None:
        """Take a plugin out again."""
        key = f"{candidate.dist}:{candidate.name}"
        if self._candidates.pop(key, None) is not None:
            self._manager.unregister(name=key)
            self._cache.clear()

    def implementations(self, hook: str) -> list[Implementation]:
        """Who implements a hook, in order: `tryfirst`, then by distribution and name, `trylast`."""
        found = self._cache.get(hook)
        if found is None:
            found = self._cache[hook] = self._find(hook)
        return found

    def _find(self, hook: str) -> list[Implementation]:
        caller = getattr(self._manager.hook, hook, None)
        if caller is None:
            return []
        impls = sorted(
            caller.get_hookimpls(),
            key=lambda impl: (impl.trylast - impl.tryfirst, impl.plugin_name),
        )
        return [Implementation(self._candidates[impl.plugin_name], impl) for impl in impls]

    def _check_twins(self, owned: str) -> None:
        module = importlib.import_module(owned)
        own = {name for name in dir(module) if hasattr(getattr(module, name), "tuvl_spec")}
        if twins := sorted(own & set(self.names)):
            raise ValueError(f"another plugin specifies {', '.join(twins)} already")

    def _seen_twice(self, candidate: Candidate, first: Candidate) -> None:
        candidate.leave_out(
            "duplicate",
            f"it is the same module as entry point {first.name!r} of {first.label}",
            f"remove one of the two entry points, or {way_out(candidate)}",
        )

    def _misfit(self, plugin: Any) -> str | None:
        names = self.names
        for name in names:
            function = vars(plugin).get(name) if hasattr(plugin, "__dict__") else None
            if callable(function) and not _marked(function):
                return f"{name} is not marked with @hookimpl, so it would never be called"
        for caller in self._manager.get_hookcallers(plugin) or ():
            for impl in caller.get_hookimpls():
                if impl.plugin is plugin and (problem := _misfit(caller, impl, names)):
                    return problem
        return None


def _marked(function: Any) -> bool:
    return hasattr(function, "tuvl_impl") or hasattr(function, "tuvl_spec")


def _misfit(caller: Any, impl: Any, names: Iterable[str]) -> str | None:
    if caller.spec is None and not impl.optionalhook:
        from tuvl_core.settings.problems import nearest

        near = nearest(caller.name, names)
        hint = f"did you mean {near}?" if near else "if another package owns it: optionalhook=True"
        return f"it implements a hook that does not exist: {caller.name} ({hint})"
    if impl.wrapper or impl.hookwrapper:
        return f"{caller.name} is a wrapper; tuvl calls one implementation at a time, never around others"
    if impl.function.__code__.co_flags & 0x180:  # CO_COROUTINE, CO_ITERABLE_COROUTINE
        return f"{caller.name} is `async def`; a hook gives an object, and the object does async work"
    return None


def _plain(text: str) -> str:
    """What pluggy says about a signature, without the object addresses in it."""
    return text.replace("PluginValidationError: ", "")
