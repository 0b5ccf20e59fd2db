"""Hooks about who is calling, what they may do, and where secrets come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tuvl_core.hookspecs.markers import hookspec

if TYPE_CHECKING:
    from tuvl_core.contributions import Authenticator
    from tuvl_core.engine import App
    from tuvl_core.identity import Principal
    from tuvl_core.kinds import PlanView


@hookspec
def tuvl_secret_resolvers() -> Mapping[str, Callable[[str], str]]:  # type: ignore[empty-body]
    """Where `${scheme://ref}` in a project's files gets its value.

    Called once, when a project is loaded; a resolver is called for each reference that is met.

    Returns:
        Resolvers by scheme, each called with what stands behind `scheme://`. Its answer becomes a
        `Secret` and is masked on every way out. A scheme has one owner.

    Raises:
        Exception: Anything: the plugin is then left out as a whole.

    Example:
        ```python
        from tuvl_core import hookimpl

        def from_vault(ref):
            return f"the secret at {ref}"

        @hookimpl
        def tuvl_secret_resolvers():
            return {"acme-vault": from_vault}
        ```
    """


@hookspec
def tuvl_authenticate(app: App) -> Authenticator | None:
    """Who is calling a server.

    Called once, when a server starts; the authenticator is asked for each request. The first that does
    not answer None decides.

    Args:
        app: The app that is served.

    Returns:
        An authenticator, or None.

    Raises:
        Exception: Anything: the server does not start, for it could not tell who is calling.

    Example:
        ```python
        from tuvl_core import DeniedError, Principal, hookimpl

        class Keys:
            async def authenticate(self, credentials):
                key = credentials.get("x-acme-key")
                if key is None:
                    return None
                if key != "open sesame":
                    raise DeniedError("the key is not known")
                return Principal(subject="acme", tenant="acme", scopes=frozenset({"run:read"}))

        @hookimpl
        def tuvl_authenticate(app):
            return Keys()
        ```
    """


@hookspec
def tuvl_authorize(principal: Principal, plan: PlanView) -> str | None:
    """Whether a caller may run a workflow.

    Called once for each run, before it starts and after the workflow's own `required_scope` and
    `required_group`. It can only deny, never grant.

    Args:
        principal: Who is calling.
        plan: The workflow to run.

    Returns:
        Why not, fit for the caller to read; None or "" to let it pass.

    Raises:
        Exception: Anything: the run does not start.

    Example:
        ```python
        from tuvl_core import hookimpl

        @hookimpl
        def tuvl_authorize(principal, plan):
            if plan.workflow.startswith("payroll") and not principal.has_group("finance"):
                return "payroll is for finance"
            return None
        ```
    """
