"""`load_project`: a directory becomes a project."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from tuvl_core.diagnostics import Diagnostic
from tuvl_core.documents import Document, find_files, load_dotenv, read_documents, read_text
from tuvl_core.errors import ProjectError
from tuvl_core.project.catalog import Catalog, secret_resolvers
from tuvl_core.project.definition import Definition
from tuvl_core.project.model import Project
from tuvl_core.project.pause import collector_paused
from tuvl_core.project.read import read_definition
from tuvl_core.project.registry import Registry
from tuvl_core.structure import Environment

if TYPE_CHECKING:
    from tuvl_core.plugins import Plugins
    from tuvl_core.settings import Settings

__all__ = ["Base", "ReadFile", "assemble", "load_project", "prepare", "read_file"]

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
    base = prepare(root, plugins=plugins, settings=settings, environ=environ)
    with collector_paused():
        paths = find_files(base.root)
        files = [read_file(path, path.relative_to(base.root).as_posix(), base.catalog) for path in paths]
        return Project(**assemble(base, files))


@attrs.frozen(kw_only=True, eq=False)
class Base:
    """What a project's files are read with."""

    root: Path
    plugins: Plugins
    settings: Settings
    catalog: Catalog
    problems: tuple[Diagnostic, ...]


@attrs.frozen(kw_only=True, eq=False)
class ReadFile:
    """What one file holds.

    Attributes:
        documents: Its documents.
        definitions: Those with a kind and a name, typed.
        problems: What is wrong with the rest of it.
    """

    documents: tuple[Document, ...]
    definitions: tuple[Definition[Any], ...]
    problems: tuple[Diagnostic, ...]


def prepare(
    root: Path, *, plugins: Plugins, settings: Settings | None = None, environ: Mapping[str, str] | None = None
) -> Base:
    """Read what stands around the files; arguments and errors as for `load_project`."""
    root = Path(root)
    if not root.is_dir():
        raise ProjectError(f"there is no directory {root}")
    dotenv, problems = load_dotenv(root / ".env", ".env")
    values = {**dotenv, **(os.environ if environ is None else environ)}
    if settings is None:
        settings = _settings(root, values, plugins)
    resolvers, found = secret_resolvers(plugins)
    environment = Environment(values=values, resolvers=resolvers)
    return Base(
        root=root,
        plugins=plugins,
        settings=settings,
        catalog=Catalog(plugins, environment, str(settings[_DEFAULT_KIND])),
        problems=(*problems, *settings.problems, *found),
    )


def read_file(source: Path | str, shown: str, catalog: Catalog) -> ReadFile:
    """Read one file.

    Args:
        source: The file, or the text that stands for it.
        shown: Its path from the project's root.
        catalog: What is known.
    """
    documents, wrong = read_text(source, shown) if isinstance(source, str) else read_documents(source, shown)
    # What lies inside a document is reported with its definition.
    inside = {id(problem) for document in documents for problem in document.problems}
    problems = [problem for problem in wrong if id(problem) not in inside]
    definitions = []
    for document in documents:
        definition, found = read_definition(document, catalog)
        if definition is None:
            problems += found
        else:
            definitions.append(definition)
    return ReadFile(documents=tuple(documents), definitions=tuple(definitions), problems=tuple(problems))


def assemble(base: Base, files: Sequence[ReadFile]) -> dict[str, Any]:
    """Put files together: the arguments of a `Project`."""
    registry = Registry()
    kinds: Mapping[str, Any] = base.plugins.document_kinds
    for file in files:
        for definition in file.definitions:
            kind = kinds.get(definition.kind)
            registry.add(definition, unique=kind is None or kind.unique)
    return {
        "root": base.root,
        "plugins": base.plugins,
        "settings": base.settings,
        "environment": base.catalog.environment,
        "documents": tuple(document for file in files for document in file.documents),
        "files": len(files),
        "registry": registry,
        "problems": (*base.problems, *(problem for file in files for problem in file.problems)),
    }


def _settings(root: Path, values: Mapping[str, str], plugins: Plugins) -> Settings:
    from tuvl_core.settings import Settings

    return Settings.load(root, values, plugins.settings)
