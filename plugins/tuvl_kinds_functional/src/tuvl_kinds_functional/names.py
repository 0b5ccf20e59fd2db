"""What the names in a module stand for, as far as its source tells."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Final

import attrs

__all__ = ["Names", "signature_problem"]

PACKAGE: Final = "tuvl_kinds_functional"
DECORATOR: Final = "node"


@attrs.frozen(kw_only=True)
class Names:
    """The imports of one module.

    Attributes:
        absolute: A name in the module, and the absolute dotted path that was imported as it.
        required_modules: Top-level modules that importing the file needs: module, line, column.
    """

    absolute: dict[str, str]
    required_modules: tuple[tuple[str, int, int], ...]

    @classmethod
    def of(cls, tree: ast.Module) -> Names:
        """Collect the imports of a module, wherever they stand."""
        absolute: dict[str, str] = {}
        for found in ast.walk(tree):
            if isinstance(found, (ast.Import, ast.ImportFrom)):
                absolute.update(_bound(found))
        required = [
            (module, statement.lineno, statement.col_offset + 1)
            for statement in tree.body
            if isinstance(statement, (ast.Import, ast.ImportFrom))
            for module in _top_levels(statement)
        ]
        return cls(absolute=absolute, required_modules=tuple(required))

    def is_node(self, expression: ast.expr) -> bool:
        """Whether an expression is the `node` decorator itself."""
        return self.path(expression) == f"{PACKAGE}.{DECORATOR}"

    def path(self, expression: ast.expr) -> str | None:
        """The absolute dotted path that a name or attribute was imported from, if it was."""
        if isinstance(expression, ast.Name):
            return self.absolute.get(expression.id)
        if isinstance(expression, ast.Attribute):
            owner = self.path(expression.value)
            return None if owner is None else f"{owner}.{expression.attr}"
        return None

    def origin(self, expression: ast.expr) -> str | None:
        """The path of an expression that certainly comes from the standard library."""
        import sys

        path = self.path(expression)
        if path is not None and path.partition(".")[0] in sys.stdlib_module_names:
            return path
        return None


def _bound(statement: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            if alias.asname:
                yield alias.asname, alias.name
            else:
                top = alias.name.partition(".")[0]
                yield top, top
    elif not statement.level and statement.module:
        for alias in statement.names:
            if alias.name == "*" and statement.module == PACKAGE:
                yield DECORATOR, f"{PACKAGE}.{DECORATOR}"
            yield alias.asname or alias.name, f"{statement.module}.{alias.name}"


def _top_levels(statement: ast.Import | ast.ImportFrom) -> Iterable[str]:
    if isinstance(statement, ast.Import):
        return [alias.name.partition(".")[0] for alias in statement.names]
    if statement.level or not statement.module:
        return []
    return [statement.module.partition(".")[0]]


def signature_problem(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
    """Why a function cannot be called with the context alone; None if it can."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    required = len(positional) - len(arguments.defaults)
    required_keywords = [
        argument.arg
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default is None
    ]
    if required > 1 or required_keywords or not (positional or arguments.vararg):
        return "a node takes one argument, the context: def " + f"{function.name}(ctx)"
    if any(isinstance(inner, (ast.Yield, ast.YieldFrom)) for inner in _own(function)):
        return "a node returns its result; it cannot be a generator (it has a yield)"
    return None


def _own(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.AST]:
    """Everything inside a function, without what lies in functions inside it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        found = waiting.pop()
        if not isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield found
            waiting.extend(ast.iter_child_nodes(found))
