"""Hooks that are called when an app opens, and when a run or a loop starts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tuvl_core.hookspecs.markers import hookspec

if TYPE_CHECKING:
    from tuvl_core.contributions import AppScope
    from tuvl_core.effects import EffectHandler
    from tuvl_core.engine import App
    from tuvl_core.events import ProgressSink
    from tuvl_core.loops import LoopHandle, LoopScope
    from tuvl_core.runs import Run, RunScope


@hookspec
def tuvl_app_scope(app: App) -> AppScope | None:
    """Something that lives as long as the process serves one project: a pool, a background task.

    Called once, when the app opens.

    Args:
        app: The app; its `settings` and `resources`.

    Returns:
        The scope, or None. What its `open` returns is published in `app.resources`.

    Raises:
        Exception: Anything: the plugin's scope is then missing, with a warning; the app opens.

    Example:
        ```python
        from tuvl_core import hookimpl

        class Pool:
            async def open(self):
                return {"acme.pool": object()}

            async def close(self):
                pass

        @hookimpl
        def tuvl_app_scope():
            return Pool()
        ```
    """


@hookspec
def tuvl_progress_sinks(run: Run) -> Iterable[ProgressSink]:  # type: ignore[empty-body]
    """Subscribers to a run's events.

    Called once for each run, before its first step.

    Args:
        run: The run that is about to start.

    Returns:
        Sinks. Each says whether it wants snapshots; a slow or broken one loses its own events only.

    Raises:
        Exception: Anything: the plugin's sinks are then missing from the run, with a warning.

    Example:
        ```python
        from tuvl_core import hookimpl

        class Printer:
            wants_snapshots = False

            def emit(self, event):
                print(event.to_json())

            def close(self):
                pass

        @hookimpl
        def tuvl_progress_sinks(run):
            return [Printer()]
        ```
    """


@hookspec
def tuvl_effect_handlers(run: Run) -> Iterable[EffectHandler]:  # type: ignore[empty-body]
    """Handlers that stand around every effect of a run: record, replay, refuse, limit, repeat.

    Called once for each run, before its first step.

    Args:
        run: The run that is about to start.

    Returns:
        Handlers, the outermost first.

    Raises:
        Exception: Anything: the run does not start, for what should have stood between it and the world
            is missing.

    Example:
        ```python
        from tuvl_core import hookimpl

        class Count:
            def __init__(self):
                self.models = 0

            async def handle(self, effect, proceed):
                self.models += effect.kind == "model"
                return await proceed()

        @hookimpl
        def tuvl_effect_handlers(run):
            return [Count()]
        ```
    """


@hookspec
def tuvl_run_scope(run: Run) -> RunScope | None:
    """Something that lives as long as one run: a transaction, a temporary folder, a lease.

    Called once for each run, before its first step. Phases order scopes, not installation: `outer`,
    `resources`, `transaction`.

    Args:
        run: The run that is about to start.

    Returns:
        The scope, or None where the run does not need it.

    Raises:
        Exception: Anything: the run does not start, for what it should have run inside is missing.

    Example:
        ```python
        from tuvl_core import hookimpl

        class Audit:
            phase = "outer"

            async def open(self):
                return {"acme.audit": []}

            async def finish(self, outcome):
                pass

            async def close(self):
                pass

        @hookimpl
        def tuvl_run_scope(run):
            return Audit()
        ```
    """


@hookspec
def tuvl_loop_scope(loop: LoopHandle) -> LoopScope | None:
    """Something that lives as long as one loop inside a step: a supervisor.

    Called once for each loop, when it opens.

    Args:
        loop: The loop; its `snapshot()` and its `control`.

    Returns:
        The scope, or None where the loop is not its business. Its methods must return at once.

    Raises:
        Exception: Anything: the loop does not start, for what should have watched it is missing.

    Example:
        ```python
        from tuvl_core import hookimpl

        class Watch:
            def __init__(self, loop):
                self.loop = loop

            def open(self):
                pass

            def close(self):
                pass

        @hookimpl
        def tuvl_loop_scope(loop):
            return Watch(loop)
        ```
    """
