"""The kernel's own settings. Every other one belongs to the plugin that declares it."""

from __future__ import annotations

from typing import Final

from tuvl_core.settings.setting import Setting

__all__ = ["KERNEL_SETTINGS", "PLUGIN_SETTINGS"]

PLUGIN_SETTINGS: Final = (
    Setting(
        name="plugins.autoload",
        type=bool,
        default=True,
        help="Load every installed plugin. Off: only tuvl's own and those that `allow` names.",
    ),
    Setting(
        name="plugins.allow",
        type=tuple,
        default=(),
        help="Third-party distributions that may load; empty: all of them.",
    ),
    Setting(
        name="plugins.block",
        type=tuple,
        default=(),
        help="Distributions that never load, tuvl's own among them.",
    ),
    Setting(
        name="plugins.require",
        type=tuple,
        default=(),
        help="Distributions without which nothing is right, such as `acme-audit>=2`.",
    ),
    Setting(
        name="plugins.strict",
        type=bool,
        default=False,
        help="Make an error of every warning about a plugin.",
    ),
    Setting(
        name="plugins.choose",
        type=dict,
        default=None,
        help='Whose kind, document or key a name is, where two bring it: `APICall = "acme-http"`.',
    ),
)

KERNEL_SETTINGS: Final = (
    *PLUGIN_SETTINGS,
    Setting(
        name="default_kind",
        default="Functional",
        help="The kind of a step that names none.",
    ),
    Setting(
        name="validate.ignore",
        type=list,
        default=(),
        help='Findings that are not told: `[{ code = "…", path = "glob", reason = "…" }]`; `path` may be left out.',
    ),
    Setting(
        name="agent.tool_timeout_s",
        type=float,
        default=300.0,
        minimum=0.001,
        help="Seconds that one tool call of an agent may take; then its loop ends on `error`.",
    ),
    Setting(
        name="agent.pause_max_s",
        type=float,
        default=300.0,
        minimum=0,
        help="Seconds that a paused loop may wait; then it is aborted.",
    ),
    Setting(
        name="run.keep_s",
        type=float,
        default=3600.0,
        minimum=0,
        help="Seconds for which a server knows a run that is over, and its events.",
    ),
    Setting(
        name="run.keep_events",
        type=int,
        default=1000,
        minimum=1,
        help="Events of a run that a server keeps for readers who come late; the oldest give way.",
    ),
    Setting(
        name="run.keep_bytes",
        type=int,
        default=1_000_000,
        minimum=1000,
        help="Characters of a run's events that a server keeps at most.",
    ),
    Setting(
        name="run.max_running",
        type=int,
        default=256,
        minimum=1,
        help="Runs that go at a time in one worker of a server; more wait.",
    ),
    Setting(
        name="run.max_queued",
        type=int,
        default=256,
        minimum=0,
        help="Runs that wait for a place in one worker; more are refused with 429.",
    ),
)
