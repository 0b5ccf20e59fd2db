"""What the project's `nodes/*.py` register, read from their source. Nothing here runs user code."""

from __future__ import annotations

import ast
import functools
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import attrs

from tuvl_kinds_functional.names import Names, signature_problem

__all__ = ["FileProblem", "NodeFile", "Registration", "node_files", "parse"]

FOLDER: Final = "nodes"
MAX_BYTES: Final = 2_000_000


@attrs.frozen
class FileProblem:
    """Why a file, or a registration in it, cannot be used."""

    line: int
    column: int
    message: str


@attrs.frozen(kw_only=True)
class Registration:
    """One `@node("name")`.

    Attributes:
        name: The name; None where it is no literal.
        line: Where the registration stands.
        column: The same, from 1.
        problem: Why the function cannot be a node, as far as its source tells.
    """

    name: str | None
    line: int
    column: int
    problem: str | None = None


@attrs.frozen(kw_only=True)
class NodeFile:
    """One file of the project's `nodes` folder.

    Attributes:
        path: The file itself.
        shown: Its path below the project, for people.
        registrations: What it registers, in order.
        problem: Why nothing in it can be used.
    """

    path: Path
    shown: str
    registrations: tuple[Registration, ...] = ()
    problem: FileProblem | None = None


def node_files(root: Path) -> list[NodeFile]:
    """Read every `nodes/*.py` of a project, in the order of their names."""
    home = root.resolve()
    found = []
    for path in sorted((root / FOLDER).glob("*.py")):
        shown = f"{FOLDER}/{path.name}"
        try:
            real = path.resolve()
        except (OSError, RuntimeError):  # a link that leads back to itself
            problem = FileProblem(1, 1, "it is a link that leads nowhere")
            found.append(NodeFile(path=path, shown=shown, problem=problem))
            continue
        if not real.is_relative_to(home):
            problem = FileProblem(1, 1, "it is a link that leads outside the project")
            found.append(NodeFile(path=path, shown=shown, problem=problem))
            continue
        try:
            stat = real.stat()
        except OSError as error:
            problem = FileProblem(1, 1, f"it cannot be read: {error.strerror}")
            found.append(NodeFile(path=path, shown=shown, problem=problem))
            continue
        if real.is_file():
            found.append(_node_file(path, shown, stat.st_mtime_ns, stat.st_size))
    return found


@functools.lru_cache(maxsize=1024)
def _node_file(path: Path, shown: str, mtime_ns: int, size: int) -> NodeFile:
    """Read one file; time and size are in the key so that an edited file is read again."""
    tree = parse(path)
    if isinstance(tree, FileProblem):
        return NodeFile(path=path, shown=shown, problem=tree)
    names = Names.of(tree)
    return NodeFile(
        path=path,
        shown=shown,
        registrations=tuple(_registrations(tree, names)),
        problem=_missing_import(names),
    )


def parse(path: Path) -> ast.Module | FileProblem:
    """Parse a Python file without running it, within modest bounds."""
    try:
        if path.stat().st_size > MAX_BYTES:
            return FileProblem(1, 1, f"it is larger than {MAX_BYTES} bytes")
        source = path.read_bytes()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # advice about its code is not ours to give
            return ast.parse(source, str(path))
    except SyntaxError as error:
        return FileProblem(max(error.lineno or 1, 1), max(error.offset or 1, 1), f"it is no valid Python: {error.msg}")
    except (ValueError, RecursionError, MemoryError):
        return FileProblem(1, 1, "it is no valid Python: it holds null bytes or is nested too deep")
    except OSError as error:
        return FileProblem(1, 1, f"it cannot be read: {error.strerror}")


def _missing_import(names: Names) -> FileProblem | None:
    for module, line, column in names.required_modules:
        if not module_exists(module):
            return FileProblem(line, column, f"it imports {module!r}, which is not installed")
    return None


@functools.lru_cache(maxsize=1024)
def module_exists(module: str) -> bool:
    """Whether a top-level module can be found; finding it imports nothing."""
    import importlib.util
    import sys

    if module in sys.stdlib_module_names or module in sys.modules:
        return True
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _registrations(tree: ast.Module, names: Names) -> list[Registration]:
    found: list[Registration] = []
    for statement in _run_at_import(tree):
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.extend(_decorated(statement, names))
        elif isinstance(statement, (ast.Expr, ast.Assign)):
            call = statement.value
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Call):
                found.extend(_applied(call, call.func, names))
    return sorted(found, key=lambda item: (item.line, item.column))


def _run_at_import(block: ast.AST) -> Iterator[ast.AST]:
    """Every statement that importing the file may execute: not those inside functions."""
    for child in ast.iter_child_nodes(block):
        if isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            yield child
            if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield from _run_at_import(child)


def _decorated(
    statement: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, names: Names
) -> Iterator[Registration]:
    for decorator in statement.decorator_list:
        if names.is_node(decorator):
            yield _bare(decorator)
        elif isinstance(decorator, ast.Call) and names.is_node(decorator.func):
            problem = None
            if isinstance(statement, ast.ClassDef):
                problem = "a node is a function, not a class"
            elif len(statement.decorator_list) == 1:
                problem = signature_problem(statement)
            yield _registration(decorator, problem)


def _applied(call: ast.Call, decorator: ast.Call, names: Names) -> Iterator[Registration]:
    """`node("name")(function)`, written out."""
    if names.is_node(decorator.func):
        origin = names.origin(call.args[0]) if call.args else None
        problem = None
        if origin is not None:
            problem = f"{origin} is neither code of the project nor of an installed tuvl plugin"
        yield _registration(decorator, problem)


def _bare(decorator: ast.expr) -> Registration:
    return Registration(
        name=None,
        line=decorator.lineno,
        column=decorator.col_offset + 1,
        problem='@node needs a name: write @node("name")',
    )


def _registration(call: ast.Call, problem: str | None) -> Registration:
    argument = call.args[0] if len(call.args) == 1 else None
    if not call.args and len(call.keywords) == 1 and call.keywords[0].arg == "name":
        argument = call.keywords[0].value
    name = argument.value if isinstance(argument, ast.Constant) else None
    if not isinstance(name, str):
        name = None
        problem = "the name of a node has to be a literal text, so that it can be read without running"
    return Registration(name=name, line=call.lineno, column=call.col_offset + 1, problem=problem)
