"""Loading a project's node files for real, when a workflow that needs them is compiled.

Each project gets a package of its own in `sys.modules`, so that two projects with a `nodes/refund.py`
never meet, and so that the files of one project can import each other (`from .prices import VAT`).
Only files that a step needs are executed.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import itertools
import re
import sys
import threading
import types
import weakref
from pathlib import Path
from typing import Any, Final

from tuvl_kinds_functional.registry import COLLECTING, Registered
from tuvl_kinds_functional.source import FOLDER, NodeFile

__all__ = ["LoadError", "ProjectNodes"]

_NUMBERS: Final = itertools.count(1)
_LOCK: Final = threading.RLock()


class LoadError(Exception):
    """A node file raised while it was executed.

    Args:
        message: What it raised.
        line: The last line of the file that was reached.
    """

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


class _Loader(importlib.machinery.SourceFileLoader):
    """Executes what the file holds now: byte code caches are told apart by whole seconds only."""

    def get_code(self, fullname: str) -> types.CodeType:
        path = self.get_filename(fullname)
        code: types.CodeType = self.source_to_code(self.get_data(path), path)
        return code


class ProjectNodes:
    """The node modules of one loaded project.

    Args:
        root: The project's directory.
    """

    def __init__(self, root: Path) -> None:
        self._folder = root / FOLDER
        name = re.sub(r"\W", "_", root.name) or "project"
        self._package = f"tuvl_nodes_{next(_NUMBERS)}_{name}"
        self._registered: Registered = {}
        weakref.finalize(self, _forget, self._package)

    def functions(self, name: str, file: NodeFile) -> list[Any]:
        """What is registered as `name` once `file` has been executed.

        Raises:
            LoadError: The file raised.
        """
        with _LOCK:
            self._execute(file)
        return self._registered.get(name, [])

    def _execute(self, file: NodeFile) -> None:
        token = COLLECTING.set(self._registered)
        try:
            if self._package not in sys.modules:
                self._import(self._package, self._folder / "__init__.py", package=True)
            if file.path.name != "__init__.py":
                self._import(f"{self._package}.{file.path.stem}", file.path)
        finally:
            COLLECTING.reset(token)

    def _import(self, name: str, path: Path, *, package: bool = False) -> None:
        if name in sys.modules:
            return
        if package and not path.exists():
            module = types.ModuleType(name)
            module.__path__ = [str(self._folder)]
            sys.modules[name] = module
            return
        spec = importlib.util.spec_from_file_location(
            name,
            path,
            loader=_Loader(name, str(path)),
            submodule_search_locations=[str(self._folder)] if package else None,
        )
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException as error:
            sys.modules.pop(name, None)
            if isinstance(error, KeyboardInterrupt):
                raise
            raise LoadError(f"{type(error).__name__}: {error}", _line_in(path, error)) from error


def _line_in(path: Path, error: BaseException) -> int:
    """The last line of a file that a traceback passes through."""
    line = error.lineno if isinstance(error, SyntaxError) and error.filename == str(path) else None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line or 1


def _forget(package: str) -> None:
    for name in [n for n in sys.modules if n == package or n.startswith(f"{package}.")]:
        sys.modules.pop(name, None)
