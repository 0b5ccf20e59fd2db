"""What a run may touch: the models of `spec.context`, by the scopes and groups of its principal."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any, Final, Literal

import attrs

from tuvl_core import AccessError, Capabilities, Effects, Plan, PlanView, Principal, declared
from tuvl_kinds_modelop.models import Model, Models, advice, pinned

__all__ = ["MODEL_OP", "Allowed", "Verb", "allowed", "require"]

Verb = Literal["read", "write", "delete"]
MODEL_OP: Final = "ModelOp"


@attrs.frozen(kw_only=True, eq=False)
class Allowed:
    """What a workflow declares about databases.

    Attributes:
        models: The models it may touch, by name, each in the version it asks for.
        may_write: Whether any of its steps may write to a database.
    """

    models: Mapping[str, Model]
    may_write: bool


def allowed(plan: Plan) -> Allowed:
    """What a compiled workflow may do; made once for each plan."""
    found = _known.get(plan)
    if found is None:
        models = pinned(Models.of(plan.project), plan)
        found = _known[plan] = Allowed(models=models, may_write=_may_write(plan))
    return found


_known: weakref.WeakKeyDictionary[Plan, Allowed] = weakref.WeakKeyDictionary()


def require(allowed: Allowed, principal: Principal, name: str, verb: Verb) -> Model:
    """Give a model to a run that may use it.

    Args:
        allowed: What the workflow declares.
        principal: Who the run acts for.
        name: The model.
        verb: What is to be done with it.

    Raises:
        AccessError: `spec.context` does not name it, the principal lacks the scope or group, or the model binds rows
            to a tenant and the run has none.
    """
    model = allowed.models.get(name)
    if model is None:
        raise AccessError(
            f"model {name!r} is outside the workflow's `spec.context`{advice(name, allowed.models)}; name it there"
        )
    missing = _missing(model, principal, verb)
    if missing is not None:
        raise AccessError(f"to {verb} {name} a caller needs {missing}, which {principal.subject!r} does not have")
    if model.tenant_field is not None and principal.tenant is None:
        raise AccessError(f"model {name!r} binds its records to a tenant, and this run has none")
    return model


def _missing(model: Model, principal: Principal, verb: Verb) -> str | None:
    scope: str | None = getattr(model.access, f"{verb}_scope")
    group: str | None = getattr(model.access, f"{verb}_group")
    if scope is not None and not principal.has_scope(scope):
        return f"the scope {scope!r}"
    if group is not None and not principal.has_group(group):
        return f"the group {group!r}"
    if scope is None and group is None:
        own = f"{model.name}:{verb}"
        if not principal.has_scope(own) and not principal.has_scope(own.lower()):
            return f"the scope {own!r}"
    return None


def _may_write(plan: PlanView) -> bool:
    """Whether any step may write; of code that says nothing about itself, the worst is taken."""
    for step in plan.steps.values():
        kind = plan.kind_of(step)
        effects: Effects = declared(kind, "effects", step, plan)
        if effects in (Effects.PURE, Effects.READS):
            continue
        capabilities: Capabilities = declared(kind, "capabilities", step, plan)
        composite: Any = declared(kind, "composite", step, plan)
        if capabilities.database and not composite:
            return True
    return False
