"""`runner: package.module:function`: code of an installed plugin, found without importing it."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Final

import attrs

from tuvl_kinds_functional.names import signature_problem
from tuvl_kinds_functional.scope import Scope
from tuvl_kinds_functional.source import FileProblem, parse

__all__ = ["Finding", "inspect", "split"]

_MODULE: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_FUNCTION: Final = re.compile(r"[^\W\d]\w*")
_MAX_HOPS: Final = 20


@attrs.frozen
class Finding:
    """What is wrong with a reference.

    Attributes:
        message: What and why.
        outside: Whether it leads to code that no workflow may name.
    """

    message: str
    outside: bool = False


def split(runner: str) -> tuple[str, str] | None:
    """Take a reference apart; None if it does not have the form `package.module:function`."""
    module, _, function = runner.partition(":")
    if _MODULE.fullmatch(module) and _FUNCTION.fullmatch(function):
        return module, function
    return None


def inspect(module: str, function: str, scope: Scope) -> Finding | None:
    """Look a reference up in the source of the plugin it names, following re-exports.

    Returns:
        What is wrong with it, or None if nothing is as far as the source tells.
    """
    for _ in range(_MAX_HOPS):
        package = scope.package_of(module)
        if package is None:
            return Finding(f"{module}.{function} is no code of an installed tuvl plugin", outside=True)
        file = _module_file(module, package, scope)
        if file is None:
            return Finding(f"{package} has no module {module!r}")
        tree = parse(file)
        if isinstance(tree, FileProblem):
            return Finding(f"{module} cannot be used, {tree.message}")
        step = _look(tree, module, file.name == "__init__.py", function)
        if not isinstance(step, _Elsewhere):
            return step
        module, function = step.module, step.name
    return Finding(f"{module}.{function} is imported in a circle")


@attrs.frozen
class _Elsewhere:
    module: str
    name: str


def _look(tree: ast.Module, module: str, is_package: bool, function: str) -> Finding | _Elsewhere | None:
    """Find a name in a module; the last binding counts."""
    result: Finding | _Elsewhere | None = Finding(f"{module} has no function {function!r}")
    for statement in ast.walk(tree):
        if isinstance(statement, ast.ImportFrom) and any(a.name == "*" for a in statement.names):
            result = None  # it may come from there; the import itself will tell
        if isinstance(statement, ast.FunctionDef) and statement.name == "__getattr__":
            result = None
    for statement in tree.body:
        bound = _binding(statement, module, is_package, function)
        if bound is not _NOT_BOUND:
            result = bound  # type: ignore[assignment]
    return result


_NOT_BOUND: Final = object()


def _binding(statement: ast.stmt, module: str, is_package: bool, name: str) -> object:
    """What a statement binds a name to: a finding, another place, None for "fine"."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) and statement.name == name:
        problem = None if statement.decorator_list else signature_problem(statement)
        return Finding(f"{module}.{name}: {problem}") if problem else None
    if isinstance(statement, ast.ClassDef) and statement.name == name:
        return Finding(f"{module}.{name} is a class; a node is a function")
    if isinstance(statement, ast.ImportFrom):
        for alias in statement.names:
            if (alias.asname or alias.name) == name:
                return _Elsewhere(_absolute(statement, module, is_package), alias.name)
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            if (alias.asname or alias.name) == name:
                return Finding(f"{module}.{name} is a module; a node is a function")
    if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.If, ast.Try, ast.With)):
        bound = (found for found in ast.walk(statement) if _binds(found, name))
        return next((None for _ in bound), _NOT_BOUND)
    return _NOT_BOUND


def _binds(found: ast.AST, name: str) -> bool:
    if isinstance(found, ast.Name):
        return found.id == name and isinstance(found.ctx, ast.Store)
    if isinstance(found, (ast.Import, ast.ImportFrom)):
        return any((alias.asname or alias.name) == name for alias in found.names)
    return isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef)) and found.name == name


def _absolute(statement: ast.ImportFrom, module: str, is_package: bool) -> str:
    """The absolute name of the module that a `from … import` reads."""
    if not statement.level:
        return statement.module or ""
    parts = module.split(".")
    up = statement.level - (1 if is_package else 0)
    base = parts[: len(parts) - up] if up else parts
    return ".".join([*base, *([statement.module] if statement.module else [])])


def _module_file(module: str, package: str, scope: Scope) -> Path | None:
    """The file of a module, found by path: asking the import system would run the packages above."""
    below = module[len(package) + 1 :].split(".") if module != package else []
    for place in scope.packages[package]:
        if place.is_file():
            return place if not below else None
        target = place.joinpath(*below)
        candidates = [target / "__init__.py"]
        if below:
            candidates.append(target.with_name(f"{target.name}.py"))
        for file in candidates:
            if file.is_file() and file.resolve().is_relative_to(place):
                return file
    return None
