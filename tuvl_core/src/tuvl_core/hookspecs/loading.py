"""Hooks that are called once, when plugins load. They describe; they open and start nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tuvl_core.hookspecs.markers import hookspec

if TYPE_CHECKING:
    from tuvl_core.contributions import DocumentKind, Lazy, Section, Validator
    from tuvl_core.kinds import StepKind
    from tuvl_core.settings import Setting


@hookspec
def tuvl_step_kinds() -> Iterable[type[StepKind] | StepKind | Lazy]:  # type: ignore[empty-body]
    """Step kinds this plugin brings.

    Called once, when something first asks for kinds; `tuvl --help` does not. Import the module that
    holds a kind inside the hook, and heavy libraries inside the kind. `Lazy("acme.Shout", load)` in the place of
    a class costs a project that does not use the kind nothing: `load` is called, and the class checked, when a
    document first names it. Where that fails, what needs the kind is refused, and the rest of the plugin goes on.

    Returns:
        Classes (or instances, or `Lazy`) whose `name` is unique over all plugins. A second owner of a name is an
        error that names both, unless `[plugins.choose]` says whose it is; a kind of tuvl's own is
        never replaced silently.

    Raises:
        Exception: Anything: the plugin is then left out as a whole, and everything else goes on.

    Example:
        ```python
        from tuvl_core import StepKind, StepResult, hookimpl

        class Shout(StepKind):
            name = "acme.Shout"

            async def run(self, call):
                return StepResult(writes={"text": str(call.context.get("text", "")).upper()})

        @hookimpl
        def tuvl_step_kinds():
            return [Shout]
        ```
    """


@hookspec
def tuvl_document_kinds() -> Iterable[DocumentKind | Lazy]:  # type: ignore[empty-body]
    """Kinds of YAML documents this plugin brings.

    Called once, when something first asks for kinds. Documents of the kind are then read with line
    numbers, checked and found by name: `project.definitions("acme.Region")`.

    Returns:
        Document kinds, or `Lazy` with a function that gives one; the name rules are those of `tuvl_step_kinds`.

    Raises:
        Exception: Anything: the plugin is then left out as a whole.

    Example:
        ```python
        import attrs
        from tuvl_core import DocumentKind, hookimpl

        @attrs.frozen(kw_only=True)
        class Region:
            country: str

        @hookimpl
        def tuvl_document_kinds():
            return [DocumentKind(kind="acme.Region", spec=Region)]
        ```
    """


@hookspec
def tuvl_workflow_sections() -> Iterable[Section | Lazy]:  # type: ignore[empty-body]
    """Keys under a workflow's `spec` that this plugin owns.

    Called once, when something first asks for kinds. A run's plan has the typed value:
    `plan.spec.sections["acme_audit"]`.

    Returns:
        Sections, or `Lazy` with a function that gives one; a key has one owner, and may not be one of the kernel's.

    Raises:
        Exception: Anything: the plugin is then left out as a whole.

    Example:
        ```python
        import attrs
        from tuvl_core import Section, hookimpl

        @attrs.frozen(kw_only=True)
        class Audit:
            keep_days: int = 30

        @hookimpl
        def tuvl_workflow_sections():
            return [Section(key="acme_audit", spec=Audit)]
        ```
    """


@hookspec
def tuvl_step_sections() -> Iterable[Section | Lazy]:  # type: ignore[empty-body]
    """Keys that every step may have, whatever its kind, and that this plugin owns.

    Called once, when something first asks for kinds. `step.sections["acme_cache"]` is the typed value.

    Returns:
        Sections, or `Lazy` with a function that gives one; a key has one owner, and may not be one of the kernel's.

    Raises:
        Exception: Anything: the plugin is then left out as a whole.

    Example:
        ```python
        from tuvl_core import Section, hookimpl

        @hookimpl
        def tuvl_step_sections():
            return [Section(key="acme_cache", spec=bool)]
        ```
    """


@hookspec
def tuvl_settings() -> Iterable[Setting]:  # type: ignore[empty-body]
    """Settings this plugin reads.

    Called once, before a project is loaded. Read them with `app.settings["acme.region"]`; `tuvl config`
    shows them with value and source.

    Returns:
        Settings in a section of the plugin's own.

    Raises:
        Exception: Anything: the plugin is then left out as a whole.

    Example:
        ```python
        from tuvl_core import Setting, hookimpl

        @hookimpl
        def tuvl_settings():
            return [Setting(name="acme.region", default="eu", help="Where requests go.")]
        ```
    """


@hookspec
def tuvl_validators() -> Iterable[Validator]:  # type: ignore[empty-body]
    """Static checks this plugin brings, with the codes they can report.

    Called once; the checks run in `tuvl validate`, and before a run. They must not run user code. A page about a
    code is the file `rules/CODE.md` in the plugin's package: `tuvl rule CODE` prints it.

    Returns:
        Validators; their `codes` may be a function, and `check` may import what it needs where there is something
        to look at. A code has one owner; codes that start with `TUVL-` are first-party.

    Raises:
        Exception: Anything: the plugin is then left out as a whole.

    Example:
        ```python
        from tuvl_core import Code, Diagnostic, Validator, hookimpl

        NO_ALERT = Code(code="ACME-1", severity="warning", klass="flow", title="nobody is told")

        def check(plan):
            for step in plan.steps.values():
                if "error" not in step.routes:
                    yield Diagnostic.of(NO_ALERT, "no route for `error`", step=step.id,
                                        workflow=plan.workflow, location=step.locate())

        @hookimpl
        def tuvl_validators():
            return [Validator(codes=[NO_ALERT], check=check)]
        ```
    """
