"""Kind ModelOp, documents ModelDefinition and DataSource, section `spec.context`, and the command `tuvl db`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tuvl_core import hookimpl

if TYPE_CHECKING:
    from tuvl_core import (
        App,
        AppScope,
        Code,
        CommandSpec,
        Diagnostic,
        DocumentKind,
        Lazy,
        PlanView,
        Project,
        Run,
        RunScope,
        Section,
        Setting,
        StepKind,
        Validator,
    )

TUVL_API = 1


@hookimpl
def tuvl_step_kinds() -> list[Lazy]:
    """Kind ModelOp."""
    from tuvl_core import Lazy

    return [Lazy("ModelOp", _kind)]


@hookimpl
def tuvl_document_kinds() -> list[Lazy]:
    """The documents that define tables and databases."""
    from tuvl_core import Lazy

    return [Lazy("ModelDefinition", _model), Lazy("DataSource", _source)]


@hookimpl
def tuvl_workflow_sections() -> list[Lazy]:
    """`spec.context`: the models that a run may touch."""
    from tuvl_core import Lazy

    return [Lazy("context", _context)]


@hookimpl
def tuvl_settings() -> list[Setting]:
    """How long a run waits for a database."""
    from tuvl_core import Setting

    return [
        Setting(
            name="db.wait_s",
            type=float,
            default=10.0,
            minimum=0.001,
            help="Seconds that a run waits for a connection, a lock, or its turn to write to SQLite.",
        )
    ]


@hookimpl
def tuvl_validators() -> list[Validator]:
    """Whether models and data sources are in order."""
    from tuvl_core import Validator

    return [Validator(codes=_codes, check=_check, documents=_check_models)]


@hookimpl
def tuvl_app_scope(app: App) -> AppScope | None:
    """The databases of the process, for projects that define models."""
    if not app.project.definitions("ModelDefinition"):
        return None
    from tuvl_kinds_modelop.scope import SourcesScope

    return SourcesScope(app)


@hookimpl
def tuvl_run_scope(run: Run) -> RunScope | None:
    """A transaction, for workflows that name models."""
    if "context" not in run.plan.spec.sections or not run.plan.project.definitions("ModelDefinition"):
        return None
    from tuvl_kinds_modelop.scope import DatabaseScope

    return DatabaseScope(run)


@hookimpl(optionalhook=True)
def tuvl_cli_commands() -> list[CommandSpec]:
    """The command `tuvl db`."""
    from tuvl_core import CommandSpec

    target = "tuvl_kinds_modelop.db.commands:command"
    return [CommandSpec(name="db", help="Compare databases with the models, and migrate them.", target=target)]


def _kind() -> type[StepKind]:
    from tuvl_kinds_modelop.kind import ModelOp

    return ModelOp


def _model() -> DocumentKind:
    from tuvl_core import DocumentKind
    from tuvl_kinds_modelop.documents import ModelDefinitionSpec

    return DocumentKind(kind="ModelDefinition", spec=ModelDefinitionSpec)


def _source() -> DocumentKind:
    from tuvl_core import DocumentKind
    from tuvl_kinds_modelop.documents import DataSourceMetadata, DataSourceSpec

    return DocumentKind(kind="DataSource", spec=DataSourceSpec, metadata=DataSourceMetadata)


def _context() -> Section:
    from tuvl_core import Section
    from tuvl_kinds_modelop.documents import ContextValue

    return Section(key="context", spec=ContextValue)


def _codes() -> Sequence[Code]:
    from tuvl_kinds_modelop.codes import CODES

    return CODES


def _check(plan: PlanView) -> Iterable[Diagnostic]:
    sections = plan.definition.spec.sections  # type: ignore[attr-defined]
    if "context" not in sections and not _has_documents(plan.project):
        return ()
    from tuvl_kinds_modelop.document_checks import check_documents

    return check_documents(plan)


def _check_models(project: Project) -> Iterable[Diagnostic]:
    if not _has_documents(project):
        return ()
    from tuvl_kinds_modelop.document_checks import check_models

    return check_models(project)


def _has_documents(project: Project) -> bool:
    return bool(project.versions("ModelDefinition") or project.versions("DataSource"))
