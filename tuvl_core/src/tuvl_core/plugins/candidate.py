"""One plugin that could be loaded, and what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from tuvl_core.kinds import StepKind

__all__ = ["Candidate", "KindEntry", "State"]

State = Literal["ready", "blocked", "not allowed", "failed", "incompatible", "duplicate"]


# Plain classes: this room is loaded for `tuvl --help`, which must not wait for attrs.
class Candidate:
    """A plugin that was found, whether it is used or not.

    Attributes:
        name: The entry point's name; of a project's own file, its stem.
        dist: The distribution it comes from; of a project's own file, its path.
        version: The distribution's version; None for a project's own file.
        entry_point: What is imported: `package.module` or `package.module:object`.
        first_party: Whether the distribution is one of tuvl's own.
        local: Whether it is a file of the project.
        needs_core: The versions of tuvl-core that the distribution asks for, as it says; "" for any.
        path: Where it was found.
        state: `ready`, or why it is not used: `blocked` and `not allowed` by policy; `failed`: it
            raises or does not fit the hooks; `incompatible`: written for another contract;
            `duplicate`: it brings what another one owns, or is another one seen twice.
        error: The cause, in one line; None where it is ready.
        error_line: For a project's own file, the line the cause lies on.
        remedy: What to do about it; None where it is ready.
        hooks: Names of the hooks it implements.
        module: The imported module or object; None where it is not used.
        load_ms: How long its import took.
    """

    __slots__ = (
        "dist",
        "entry_point",
        "error",
        "error_line",
        "first_party",
        "hooks",
        "load_ms",
        "local",
        "module",
        "name",
        "needs_core",
        "path",
        "remedy",
        "state",
        "version",
    )

    def __init__(
        self,
        *,
        name: str,
        dist: str,
        version: str | None,
        entry_point: str,
        first_party: bool = False,
        local: bool = False,
        needs_core: str = "",
        path: str = "",
    ) -> None:
        self.name = name
        self.dist = dist
        self.version = version
        self.entry_point = entry_point
        self.first_party = first_party
        self.local = local
        self.needs_core = needs_core
        self.path = path
        self.state: State = "ready"
        self.error: str | None = None
        self.error_line: int | None = None
        self.remedy: str | None = None
        self.hooks: tuple[str, ...] = ()
        self.module: Any = None
        self.load_ms = 0.0

    @property
    def label(self) -> str:
        """Distribution and version, for messages."""
        return f"{self.dist} {self.version}" if self.version else self.dist

    @property
    def summary(self) -> str:
        """One line for people: who, what became of it, why, and what to do."""
        if self.state == "ready":
            return f"{self.label}: ready"
        where = "" if self.local else f" (entry point {self.name!r})"
        return f"plugin {self.label}{where} is left out, {self.state}: {self.error}; {self.remedy}"

    def leave_out(self, state: State, error: str, remedy: str, *, line: int | None = None) -> None:
        """Record why the plugin is not used."""
        self.state = state
        self.error = error
        self.remedy = remedy
        self.error_line = line
        self.module = None

    def to_json(self) -> dict[str, Any]:
        """Give the JSON object that `tuvl plugins --json` prints."""
        return {
            "name": self.name,
            "dist": self.dist,
            "version": self.version,
            "entry_point": self.entry_point,
            "state": self.state,
            "first_party": self.first_party,
            "local": self.local,
            "needs_core": self.needs_core or None,
            "hooks": list(self.hooks),
            "error": self.error,
            "remedy": self.remedy,
        }

    def __repr__(self) -> str:
        return f"<Candidate {self.label} {self.name!r}: {self.state}>"


class KindEntry:
    """A step kind that is there to be used.

    Attributes:
        name: What stands after `kind:`.
        kind: The kind; one instance serves every run.
        candidate: The plugin that brings it.
    """

    __slots__ = ("candidate", "kind", "name")

    def __init__(self, *, name: str, kind: StepKind, candidate: Candidate) -> None:
        self.name = name
        self.kind = kind
        self.candidate = candidate

    def __repr__(self) -> str:
        return f"<KindEntry {self.name} of {self.candidate.label}>"
