"""Imports entry modules, each inside its own guard, and says in one line what went wrong."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from tuvl_core.hookspecs import TUVL_API
from tuvl_core.plugins.candidate import Candidate

__all__ = ["cause", "find_local", "import_candidate", "way_out"]

_LONGEST: Final = 300


def find_local(root: Path | None, folders: Sequence[Path]) -> list[Candidate]:
    """Plugins that are files of the project: `plugins/*.py`, in order of their names."""
    found: list[Candidate] = []
    for folder in ([root / "plugins"] if root is not None else []) + list(folders):
        base = root if root is not None and folder.is_relative_to(root) else folder.parent
        for path in sorted(folder.glob("*.py")) if folder.is_dir() else ():
            if path.name.startswith(("_", ".")):
                continue
            candidate = Candidate(
                name=path.stem,
                dist=path.relative_to(base).as_posix(),
                version=None,
                entry_point=path.relative_to(base).as_posix(),
                local=True,
                path=str(path),
            )
            if not path.resolve().is_relative_to(base.resolve()):
                candidate.leave_out(
                    "failed",
                    "it is a link to a file outside of the project",
                    "copy the file into the project, or package it",
                )
            found.append(candidate)
    return found


def import_candidate(candidate: Candidate) -> None:
    """Import a candidate's module; what it raises, even SystemExit, stays with it."""
    begun = time.perf_counter()
    try:
        # What a plugin prints at import must not end up in the command's machine-readable output.
        with redirect_stdout(sys.stderr):
            if candidate.local:
                candidate.module = _import_file(candidate)
            else:
                candidate.module = _import_point(candidate.entry_point)
            check_api(candidate)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        candidate.leave_out("failed", cause(error), _import_remedy(candidate, error), line=_line(candidate, error))
    candidate.load_ms = (time.perf_counter() - begun) * 1000


def check_api(candidate: Candidate) -> None:
    """Leave out a plugin that was written for another contract; one that says nothing means the first."""
    wanted = getattr(candidate.module, "TUVL_API", 1)
    if wanted == TUVL_API and type(wanted) is int:
        return
    newer = isinstance(wanted, int) and wanted > TUVL_API
    advice = "upgrade tuvl-core" if newer else f"upgrade {candidate.dist}"
    candidate.leave_out(
        "incompatible",
        f"it is written for plugin contract {wanted!r}, this tuvl-core has {TUVL_API}",
        f"{advice}, or {way_out(candidate)}",
    )


def cause(error: BaseException) -> str:
    """Type and text of an exception in one line, without secrets that a text may hold."""
    from tuvl_core.views import scrub

    if isinstance(error, SystemExit):
        text = f"it ended the process with sys.exit({error.code!r})"
    else:
        text = " ".join(str(error).split())
    text = scrub(text, ())
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}…"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def way_out(candidate: Candidate) -> str:
    """How to go on without a plugin."""
    if candidate.local:
        return f"rename it to _{candidate.name}.py to leave it out"
    return f"leave it out: TUVL_PLUGINS_BLOCK={candidate.dist}"


def _import_point(entry_point: str) -> Any:
    import importlib

    module, _, attributes = entry_point.partition(":")
    found: Any = importlib.import_module(module.strip())
    for name in filter(None, attributes.strip().split(".")):
        found = getattr(found, name)
    return found


def _import_file(candidate: Candidate) -> ModuleType:
    """Run a project's file as a module; no compiled copy is written beside it, none is trusted."""
    from zlib import crc32

    name = f"tuvl_local_{crc32(os.fsencode(candidate.path)):08x}_{candidate.name}"
    with open(candidate.path, "rb") as file:
        code = compile(file.read(), candidate.path, "exec", dont_inherit=True)
    module = ModuleType(name)
    module.__file__ = candidate.path
    # Classes look their module up by name, to resolve their annotations.
    sys.modules[name] = module
    try:
        exec(code, module.__dict__)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _import_remedy(candidate: Candidate, error: BaseException) -> str:
    out = way_out(candidate)
    if isinstance(error, ModuleNotFoundError) and error.name and not candidate.local:
        own = candidate.entry_point.partition(":")[0]
        if f"{own}.".startswith(f"{error.name}."):
            return (
                f"its code is gone: `pip install --force-reinstall {candidate.dist}`, or "
                f"`pip uninstall {candidate.dist}`"
            )
        return f"install what it needs: `pip install --upgrade {candidate.dist}`, or {out}"
    if candidate.local:
        return f"correct the file, or {out}"
    return f"upgrade it or tell its authors, or {out}"


def _line(candidate: Candidate, error: BaseException) -> int | None:
    if not candidate.local:
        return None
    if isinstance(error, SyntaxError) and error.filename == candidate.path:
        return error.lineno
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == candidate.path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
