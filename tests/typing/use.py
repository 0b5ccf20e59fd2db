"""How users write against the public API; read by the type checker, never run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from tuvl_core import (
    App,
    Capabilities,
    Code,
    Diagnostic,
    DocumentKind,
    Effects,
    Keys,
    PlanView,
    Plugins,
    RunResult,
    Section,
    Setting,
    Signals,
    StepCall,
    StepKind,
    StepResult,
    StepView,
    Template,
    Validator,
    field,
    hookimpl,
    load_project,
)
from tuvl_models import ChatModel, ChatReply, ChatRequest, ModelFamily, ModelSettings


@attrs.frozen(kw_only=True)
class DelayConfig:
    """The keys of a Delay step."""

    seconds: Template[float] = field(default=Template.of(1.0), doc="How long to wait.")
    label: str | None = None


class Delay(StepKind):
    """Wait, then go on."""

    name = "acme.Delay"
    Config = DelayConfig
    signals = Signals("default")
    effects = Effects.PURE
    capabilities = Capabilities()

    def writes(self, step: StepView, plan: PlanView) -> Keys:
        """The key of what was waited."""
        return Keys(f"{step.id}_waited")

    async def open_resources(self, app: App) -> None:
        """Nothing to open."""
        app.resources["acme"] = app.settings["acme.region"]

    async def run(self, call: StepCall) -> StepResult:
        """Wait."""
        seconds: float = call.render(call.step.config.seconds)
        call.progress("waiting", {"seconds": seconds})
        return StepResult(writes={f"{call.step.id}_waited": seconds})


SLOW = Code(code="ACME-1", severity="warning", klass="flow", title="a long wait")


def check(plan: PlanView) -> Iterable[Diagnostic]:
    """Find waits that are long."""
    for step in plan.steps.values():
        yield Diagnostic.of(SLOW, "long", step=step.id, location=step.locate("seconds"))


class Parrot:
    """Says what it hears."""

    tool_calling = "native"

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Say it."""
        return ChatReply(content=str(request.messages[-1]["content"]))


def create(settings: ModelSettings) -> ChatModel:
    """Make a model."""
    return Parrot()  # type: ignore[return-value]  # its tool_calling is a plain text here


@hookimpl
def tuvl_step_kinds() -> list[type[StepKind]]:
    """Kinds."""
    return [Delay]


@hookimpl
def tuvl_document_kinds() -> list[DocumentKind]:
    """Documents."""
    return [DocumentKind(kind="acme.Region", spec=DelayConfig)]


@hookimpl
def tuvl_step_sections() -> list[Section]:
    """Sections."""
    return [Section(key="acme_audit", spec=bool)]


@hookimpl
def tuvl_settings() -> list[Setting]:
    """Settings."""
    return [Setting(name="acme.region", default="eu")]


@hookimpl
def tuvl_validators() -> list[Validator]:
    """Checks."""
    return [Validator(codes=[SLOW], check=check)]


@hookimpl(optionalhook=True)
def tuvl_chat_models() -> list[ModelFamily]:
    """Models."""
    return [ModelFamily(prefix="parrot", create=create)]


async def main(root: Path, input: Mapping[str, Any]) -> RunResult:
    """Run a workflow, and watch another."""
    project = load_project(root, plugins=Plugins.load(root=root))
    async with App(project) as app:
        async for event in app.stream("watched", input):
            print(event.seq, event.signal, event.to_json())
        return await app.run("wait", input)
