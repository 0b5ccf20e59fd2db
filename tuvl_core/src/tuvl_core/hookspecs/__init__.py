"""Every hook that a plugin may implement, and the markers for doing so.

Hooks contribute objects: they are called when plugins load, when a workflow is compiled, or when an
app, a run or a loop starts, never per step or turn. One implementation at a time is called, each
inside its own guard, in the order of distribution and entry point. An implementation names only the
arguments it uses.

    load      tuvl_settings, tuvl_step_kinds, tuvl_document_kinds, tuvl_workflow_sections,
              tuvl_step_sections, tuvl_validators, tuvl_secret_resolvers
    compile   tuvl_tool_parameters
    app       tuvl_app_scope, tuvl_authenticate
    run       tuvl_authorize, tuvl_progress_sinks, tuvl_effect_handlers, tuvl_run_scope
    loop      tuvl_loop_scope

Other distributions own hooks too (`tuvl_chat_models`, `tuvl_cli_commands`, `tuvl_http_routes`); a
plugin that implements one marks it with `@hookimpl(optionalhook=True)`, so that it also loads where
the owner is not installed.
"""

from tuvl_core.hookspecs.access import tuvl_authenticate, tuvl_authorize, tuvl_secret_resolvers
from tuvl_core.hookspecs.compiling import tuvl_tool_parameters
from tuvl_core.hookspecs.loading import (
    tuvl_document_kinds,
    tuvl_settings,
    tuvl_step_kinds,
    tuvl_step_sections,
    tuvl_validators,
    tuvl_workflow_sections,
)
from tuvl_core.hookspecs.markers import TUVL_API, hookimpl, hookspec
from tuvl_core.hookspecs.running import (
    tuvl_app_scope,
    tuvl_effect_handlers,
    tuvl_loop_scope,
    tuvl_progress_sinks,
    tuvl_run_scope,
)

__all__ = ["TUVL_API", "hookimpl", "hookspec"]

HOOKS = (
    tuvl_settings,
    tuvl_step_kinds,
    tuvl_document_kinds,
    tuvl_workflow_sections,
    tuvl_step_sections,
    tuvl_validators,
    tuvl_secret_resolvers,
    tuvl_tool_parameters,
    tuvl_app_scope,
    tuvl_authenticate,
    tuvl_authorize,
    tuvl_progress_sinks,
    tuvl_effect_handlers,
    tuvl_run_scope,
    tuvl_loop_scope,
)
"""The kernel's own hooks, in the order in which they are called."""
