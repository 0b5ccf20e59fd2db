"""The settings of one process: every declared value, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tuvl_core.errors import SettingsError
from tuvl_core.settings.files import SettingsFile, read_files
from tuvl_core.settings.kernel import KERNEL_SETTINGS
from tuvl_core.settings.setting import Setting

if TYPE_CHECKING:
    from tuvl_core.diagnostics import Diagnostic, Location

__all__ = ["SettingRow", "Settings"]

SHOWN_SECRET = "***"


class SettingRow(NamedTuple):
    """One line of `tuvl config`."""

    name: str
    value: Any
    source: str
    help: str


class Problem(NamedTuple):
    """What is wrong with one setting or file; becomes a diagnostic when somebody asks."""

    kind: str
    name: str
    message: str
    hint: str
    file: SettingsFile | None = None


class Settings:
    """Values of declared settings, by name: `settings["agent.tool_timeout_s"]`.

    A value that cannot be used does not stop the loading: it is among `problems`, and reading it
    raises. So nothing ever runs on a limit that its operator did not mean.
    """

    __slots__ = ("_bad", "_declared", "_files", "_found", "_raw", "_sources", "_values")

    def __init__(self) -> None:
        self._declared: dict[str, Setting] = {}
        self._values: dict[str, Any] = {}
        self._sources: dict[str, str] = {}
        self._files: dict[str, SettingsFile] = {}
        self._bad: dict[str, str] = {}
        self._found: list[Problem] = []
        self._raw: dict[str, Any] = {}

    @classmethod
    def load(
        cls,
        root: Path | None,
        environ: Mapping[str, str],
        declared: Iterable[Setting] = (),
        *,
        only_declared: bool = False,
    ) -> Settings:
        """Read the settings of a project.

        Args:
            root: The project's directory; None: there is none, so only the environment counts.
            environ: The environment, the project's `.env` below it.
            declared: Settings that plugins declare; one of a kernel setting's name replaces its
                default.
            only_declared: Leave out the kernel's settings, and do not report unknown names.
        """
        self = cls()
        known = () if only_declared else KERNEL_SETTINGS
        self._declared = {setting.name: setting for setting in (*known, *declared)}
        files = read_files(Path(root)) if root is not None else []
        self._read(files, environ)
        for file in files:
            if file.problem is not None:
                self._found.append(Problem("file", "", file.problem[0], "", file))
            elif not only_declared:
                self._find_unknown(file)
        return self

    def __getitem__(self, name: str) -> Any:
        if name in self._bad:
            raise SettingsError(self._bad[name])
        try:
            return self._values[name]
        except KeyError:
            raise SettingsError(
                f"no setting {name!r} is declared; a plugin declares its own in `tuvl_settings`"
            ) from None

    def __contains__(self, name: object) -> bool:
        return name in self._declared

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._declared))

    def get(self, name: str, default: Any = None) -> Any:
        """A setting's value, or `default` where nobody declares it.

        Raises:
            SettingsError: Its value cannot be used.
        """
        return self[name] if name in self._declared else default

    def table(self, name: str) -> dict[str, Any]:
        """A TOML table whose keys are free, declared or not, such as `plugins.choose`."""
        if name in self._bad:
            raise SettingsError(self._bad[name])
        value = self._values.get(name)
        if value is None:
            value = self._raw.get(name)
        return dict(value) if isinstance(value, Mapping) else {}

    def source(self, name: str) -> str:
        """Where a value comes from: `default`, a file's name, or `environment VARIABLE`."""
        return self._sources.get(name, "default")

    def locate(self, name: str, entry: int | None = None) -> Location | None:
        """Where a file sets a value; None where none does.

        Args:
            name: The setting.
            entry: Of a list of tables: which of them, from 0; None: the setting as a whole.
        """
        file = self._files.get(name)
        if file is None:
            return None
        from tuvl_core.diagnostics import Location

        line, column = file.position(name) if entry is None else file.entry(name, entry)
        return Location(path=file.path, line=line, column=column)

    def rows(self) -> list[SettingRow]:
        """Every declared setting in order: name, value, source, help. Secret values are masked."""
        return [self._row(self._declared[name]) for name in self]

    @property
    def problems(self) -> list[Diagnostic]:
        """Values that cannot be used, names that nobody declares, files that cannot be read."""
        from tuvl_core.settings.problems import diagnose

        return [diagnose(problem) for problem in self._found]

    @property
    def unreadable(self) -> tuple[str, ...]:
        """Names of settings, and paths of files, whose values cannot be used."""
        files = (item.file.path for item in self._found if item.kind == "file" and item.file)
        return (*self._bad, *files)

    def _row(self, setting: Setting) -> SettingRow:
        value = self._values.get(setting.name)
        if setting.name in self._bad:
            value = self._bad[setting.name]
        elif setting.secret and value:
            value = SHOWN_SECRET
        return SettingRow(setting.name, value, self.source(setting.name), setting.help)

    def _read(self, files: list[SettingsFile], environ: Mapping[str, str]) -> None:
        for file in reversed(files):
            self._raw |= file.values
        for setting in self._declared.values():
            self._values[setting.name] = setting.default
            if setting.env in environ and setting.type not in (dict, list):
                self._take(setting, f"environment {setting.env}", environ[setting.env])
                continue
            for file in files:
                if setting.name in file.values:
                    self._take(setting, file.path, file.values[setting.name], file)
                    break

    def _take(self, setting: Setting, source: str, given: Any, file: SettingsFile | None = None) -> None:
        self._sources[setting.name] = source
        if file is not None:
            self._files[setting.name] = file
        try:
            value = setting.from_toml(given) if file is not None else setting.from_text(given)
        except ValueError as error:
            said = "has a value it cannot have" if setting.secret else str(error)
            message = f"setting {setting.name} ({source}) {said}"
            self._bad[setting.name] = message
            default = SHOWN_SECRET if setting.secret else setting.default
            hint = f"correct it, or remove it to get the default: {default!r}"
            self._found.append(Problem("value", setting.name, message, hint, file))
        else:
            self._values[setting.name] = value

    def _find_unknown(self, file: SettingsFile) -> None:
        sections = {name.partition(".")[0] for name in self._declared if "." in name}
        for name in file.values:
            if name in self._declared:
                continue
            section, dot, _ = name.partition(".")
            if not dot and isinstance(file.values[name], Mapping):
                continue
            if dot and section not in sections:
                message = f"no installed plugin has settings in section [{section}]"
                hint = self._near(section, sections) or "install the plugin, or remove the section"
                self._found.append(Problem("section", name, message, hint, file))
            else:
                hint = self._near(name, self._declared) or "`tuvl config` lists every setting"
                self._found.append(Problem("unknown", name, f"there is no setting {name}", hint, file))

    @staticmethod
    def _near(name: str, known: Iterable[str]) -> str | None:
        from tuvl_core.settings.problems import nearest

        found = nearest(name, known)
        return f"did you mean `{found}`?" if found is not None else None
