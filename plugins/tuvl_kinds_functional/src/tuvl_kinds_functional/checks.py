"""Static checks of runners and of the project's node files. Nothing here runs user code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tuvl_core import Code, Diagnostic, Location, PlanView, StepView
from tuvl_kinds_functional import codes
from tuvl_kinds_functional.reference import inspect, split
from tuvl_kinds_functional.scope import Scope
from tuvl_kinds_functional.source import NodeFile, Registration, node_files

__all__ = ["check_files", "check_runner", "registered"]


def check_runner(step: StepView, plan: PlanView) -> Diagnostic | None:
    """Check that a step's `runner` names a node that exists and may be named."""
    runner: str = step.config.runner
    found = _reference(runner, plan) if ":" in runner else _name(runner, plan)
    if found is None:
        return None
    code, message, hint = found
    return Diagnostic.of(
        code,
        message,
        location=step.locate("runner"),
        workflow=plan.workflow,
        step=step.id,
        hint=hint,
    )


def check_files(plan: PlanView) -> Iterable[Diagnostic]:
    """Report what is wrong with the files in `nodes/`, whoever uses them."""
    files = node_files(Path(plan.project.root))
    for file in files:
        if file.problem is not None:
            where = Location(path=file.shown, line=file.problem.line, column=file.problem.column)
            message = f"nothing in {file.shown} can be used: {file.problem.message}"
            yield Diagnostic.of(codes.BAD_FILE, message, location=where)
        for item in file.registrations:
            if item.problem is not None:
                yield Diagnostic.of(codes.BAD_NODE, item.problem, location=_place(file, item))
    yield from _twins(files)


def registered(name: str, files: Iterable[NodeFile]) -> list[tuple[NodeFile, Registration]]:
    """Every registration of a name, in the order of files and lines."""
    return [(file, item) for file in files for item in file.registrations if item.name == name]


def _twins(files: Sequence[NodeFile]) -> Iterator[Diagnostic]:
    names = dict.fromkeys(i.name for f in files for i in f.registrations if i.name is not None)
    for name in names:
        (first, origin), *others = registered(name, files)
        for file, item in others:
            yield Diagnostic.of(
                codes.TWIN_NAMES,
                f"the node name {name!r} is taken by {first.shown}:{origin.line}",
                location=_place(file, item),
                hint="give one of them another name",
            )


Found = tuple[Code, str, str | None]


def _name(runner: str, plan: PlanView) -> Found | None:
    files = node_files(Path(plan.project.root))
    found = registered(runner, files)
    if not found:
        return _unknown(runner, files)
    if len(found) > 1:
        places = " and ".join(f"{file.shown}:{item.line}" for file, item in found)
        return codes.BAD_RUNNER, f"two nodes have the name {runner!r}: {places}", None
    file, item = found[0]
    problem = item.problem or (file.problem and file.problem.message)
    if problem is None:
        return None
    line = file.problem.line if file.problem else item.line
    message = f"the node {runner!r} cannot be used, see {file.shown}:{line}: {problem}"
    return codes.BAD_RUNNER, message, None


def _unknown(runner: str, files: Sequence[NodeFile]) -> Found:
    """No file registers the name. A file that cannot be parsed may be the one that would."""
    quoted = re.compile(rf"""\bnode\(\s*(?:name\s*=\s*)?(['"]){re.escape(runner)}\1""")
    for file in files:
        if file.problem is not None and not file.registrations and quoted.search(_text(file)):
            message = (
                f"the node {runner!r} cannot be used, see {file.shown}:{file.problem.line}: {file.problem.message}"
            )
            return codes.BAD_RUNNER, message, None
    names = [i.name for f in files for i in f.registrations if i.name is not None]
    hint = f'write @node("{runner}") above a function in a file of nodes/'
    message = f"no node is registered as {runner!r}"
    broken = [file.shown for file in files if file.problem is not None]
    if broken:
        message += f" ({', '.join(broken)} cannot be read)"
    if near := nearest(runner, names):
        hint = f"did you mean {near!r}?"
    elif names:
        hint += f"; there are: {', '.join(sorted(set(names))[:10])}"
    return codes.UNKNOWN_RUNNER, message, hint


def nearest(name: str, names: Sequence[str]) -> str | None:
    """The name that was probably meant."""
    import difflib

    found = difflib.get_close_matches(name, names, n=1, cutoff=0.7)
    return found[0] if found else None


def _reference(runner: str, plan: PlanView) -> Found | None:
    parts = split(runner)
    if parts is None:
        return (
            codes.UNKNOWN_RUNNER,
            f"{runner!r} is no reference of the form package.module:function",
            None,
        )
    scope = Scope.of(plan.project)
    finding = inspect(*parts, scope)
    if finding is None:
        return None
    if not finding.outside:
        return codes.UNKNOWN_RUNNER, finding.message, None
    hint = f'write a function in nodes/, with @node("{parts[1]}") above it, and name that'
    return codes.OUTSIDE, f"runner {runner!r}: {finding.message}", hint


def _place(file: NodeFile, item: Registration) -> Location:
    return Location(path=file.shown, line=item.line, column=item.column)


def _text(file: NodeFile) -> str:
    try:
        return file.path.read_bytes()[:2_000_000].decode("utf-8", "replace")
    except OSError:
        return ""
