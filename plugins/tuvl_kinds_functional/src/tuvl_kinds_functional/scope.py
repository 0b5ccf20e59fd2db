"""Where code is allowed to come from, and where an object really is.

A workflow may name code of its project and of installed plugins, nothing else. What counts is the
place of the code itself, after following every alias, wrapper and re-export: `os.system` imported into
a plugin's module is still `os.system`.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import attrs

__all__ = ["Scope", "innermost", "plugin_packages", "where"]

_NOT_THE_PROJECT: Final = frozenset({"site-packages", "dist-packages", "node_modules", "__pycache__"})
_MAX_WRAPPERS: Final = 100


@attrs.frozen(kw_only=True)
class Scope:
    """The places code may come from.

    Attributes:
        root: The project's directory.
        packages: The importable packages of installed plugins, and where their files are.
    """

    root: Path
    packages: dict[str, tuple[Path, ...]]

    @classmethod
    def of(cls, project: Any) -> Scope:
        """The scope of a project and the plugins it runs with."""
        return cls(root=Path(project.root).resolve(), packages=plugin_packages(project.plugins))

    def package_of(self, module: str) -> str | None:
        """The plugin's package that a dotted module name lies in, if any."""
        for package in self.packages:
            if module == package or module.startswith(f"{package}."):
                return package
        return None

    def allows(self, function: Callable[..., Any]) -> bool:
        """Whether a function's own code lies in the project or in an installed plugin."""
        file = _file_of(innermost(function))
        if file is None:
            return False
        return self.in_project(file) or any(
            file == place or file.is_relative_to(place) for places in self.packages.values() for place in places
        )

    def in_project(self, file: Path) -> bool:
        """Whether a file, links followed, is the project's own: no environment inside it."""
        if not file.is_relative_to(self.root):
            return False
        parts = file.relative_to(self.root).parts
        if any(part.startswith(".") or part in _NOT_THE_PROJECT for part in parts):
            return False
        environment = Path(sys.prefix).resolve()
        return environment == self.root or not file.is_relative_to(environment)


def plugin_packages(plugins: Any) -> dict[str, tuple[Path, ...]]:
    """The packages of plugins that are ready, by name, with the places of their code."""
    found: dict[str, tuple[Path, ...]] = {}
    for candidate in plugins.candidates:
        if candidate.state == "ready" and candidate.module is not None:
            package = _regular_package(candidate.module.__name__)
            if package is not None:
                found[package] = _places(sys.modules[package])
    return dict(sorted(found.items()))


def _regular_package(module: str) -> str | None:
    """The outermost package with code of its own; a namespace around it belongs to others too."""
    parts = module.split(".")
    for count in range(1, len(parts) + 1):
        name = ".".join(parts[:count])
        loaded = sys.modules.get(name)
        if loaded is not None and getattr(loaded, "__file__", None):
            return name
    return None


def _places(package: types.ModuleType) -> tuple[Path, ...]:
    folders: Iterable[str] = getattr(package, "__path__", ())
    places = tuple(Path(folder).resolve() for folder in folders)
    return places or (Path(str(package.__file__)).resolve(),)


def innermost(function: Any) -> Any:
    """Follow partials, bound methods, wrappers and callable objects to the code that is meant."""
    for _ in range(_MAX_WRAPPERS):
        if isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, (types.MethodType, staticmethod, classmethod)):
            function = function.__func__
        elif (inner := getattr(function, "__wrapped__", None)) is not None:
            function = inner
        elif isinstance(function, (types.FunctionType, types.BuiltinFunctionType, type)):
            return function
        else:
            called = getattr(type(function), "__call__", None)
            if called is None or not isinstance(called, types.FunctionType):
                return function
            function = called
    return None


def where(function: Any) -> str:
    """Name the place of a function's own code, for people."""
    inner = innermost(function)
    module = getattr(inner, "__module__", None) or type(inner).__module__
    return f"{module}.{getattr(inner, '__qualname__', type(inner).__name__)}"


def _file_of(function: Any) -> Path | None:
    code = getattr(function, "__code__", None)
    file = getattr(code, "co_filename", None)
    if file is None:
        # Compiled extensions have no code object; their module tells where they are.
        module = sys.modules.get(str(getattr(function, "__module__", "")))
        file = getattr(module, "__file__", None)
    return Path(file).resolve() if file else None
