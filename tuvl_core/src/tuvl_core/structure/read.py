"""`structure`: plain data of a document to a typed value, or to located diagnostics."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from tuvl_core.diagnostics import Diagnostic
from tuvl_core.documents import Document
from tuvl_core.structure import codes
from tuvl_core.structure.converter import Structurer
from tuvl_core.structure.environment import Environment
from tuvl_core.structure.levels import Level, level_of, suggest
from tuvl_core.structure.problems import Path, Problem, ProblemsError, shown_path
from tuvl_core.structure.source_text import restore_source_text

__all__ = ["structure"]

T = TypeVar("T")

_structurers: weakref.WeakKeyDictionary[Environment, Structurer] = weakref.WeakKeyDictionary()


def structure(
    data: Any,
    cls: type[T],
    *,
    document: Document,
    path: Path = (),
    environment: Environment,
    levels: Callable[[], Level] | None = None,
) -> tuple[T | None, list[Diagnostic]]:
    """Turn plain data into a value of a class.

    Args:
        data: What stands at `path` in the document, or part of it.
        cls: An attrs class, or any type that one of its fields may have.
        document: The document, for places in the file.
        path: Where the data stands.
        environment: What `${…}` refers to.
        levels: The levels of the document from its root, so that a misplaced key is told its place;
            without it only `cls` is looked through.

    Returns:
        The value, or None; and what is wrong. There is a value exactly if nothing is wrong.
    """
    structurer = _structurers.get(environment)
    if structurer is None:
        structurer = _structurers[environment] = Structurer(environment)
    try:
        restored = restore_source_text(data, cls, document, path)
        return structurer.read(restored, cls), []
    except ProblemsError as error:
        root = levels or (lambda: _nested(path, level_of(cls)))
        return None, [_diagnostic(problem, document, path, root) for problem in error.problems]
    except Exception as error:
        if not _is_unusable_class(error):
            raise
        return None, [_unusable(cls, error, document, path)]


def _diagnostic(problem: Problem, document: Document, path: Path, levels: Callable[[], Level]) -> Diagnostic:
    full = (*path, *problem.path)
    where = f"`{shown_path(full)}`" if full else "the document"
    hint, message = problem.hint, f"{where}: {problem.message}"
    if problem.code is codes.UNKNOWN_KEY:
        message = f"{where} is no known key"
        hint = suggest(str(full[-1]), full[:-1], levels())
    elif problem.code is codes.MISSING_KEY:
        message = f"{where} must be given"
    location = document.locate(full, key=problem.at_key, offset=problem.offset)
    return Diagnostic.of(problem.code, message, location=location, hint=hint)


def _nested(path: Path, level: Level) -> Level:
    """Put a level below the path it stands at."""
    for part in reversed([part for part in path if isinstance(part, str)]):
        level = Level(below={part: level})
    return level


def _is_unusable_class(error: Exception) -> bool:
    from cattrs import StructureHandlerNotFoundError

    return isinstance(error, (StructureHandlerNotFoundError, NameError))


def _unusable(cls: Any, error: Exception, document: Document, path: Path) -> Diagnostic:
    name = f"{getattr(cls, '__module__', '')}.{getattr(cls, '__qualname__', cls)}"
    return Diagnostic.of(
        codes.UNUSABLE_CLASS,
        f"`{shown_path(path)}` cannot be read: the class {name} is not usable: {error}",
        location=document.locate(path),
        hint="report it to the authors of the plugin",
    )
