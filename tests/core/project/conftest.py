"""Projects on disk, read with a handful of kinds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace
from typing import Any, Literal

import attrs
import pytest

from tuvl_core.contributions import DocumentKind
from tuvl_core.kinds import StepKind
from tuvl_core.project import Project, load_project
from tuvl_core.structure import field
from tuvl_core.templates import Template
from tuvl_core.views import Secret


@attrs.frozen(kw_only=True)
class Tool:
    ref: str = field(source_text=True)
    description: str | None = field(default=None, prose=True)
    writes_context: bool = False


@attrs.frozen(kw_only=True)
class Outcome:
    enum: list[str] = field(factory=list, source_text=True)


@attrs.frozen(kw_only=True)
class AgentKeys:
    model: str | None = None
    steering: Template[str] | None = field(default=None, prose=True, lookalikes=("goal",))
    tools: list[Tool] = field(factory=list)
    outcome: Outcome = field(factory=Outcome)
    max_iterations: int = field(default=8, min=1)


@attrs.frozen(kw_only=True)
class AgentConfig:
    agent: AgentKeys


class AutonomousAgent(StepKind):
    """Stands in for the real one: what matters here are its keys."""

    name = "AutonomousAgent"
    Config = AgentConfig


@attrs.frozen(kw_only=True)
class FunctionalConfig:
    runner: str


class Functional(StepKind):
    name = "Functional"
    Config = FunctionalConfig


@attrs.frozen(kw_only=True)
class Http:
    url: Template[str]
    method: Literal["GET", "POST"] = "GET"
    headers: dict[str, Template[Any]] = field(factory=dict, reveals=True)


@attrs.frozen(kw_only=True)
class Response:
    output_key: str | None = field(default=None, source_text=True)


@attrs.frozen(kw_only=True)
class APICallConfig:
    http: Http
    response: Response = field(factory=Response)


class APICall(StepKind):
    name = "APICall"
    Config = APICallConfig


class Router(StepKind):
    name = "Router"


@attrs.frozen(kw_only=True)
class ModelSpec:
    model: str
    api_key: Secret | None = None
    temperature: float = 0.0
    timeout: float = field(default=120.0, above=0)


@attrs.frozen(kw_only=True)
class Audit:
    level: int = field(default=1, min=0)


class FakePlugins:
    """What reading a project asks of the plugins."""

    def __init__(self) -> None:
        kinds = (AutonomousAgent, Functional, APICall, Router)
        self.kinds = {kind.name: SimpleNamespace(kind=kind()) for kind in kinds}
        self.document_kinds = {"AgentModel": DocumentKind(kind="AgentModel", spec=ModelSpec)}
        self.workflow_sections = {"acme_audit": SimpleNamespace(key="acme_audit", spec=Audit)}
        self.step_sections = {"acme_cost": SimpleNamespace(key="acme_cost", spec=int | None)}
        self.settings = ()
        self.resolvers: list[tuple[Any, dict[str, Any]]] = []

    def suspect(self) -> str | None:
        return None

    def explain_missing(self, name: str) -> str | None:
        packages = {"supervisor": "tuvl-supervisor", "MCP": "tuvl-kinds-mcp"}
        package = {**packages, "MCPServer": "tuvl-kinds-mcp"}.get(name)
        return f"`{name}` comes with the package {package}: `pip install {package}`" if package else None

    def call(self, hook: str, **_: Any) -> list[tuple[Any, dict[str, Any]]]:
        assert hook == "tuvl_secret_resolvers"
        return self.resolvers


Load = Callable[..., Project]


@pytest.fixture
def plugins() -> FakePlugins:
    return FakePlugins()


@pytest.fixture
def load(tmp_path: Path, plugins: FakePlugins) -> Load:
    """Write files and load them: `load("text of w.yaml", **{"other.yaml": "…"})`."""

    def load_it(text: str = "", *, environ: dict[str, str] | None = None, **files: str) -> Project:
        for name, content in {"w.yaml": text, **files}.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(content))
        return load_project(
            tmp_path,
            plugins=plugins,  # type: ignore[arg-type]
            environ=environ or {},
        )

    return load_it
