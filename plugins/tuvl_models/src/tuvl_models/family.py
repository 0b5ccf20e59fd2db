"""Which plugin serves a model string, and how a model is found by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

import attrs

from tuvl_core import Project, ProjectError
from tuvl_models.document import ModelSettings

if TYPE_CHECKING:
    from tuvl_models.bound import BoundModel
    from tuvl_models.chat import ChatModel
    from tuvl_models.limits import ModelLimits

__all__ = ["ANY", "ModelFamily", "add_family", "families", "model_problem", "resolve_model"]

ANY: Final = "*"
"""The prefix of a family that takes every model string nobody else does."""


@attrs.frozen(kw_only=True)
class ModelFamily:
    """Models that one plugin serves.

    Attributes:
        prefix: What stands before the `/` of a model string (`local`, `acme`), or `*` for whatever no
            other family takes.
        create: Makes a model. Called once per model and project; imports what is heavy on first use.
        tool_calling: What `tool_calling: auto` means for its models.
        check: Says what is wrong with a model that is to be made, None if nothing is known to be: called by
            `tuvl validate`, so it looks at names and files and imports nothing heavy.
        limits: Says what one call can take at most, for `tuvl explain` and for bounds that a workflow demands;
            imports nothing heavy either. None: nothing is known.
    """

    prefix: str
    create: Callable[[ModelSettings], ChatModel]
    tool_calling: Literal["native", "schema"] = "native"
    check: Callable[[ModelSettings], str | None] | None = None
    limits: Callable[[ModelSettings], ModelLimits] | None = None


class _Known:
    """Families and models of one project."""

    def __init__(self, project: Project) -> None:
        self.families, self.twins = _collect(project)
        self.models: dict[tuple[str, bool], BoundModel] = {}


def families(project: Project) -> Mapping[str, ModelFamily]:
    """The model families that a project can use, by prefix."""
    return _of(project).families


def add_family(project: Project, family: ModelFamily) -> None:
    """Serve models in one project without a plugin, in place of whoever serves its prefix; for tests."""
    known = _of(project)
    known.families[family.prefix] = family
    known.twins.pop(family.prefix, None)
    known.models.clear()


def find_family(project: Project, model: str) -> ModelFamily:
    """The family that serves a model string.

    Raises:
        ProjectError: Nobody does, or two do.
    """
    known = _of(project)
    prefix = model.partition("/")[0]
    for name in (prefix, ANY):
        if name in known.twins:
            owners = " and ".join(known.twins[name])
            raise ProjectError(
                f"models `{name}/…` are served by {owners}; say which: "
                f'`[models.choose] "{name}" = "<distribution>"` in tuvl.toml'
            )
        if name in known.families:
            return known.families[name]
    served = ", ".join(sorted(f"{name}/…" for name in known.families)) or "none"
    raise ProjectError(
        f"nothing that is installed serves the model {model!r} (served are: {served}); "
        "`pip install tuvl-model-litellm` serves those of every provider"
    )


def model_problem(project: Project, model: str) -> str | None:
    """Why a model that a model string names cannot be asked, as far as its family can tell before it is.

    Args:
        project: The project.
        model: The model string.

    Raises:
        ProjectError: Nothing that is installed serves it.
    """
    family = find_family(project, model)
    return family.check(ModelSettings(model=model, project=project)) if family.check is not None else None


def resolve_model(project: Project, name: str) -> BoundModel:
    """Find a model: an AgentModel document by name, or, with a `/`, a model string.

    Args:
        project: The project.
        name: The name or string.

    Raises:
        ProjectError: There is no such document, or nothing that is installed serves its model.
    """
    known = _of(project)
    literal = "/" in name
    bound = known.models.get((name, literal))
    if bound is None:
        if literal:
            settings = ModelSettings(model=name, project=project)
        else:
            settings = ModelSettings.of(project.find("AgentModel", name).spec, name, project)
        from tuvl_models.bound import BoundModel

        family = find_family(project, settings.model)
        bound = known.models[name, literal] = BoundModel(
            partial(family.create, settings), settings, family.tool_calling
        )
    return bound


def _of(project: Project) -> _Known:
    # Kept there, and not here under a weak key: models hold the project that they are used in.
    known: _Known | None = project.kept.get(_Known)
    if known is None:
        known = project.kept[_Known] = _Known(project)
    return known


def _collect(project: Project) -> tuple[dict[str, ModelFamily], dict[str, list[str]]]:
    offered: dict[str, list[tuple[str, ModelFamily]]] = {}
    for candidate, found in project.plugins.call("tuvl_chat_models"):
        for family in found or ():
            offered.setdefault(family.prefix, []).append((candidate.dist, family))
    choose: Mapping[str, Any] = project.settings.table("models.choose")
    single: dict[str, ModelFamily] = {}
    twins: dict[str, list[str]] = {}
    for prefix, offers in offered.items():
        if prefix in choose:
            chosen = [(dist, family) for dist, family in offers if dist == choose[prefix]]
            offers = chosen or offers
        if len(offers) == 1:
            single[prefix] = offers[0][1]
        else:
            twins[prefix] = sorted(dist for dist, _ in offers)
    return single, twins
