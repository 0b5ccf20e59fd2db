"""From a step's `runner` to the function itself, at compile time."""

from __future__ import annotations

import functools
import inspect
import types
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import attrs

from tuvl_core import Code, Diagnostic, PlanView, ProjectError, StepView
from tuvl_kinds_functional import codes
from tuvl_kinds_functional.checks import check_runner, registered
from tuvl_kinds_functional.loader import LoadError, ProjectNodes
from tuvl_kinds_functional.scope import Scope, where
from tuvl_kinds_functional.source import node_files

__all__ = ["Node", "resolve"]


@attrs.frozen
class Node:
    """A function, ready to be called.

    Attributes:
        name: What the step calls it.
        function: The function.
        is_async: Whether it runs on the event loop; otherwise in a thread.
    """

    name: str
    function: Callable[[Any], Any]
    is_async: bool


_PROJECTS: Final[weakref.WeakKeyDictionary[Any, ProjectNodes]] = weakref.WeakKeyDictionary()


def resolve(step: StepView, plan: PlanView) -> Node:
    """Find a step's function, importing the file that holds it.

    Raises:
        ProjectError: There is none, it may not be named, or its file does not load.
    """
    runner: str = step.config.runner
    found = check_runner(step, plan)
    if found is not None:
        raise ProjectError(found.message, [found])
    scope = Scope.of(plan.project)
    function = _import(runner, step, plan) if ":" in runner else _registered(runner, step, plan)
    problem = _problem(function)
    if problem is not None:
        raise _refused(codes.BAD_RUNNER, f"the node {runner!r} cannot be used: {problem}", step, plan)
    if not scope.allows(function):
        message = (
            f"runner {runner!r} is {where(function)}, which is neither code of the project nor of "
            "an installed tuvl plugin"
        )
        raise _refused(codes.OUTSIDE, message, step, plan)
    return Node(runner, function, _is_async(function))


def _registered(name: str, step: StepView, plan: PlanView) -> Any:
    root = Path(plan.project.root)
    ((file, item),) = registered(name, node_files(root))
    nodes = _PROJECTS.get(plan.project)
    if nodes is None:
        nodes = _PROJECTS[plan.project] = ProjectNodes(root)
    try:
        functions = nodes.functions(name, file)
    except LoadError as error:
        message = f"the node {name!r} cannot be used, {file.shown}:{error.line} raised {error}"
        raise _refused(codes.BAD_RUNNER, message, step, plan) from error
    if len(functions) != 1:
        message = (
            f"two nodes have the name {name!r}"
            if functions
            else f"{file.shown}:{item.line} was not reached, so nothing is registered as {name!r}"
        )
        raise _refused(codes.BAD_RUNNER, message, step, plan)
    return functions[0]


def _import(runner: str, step: StepView, plan: PlanView) -> Any:
    import importlib

    module, _, function = runner.partition(":")
    try:
        return getattr(importlib.import_module(module), function)
    except BaseException as error:  # a module may call sys.exit
        if isinstance(error, KeyboardInterrupt):
            raise
        message = f"runner {runner!r} cannot be imported: {type(error).__name__}: {error}"
        raise _refused(codes.BAD_RUNNER, message, step, plan) from error


def _problem(function: Any) -> str | None:
    if isinstance(function, type):
        return "it is a class; a node is a function"
    if not callable(function):
        return f"it is a {type(function).__name__}; a node is a function"
    called = _plain(function)
    if inspect.isgeneratorfunction(called) or inspect.isasyncgenfunction(called):
        return "it is a generator; a node returns its result"
    try:
        inspect.signature(function).bind(None)
    except TypeError:
        return "a node takes one argument, the context"
    except ValueError:
        pass  # compiled code does not tell its signature
    return None


def _is_async(function: Any) -> bool:
    return inspect.iscoroutinefunction(_plain(function))


def _plain(function: Any) -> Any:
    """The function behind a partial or a callable object; wrappers stay, they are what is called."""
    while isinstance(function, functools.partial):
        function = function.func
    if not isinstance(function, (types.FunctionType, types.MethodType, types.BuiltinFunctionType)):
        return getattr(type(function), "__call__", function)
    return function


def _refused(code: Code, message: str, step: StepView, plan: PlanView) -> ProjectError:
    found = Diagnostic.of(
        code,
        message,
        location=step.locate("runner"),
        workflow=plan.workflow,
        step=step.id,
    )
    return ProjectError(message, [found])
