"""`Plugins`: everything that was found, what became of it, and what it brings."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tuvl_core.errors import PluginError, TuvlError
from tuvl_core.plugins.candidate import Candidate, KindEntry
from tuvl_core.plugins.hooks import Hooks
from tuvl_core.plugins.importing import cause, find_local, import_candidate, way_out
from tuvl_core.plugins.known import BROUGHT_BY
from tuvl_core.plugins.policy import Policy, with_defaults
from tuvl_core.plugins.scan import canonical, scan
from tuvl_core.plugins.versions import satisfies

if TYPE_CHECKING:
    from tuvl_core.contributions import DocumentKind, Section, Validator
    from tuvl_core.diagnostics import Diagnostic
    from tuvl_core.plugins.catalog import Catalog
    from tuvl_core.settings import Setting

__all__ = ["Plugins"]

_FORGIVING: Final = frozenset({"tuvl_app_scope", "tuvl_cli_commands", "tuvl_progress_sinks"})
"""Hooks whose failure costs what the plugin would have added, and nothing else."""

_log = logging.getLogger("tuvl.plugins")


class Plugins:
    """The plugins of one process and project. Use `Plugins.load`.

    Attributes:
        candidates: Every plugin that was found, in order, whether it is used or not.
        policy: Which of them may load.
    """

    def __init__(self, candidates: Sequence[Candidate], policy: Policy, defaults: Mapping[str, Any]) -> None:
        self.candidates = tuple(candidates)
        self.policy = policy
        self._defaults = dict(defaults)
        self._hooks = Hooks()
        self._catalog: Catalog | None = None
        self._settings: list[Setting] | None = None
        self._found: list[Diagnostic] = []

    @classmethod
    def load(
        cls,
        *,
        root: Path | None = None,
        environ: Mapping[str, str] | None = None,
        defaults: Mapping[str, Any] | None = None,
        search: Sequence[str] | None = None,
        folders: Sequence[Path] = (),
    ) -> Plugins:
        """Find, choose and import plugins. Never raises because of one of them.

        Args:
            root: The project's directory; its `plugins/*.py` are plugins too.
            environ: The environment; None: the process's own. `TUVL_PLUGINS_*` of the project's
                `.env` count below it.
            defaults: A distribution's own defaults, by setting name.
            search: Folders with installed packages; None: `sys.path`.
            folders: Further folders of plugin files.
        """
        root = Path(root) if root is not None else None
        values = _with_dotenv(root, os.environ if environ is None else environ)
        policy = Policy.read(root, values, defaults or {})
        installed = scan(search)
        candidates = [*installed.candidates, *find_local(root, folders)]
        plugins = cls(candidates, policy, defaults or {})
        for candidate in candidates:
            policy.apply(candidate)
            if candidate.state == "ready":
                _check_core(candidate, installed.core_version)
            if candidate.state == "ready":
                import_candidate(candidate)
        plugins._register()
        return plugins

    # --- hooks ------------------------------------------------------------------------------

    def call(self, hook: str, **arguments: Any) -> list[tuple[Candidate, Any]]:
        """Call every implementation of a hook, one at a time, each in its own guard.

        Returns:
            Who answered what, in order.

        Raises:
            PluginError: One raised, and the hook says that what it adds cannot be done without.
        """
        answers: list[tuple[Candidate, Any]] = []
        for implementation in self._hooks.implementations(hook):
            candidate = implementation.candidate
            try:
                answers.append((candidate, implementation(arguments)))
            except TuvlError:
                raise
            except (Exception, SystemExit) as error:
                self._failed(candidate, hook, error)
        return answers

    def implements(self, hook: str) -> bool:
        """Whether any plugin implements a hook."""
        return bool(self._hooks.implementations(hook))

    @property
    def hook_names(self) -> list[str]:
        """Names of all hooks that somebody specifies."""
        return self._hooks.names

    def _failed(self, candidate: Candidate, hook: str, error: BaseException) -> None:
        from tuvl_core.telemetry import log_event

        text = f"{candidate.label}: {hook} raised {cause(error)}"
        if hook == "tuvl_secret_resolvers":
            candidate.leave_out("failed", f"{hook}: {cause(error)}", way_out(candidate))
            self._hooks.drop(candidate)
        elif hook in _FORGIVING:
            fields = {"plugin": candidate.label, "entry_point": candidate.name, "hook": hook}
            fields |= {"error": cause(error), "remedy": way_out(candidate)}
            log_event(_log, logging.WARNING, "plugin.hook_failed", fields)
        else:
            raise PluginError(f"{text}; {way_out(candidate)}") from error

    # --- what they bring --------------------------------------------------------------------

    @property
    def kinds(self) -> Mapping[str, KindEntry]:
        """Step kinds by name."""
        return self._collected().kinds

    @property
    def document_kinds(self) -> Mapping[str, DocumentKind]:
        """Document kinds by name, the kernel's `Workflow` aside."""
        return self._collected().document_kinds

    @property
    def workflow_sections(self) -> Mapping[str, Section]:
        """Keys under a workflow's `spec` that plugins own."""
        return self._collected().workflow_sections

    @property
    def step_sections(self) -> Mapping[str, Section]:
        """Keys on every step that plugins own."""
        return self._collected().step_sections

    @property
    def validators(self) -> Sequence[tuple[Candidate, Validator]]:
        """Static checks, each with who brings it."""
        return self._collected().validators

    @property
    def settings(self) -> Sequence[Setting]:
        """Settings that plugins declare, and the kernel's where this distribution has other defaults."""
        if self._settings is None:
            from tuvl_core.plugins.declared import declared_settings

            declared, problems = declared_settings(self._hooks)
            self._found += problems
            self._settings = with_defaults(declared, self._defaults)
        return self._settings

    def owner(self, what: str, name: str) -> Candidate | None:
        """Who brings a contribution: `owner("kind", "APICall")`."""
        return self._collected().owners.get((what, name))

    def owner_of(self, name: str) -> str | None:
        """The package that would bring a kind, document or key that nothing installed knows."""
        return BROUGHT_BY.get(name)

    def explain_missing(self, name: str) -> str | None:
        """Why nothing knows a name, and what to do: a plugin that is left out, or not installed."""
        failed = [item for item in self._collected().failures if item.name == name]
        if failed:
            return f"{failed[0].message}; {failed[0].remedy}"
        package = self.owner_of(name)
        left_out = [item for item in self.candidates if item.state != "ready"]
        if package is not None:
            own = [item for item in left_out if canonical(item.dist) == package]
            install = f"`{name}` comes with the package {package}: `pip install {package}`"
            return own[0].summary if own else install
        prefix = name.partition(".")[0].lower() if "." in name else None
        for candidate in left_out:
            named = candidate.error is not None and repr(name) in candidate.error
            if named or (prefix is not None and prefix in canonical(candidate.dist).split("-")):
                return candidate.summary
        return None

    def suspect(self) -> str | None:
        """A plugin that does not load: what may have brought a kind that nothing knows, and nothing resembles."""
        self._collected()
        failed = [item for item in self.candidates if item.state in ("failed", "incompatible")]
        return failed[0].summary if failed else None

    @property
    def problems(self) -> list[Diagnostic]:
        """What is wrong with plugins, as diagnostics: errors where `strict` says so."""
        from tuvl_core.plugins.reports import broken, report

        catalog = self._collected()
        if self.policy.strict:
            catalog.load()  # where warnings are errors, nothing is left for later
        found = [*self._found, *map(broken, catalog.failures), *self._unprefixed()]
        return report(self.candidates, self.policy, found)

    def _unprefixed(self) -> list[Diagnostic]:
        from tuvl_core.plugins.reports import unprefixed

        return unprefixed(self._collected().owners)

    # --- loading ----------------------------------------------------------------------------

    def _register(self) -> None:
        ready = [candidate for candidate in self.candidates if candidate.state == "ready"]
        for candidate in ready:
            self._hooks.add_specs(candidate)
        for candidate in ready:
            if candidate.state == "ready":
                self._hooks.register(candidate)

    def _collected(self) -> Catalog:
        """What plugins bring; asked for once, when something first needs it."""
        if self._catalog is None:
            from tuvl_core.plugins.catalog import Catalog, bring
            from tuvl_core.plugins.ownership import settle

            brought, problems = settle(bring(self._hooks), self.policy.choose)
            self._found += problems
            for candidate in self.candidates:
                if candidate.state == "duplicate":
                    self._hooks.drop(candidate)
            self._catalog = Catalog(brought)
        return self._catalog


def _check_core(candidate: Candidate, version: str | None) -> None:
    if version and candidate.needs_core and not satisfies(version, candidate.needs_core):
        candidate.leave_out(
            "incompatible",
            f"it needs tuvl-core {candidate.needs_core}; {version} is installed",
            f"`pip install --upgrade {candidate.dist} tuvl-core`, or {way_out(candidate)}",
        )


def _with_dotenv(root: Path | None, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment over what the project's `.env` says about plugins; it is read only if it does."""
    if root is not None:
        file = root / ".env"
        try:
            data = file.read_bytes() if file.is_file() else b""
        except OSError:
            data = b""
        if b"TUVL_PLUGINS_" in data:
            from tuvl_core.documents import load_dotenv

            return {**load_dotenv(root / ".env", ".env")[0], **environ}
    return dict(environ)
