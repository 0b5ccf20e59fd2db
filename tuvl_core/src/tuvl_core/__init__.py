"""The kernel of tuvl: loads, checks, compiles, runs, observes and bounds workflows.

Everything public is here; nothing deeper is. Names are imported when first used, so that importing this
package costs next to nothing: a plugin's entry module pays only for what it names.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tuvl_core.codec import (
        MASK,
        Secret,
        from_lossless,
        lossless_dumps,
        lossless_loads,
        register_lossless,
        to_lossless,
        to_wire,
        too_deep,
        wire_dumps,
    )
    from tuvl_core.commands import CommandSpec, LockSection
    from tuvl_core.context import Names, Overlay, clone
    from tuvl_core.contributions import (
        AppScope,
        Authenticator,
        DocumentKind,
        HttpRoute,
        Lazy,
        Listener,
        Peers,
        RemoteClient,
        Section,
        ToolBoundary,
        Validator,
    )
    from tuvl_core.deadlines import TimeLimit
    from tuvl_core.diagnostics import Code, Diagnostic, Location, Suppression, sort_diagnostics
    from tuvl_core.distribution import Distribution
    from tuvl_core.documents import Document, to_yaml
    from tuvl_core.effects import Effect, EffectHandler
    from tuvl_core.engine import END, App, Bound, BoundExpired, RunHandle, advance, run, step, stream
    from tuvl_core.errors import (
        AccessError,
        BusyError,
        CodecError,
        CommitFailedError,
        ConflictError,
        DeniedError,
        InputError,
        PluginError,
        ProjectError,
        RunError,
        RunLimitError,
        SettingsError,
        StepCrashedError,
        StepError,
        StepTimeoutError,
        TemplateError,
        TuvlError,
        UnauthenticatedError,
        UndefinedNameError,
        UnknownRunError,
        UnknownWorkflowError,
        UnroutedSignalError,
    )
    from tuvl_core.events import EventLog, ProgressSink, QueueSink, RecordedEvent, StepEvent
    from tuvl_core.hookspecs import TUVL_API, hookimpl, hookspec
    from tuvl_core.identity import ALL_SCOPES, Principal
    from tuvl_core.kinds import (
        UNSET,
        Capabilities,
        Child,
        Cost,
        Dispatch,
        Effects,
        Keys,
        LoopShape,
        NoConfig,
        PlanView,
        Signals,
        Sink,
        StepCall,
        StepKind,
        StepResult,
        StepView,
        UsageMeter,
        declared,
    )
    from tuvl_core.loops import (
        Applied,
        Directive,
        DirectiveAction,
        Directives,
        DirectiveSource,
        LoopControl,
        LoopHandle,
        LoopRegistry,
        LoopScope,
    )
    from tuvl_core.plan import (
        FlowEdge,
        FlowGraph,
        Leg,
        Plan,
        PlanStep,
        QuantityBound,
        RunBound,
        TaintedUse,
        Transition,
        all_codes,
        bound_run,
        check_project,
        check_workflow,
        compile_workflow,
        plan_workflow,
        rule_page,
        tainted_uses,
    )
    from tuvl_core.plugins import Candidate, KindEntry, Plugins
    from tuvl_core.project import (
        Definition,
        Metadata,
        Project,
        StepDefinition,
        WorkflowSpec,
        load_project,
        project_schema,
    )
    from tuvl_core.runs import Meter, PathEntry, Run, RunFailure, RunResult, RunScope
    from tuvl_core.schema import class_description, json_schema, key_descriptions
    from tuvl_core.service import Gate, Listing, LiveRun, MemoryRunStore, RunRecord, RunService, RunStore
    from tuvl_core.settings import Setting, Settings
    from tuvl_core.structure import Environment, did_you_mean, field, keys_of, plain_data, structured
    from tuvl_core.telemetry import (
        Span,
        counter,
        histogram,
        incoming_span,
        inject_trace,
        log_event,
        metrics_active,
        span,
        tracing_active,
    )
    from tuvl_core.templates import (
        Condition,
        Expression,
        Path,
        Read,
        Template,
        compare,
        compile_condition,
        compile_expression,
        is_empty,
        parse_path,
        reads_of,
        text_of,
        truth,
    )
    from tuvl_core.tools import ToolSpec, check_parameters, check_schema, derive_parameters, parameters_of, wire_names
    from tuvl_core.views import contains_secret, mask, open_secrets, public_view, scrub
    from tuvl_core.workspace import Workspace

_MODULES: Final = {
    "codec": (
        "MASK Secret from_lossless lossless_dumps lossless_loads register_lossless to_lossless to_wire too_deep "
        "wire_dumps"
    ),
    "commands": "CommandSpec LockSection",
    "context": "Names Overlay clone",
    "contributions": (
        "AppScope Authenticator DocumentKind HttpRoute Lazy Listener Peers RemoteClient Section ToolBoundary Validator"
    ),
    "deadlines": "TimeLimit",
    "diagnostics": "Code Diagnostic Location Suppression sort_diagnostics",
    "distribution": "Distribution",
    "documents": "Document to_yaml",
    "effects": "Effect EffectHandler",
    "engine": "App Bound BoundExpired END RunHandle advance run step stream",
    "errors": (
        "AccessError BusyError CodecError CommitFailedError ConflictError DeniedError InputError PluginError "
        "ProjectError RunError RunLimitError SettingsError StepCrashedError StepError "
        "StepTimeoutError TemplateError TuvlError UnauthenticatedError UndefinedNameError "
        "UnknownRunError UnknownWorkflowError UnroutedSignalError"
    ),
    "events": "EventLog ProgressSink QueueSink RecordedEvent StepEvent",
    "hookspecs": "TUVL_API hookimpl hookspec",
    "identity": "ALL_SCOPES Principal",
    "kinds": (
        "Capabilities Child Cost Dispatch Effects Keys LoopShape NoConfig PlanView Signals StepCall "
        "Sink StepKind StepResult StepView UNSET UsageMeter declared"
    ),
    "loops": (
        "Applied Directive DirectiveAction DirectiveSource Directives LoopControl LoopHandle LoopRegistry LoopScope"
    ),
    "plan": (
        "FlowEdge FlowGraph Leg Plan PlanStep QuantityBound RunBound TaintedUse Transition all_codes "
        "bound_run check_project check_workflow compile_workflow plan_workflow rule_page tainted_uses"
    ),
    "plugins": "Candidate KindEntry Plugins",
    "project": "Definition Metadata Project StepDefinition WorkflowSpec load_project project_schema",
    "runs": "Meter PathEntry Run RunFailure RunResult RunScope",
    "schema": "class_description json_schema key_descriptions",
    "service": "Gate Listing LiveRun MemoryRunStore RunRecord RunService RunStore",
    "settings": "Setting Settings",
    "structure": "Environment did_you_mean field keys_of plain_data structured",
    "telemetry": "Span counter histogram incoming_span inject_trace log_event metrics_active span tracing_active",
    "templates": (
        "Condition Expression Path Read Template compare compile_condition compile_expression "
        "is_empty parse_path reads_of text_of truth"
    ),
    "tools": "ToolSpec check_parameters check_schema derive_parameters parameters_of wire_names",
    "views": "contains_secret mask open_secrets public_view scrub",
    "workspace": "Workspace",
}
"""Where each public name lives; a test holds it equal to what type checkers see above."""

_WHERE: Final = {name: module for module, names in _MODULES.items() for name in names.split()}

# fmt: off
__all__ = [
    "ALL_SCOPES", "END", "MASK", "TUVL_API", "UNSET", "AccessError", "App", "AppScope", "Applied", "Authenticator",
    "Bound", "BoundExpired", "BusyError", "Candidate", "Capabilities", "Child", "Code", "CodecError", "CommandSpec",
    "CommitFailedError", "Condition", "ConflictError", "Cost", "Definition", "DeniedError", "Diagnostic", "Directive",
    "DirectiveAction", "DirectiveSource", "Directives", "Dispatch", "Distribution", "Document", "DocumentKind",
    "Effect", "EffectHandler", "Effects", "Environment", "EventLog", "Expression", "FlowEdge", "FlowGraph", "Gate",
    "HttpRoute", "InputError", "Keys", "KindEntry", "Lazy", "Leg", "Listener", "Listing", "LiveRun", "Location",
    "LockSection",
    "LoopControl", "LoopHandle", "LoopRegistry", "LoopScope", "LoopShape",
    "MemoryRunStore", "Metadata", "Meter", "Names",
    "NoConfig", "Overlay", "Path", "PathEntry", "Peers", "Plan", "PlanStep", "PlanView", "PluginError", "Plugins",
    "Principal", "ProgressSink", "Project", "ProjectError", "QuantityBound", "QueueSink", "Read", "RecordedEvent",
    "RemoteClient", "Run", "RunBound", "RunError", "RunFailure", "RunHandle", "RunLimitError", "RunRecord", "RunResult",
    "RunScope", "RunService", "RunStore", "Secret", "Section", "Setting", "Settings", "SettingsError", "Signals",
    "Sink", "Span", "StepCall", "StepCrashedError", "StepDefinition", "StepError", "StepEvent", "StepKind",
    "StepResult", "StepTimeoutError", "StepView", "Suppression", "TaintedUse", "Template", "TemplateError", "TimeLimit",
    "ToolBoundary", "ToolSpec", "Transition", "TuvlError", "UnauthenticatedError", "UndefinedNameError",
    "UnknownRunError", "UnknownWorkflowError", "UnroutedSignalError", "UsageMeter", "Validator", "WorkflowSpec",
    "Workspace", "advance", "all_codes", "bound_run", "check_parameters", "check_project", "check_schema",
    "check_workflow", "class_description", "clone", "compare", "compile_condition", "compile_expression",
    "compile_workflow", "contains_secret", "counter", "declared", "derive_parameters", "did_you_mean", "field",
    "from_lossless", "histogram", "hookimpl", "hookspec", "incoming_span", "inject_trace", "is_empty", "json_schema",
    "key_descriptions", "keys_of", "load_project", "log_event", "lossless_dumps", "lossless_loads", "mask",
    "metrics_active", "open_secrets", "parameters_of", "parse_path", "plain_data", "plan_workflow", "project_schema",
    "public_view", "reads_of", "register_lossless", "rule_page", "run", "scrub", "sort_diagnostics", "span", "step",
    "stream", "structured", "tainted_uses", "text_of", "to_lossless", "to_wire", "to_yaml", "too_deep",
    "tracing_active",
    "truth", "wire_dumps", "wire_names",
]
# fmt: on


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("tuvl-core")
    module = _WHERE.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
