"""`load_project`: a directory becomes a project."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tuvl_core.diagnostics import Diagnostic
from tuvl_core.documents import Document, find_files, load_dotenv, read_documents
from tuvl_core.errors import ProjectError
from tuvl_core.project.catalog import Catalog, secret_resolvers
from tuvl_core.project.model import Project
from tuvl_core.project.pause import collector_paused
from tuvl_core.project.read import read_definition
from tuvl_core.project.registry import Registry
from tuvl_core.structure import Environment

if TYPE_CHECKING:
    from tuvl_core.plugins import Plugins
    from tuvl_core.settings import Settings

__all__ = ["load_project"]

_DEFAULT_KIND: Final = "default_kind"


def load_project(
    root: Path,
    *,
    plugins: Plugins,
    settings: Settings | None = None,
    environ: Mapping[str, str] | None = None,
) -> Project:
    """Load a project: read every file, type what its documents say about themselves.

    What is wrong with the files does not raise; it is in `project.diagnostics`.

    Args:
        root: The project's directory.
        plugins: The plugins to read it with.
        settings: Its settings; None: read from the environment, `tuvl.toml` and defaults.
        environ: The environment; None: the process's own. The project's `.env` lies below it.

    Raises:
        ProjectError: There is no such directory.
        SettingsError: A setting has no usable value.
    """
    root = Path(root)
    if not root.is_dir():
        raise ProjectError(f"there is no directory {root}")
    dotenv, problems = load_dotenv(root / ".env", ".env")
    values = {**dotenv, **(os.environ if environ is None else environ)}
    if settings is None:
        settings = _settings(root, values, plugins)
    problems += settings.problems
    resolvers, found = secret_resolvers(plugins)
    problems += found
    environment = Environment(values=values, resolvers=resolvers)
    with collector_paused():
        documents, files, found = _read_files(root)
        problems += found
        catalog = Catalog(plugins, environment, str(settings[_DEFAULT_KIND]))
        registry, found = _register(documents, catalog)
        problems += found
    return Project(
        root=root,
        plugins=plugins,
        settings=settings,
        environment=environment,
        documents=tuple(documents),
        files=files,
        registry=registry,
        problems=tuple(problems),
    )


def _settings(root: Path, values: Mapping[str, str], plugins: Plugins) -> Settings:
    from tuvl_core.settings import Settings

    return Settings.load(root, values, plugins.settings)


def _read_files(root: Path) -> tuple[list[Document], int, list[Diagnostic]]:
    documents: list[Document] = []
    problems: list[Diagnostic] = []
    paths = find_files(root)
    for path in paths:
        found, wrong = read_documents(path, path.relative_to(root).as_posix())
        documents += found
        # What lies inside a document is reported with its definition.
        inside = {id(problem) for document in found for problem in document.problems}
        problems += [problem for problem in wrong if id(problem) not in inside]
    return documents, len(paths), problems


def _register(documents: list[Document], catalog: Catalog) -> tuple[Registry, list[Diagnostic]]:
    registry = Registry()
    problems: list[Diagnostic] = []
    kinds: Mapping[str, Any] = catalog.plugins.document_kinds
    for document in documents:
        definition, found = read_definition(document, catalog)
        if definition is None:
            problems += found
        else:
            kind = kinds.get(definition.kind)
            registry.add(definition, unique=kind is None or kind.unique)
    return registry, problems
