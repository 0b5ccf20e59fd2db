"""A first check of a kind against the contract that every kind has."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tuvl_core import (
    App,
    Keys,
    Plugins,
    RunResult,
    Signals,
    StepKind,
    check_parameters,
    check_workflow,
    declared,
    load_project,
    to_wire,
)

__all__ = ["KindCheckError", "check_kind"]

_PLUGIN = "kind_under_test"


class KindCheckError(AssertionError):
    """A kind does not do what its contract, or its own declarations, say."""


async def check_kind(
    kind: type[StepKind],
    config: Mapping[str, Any],
    *,
    context: Mapping[str, Any] | None = None,
    signal: str | None = None,
    environ: Mapping[str, str] | None = None,
    documents: Sequence[Mapping[str, Any]] = (),
    spec: Mapping[str, Any] | None = None,
) -> RunResult:
    """Run a kind once as the only step of a workflow, and hold it to what it declares.

    Checked are: the config parses; no error is found in it; only a declared signal comes out; only
    declared keys are written; what is written has a wire form; the caller's context stays as it was; the
    parameters as a tool are a JSON Schema; cancelling a run of it ends it within a second.

    Args:
        kind: The kind.
        config: The step's own keys.
        context: The context it starts with.
        signal: The signal it has to leave by.
        environ: What `${…}` and settings read.
        documents: Documents that the step refers to, as data: `{"kind": …, "metadata": …, "spec": …}`.
        spec: Keys of the workflow's `spec` beside `steps`, such as a section that the kind needs.

    Raises:
        KindCheckError: One of these does not hold.
    """
    with TemporaryDirectory() as folder:
        root = Path(folder)
        for number, document in enumerate(documents):
            (root / f"d{number}.yaml").write_text(json.dumps(document))
        app = await _open(root, kind, config, dict(spec or {}), dict(environ or {}))
        try:
            return await _check(app, kind, dict(context or {}), signal)
        finally:
            await app.close()


async def _open(
    root: Path, kind: type[StepKind], config: Mapping[str, Any], spec: dict[str, Any], environ: dict[str, str]
) -> App:
    (root / "plugins").mkdir()
    code = "from tuvl_core import hookimpl\nKIND = None\n\n@hookimpl\ndef tuvl_step_kinds():\n    return [KIND]\n"
    (root / "plugins" / f"{_PLUGIN}.py").write_text(code)
    # Where it is installed as well, it is this class that is meant, beside the rest of what its package brings.
    choice = f'[plugins.choose]\n{json.dumps(kind.name)} = "plugins/{_PLUGIN}.py"\n'
    (root / "tuvl.toml").write_text(choice)
    step = {"id": "it", "kind": kind.name, **config}
    body = {"kind": "Workflow", "metadata": {"name": "w"}, "spec": {**spec, "steps": [step]}}
    (root / "w.yaml").write_text(json.dumps(body))
    plugins = Plugins.load(root=root, environ=environ)
    for candidate in plugins.candidates:
        if candidate.local:
            candidate.module.KIND = kind
    return await App(load_project(root, plugins=plugins, environ=environ)).__aenter__()


async def _check(app: App, kind: type[StepKind], context: dict[str, Any], wanted: str | None) -> RunResult:
    plan = app.plan("w")
    step = plan.steps["it"]
    errors = [item for item in check_workflow(plan) if item.severity == "error" and item.klass == "structure"]
    _hold(not errors, f"its own example has errors: {'; '.join(map(str, errors))}")
    problem = check_parameters(plan.tool_parameters(step))
    _hold(problem is None, f"its parameters as a tool are no JSON Schema: {problem}")
    before = copy.deepcopy(context)
    result = await app.run("w", context)
    _hold(context == before, "it changed the context of its caller")
    _hold(result.error is None or result.error.type != "StepCrashedError", f"it crashed: {result.error}")
    if not result.path:
        raise KindCheckError(f"the step was not left: {result.error}")
    left = result.path[0].signal
    signals: Signals = declared(step.kind, "signals", step, plan)
    _hold(signals.can_emit(left), f"it left by {left!r}, which it does not declare ({', '.join(signals.names)})")
    _hold(wanted is None or left == wanted, f"it left by {left!r}, not by {wanted!r}: {result.error}")
    writes: Keys = declared(step.kind, "writes", step, plan)
    written = {key for key, value in result.context.items() if key not in context or context[key] != value}
    surplus = written - writes.names
    _hold(writes.open or not surplus, f"it writes {', '.join(sorted(surplus))}, which it does not declare")
    to_wire(dict(result.context), "context")
    await _check_cancelling(app, context)
    return result


async def _check_cancelling(app: App, context: Mapping[str, Any]) -> None:
    handle = await app.start("w", context)
    await asyncio.sleep(0.01)  # so that it is at work
    handle.cancel("the check cancels it")
    await handle.wait()
    _hold(not handle.run.bound.abandoned, "it goes on after it was cancelled")


def _hold(condition: bool, message: str) -> None:
    if not condition:
        raise KindCheckError(message)
