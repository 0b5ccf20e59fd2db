"""tuvl's own subcommands, in the order in which `tuvl --help` shows them."""

from __future__ import annotations

from typing import Final

from tuvl_cli.spec import CommandSpec

__all__ = ["COMMANDS"]


def _own(name: str, help: str) -> CommandSpec:
    return CommandSpec(name=name, help=help, target=f"tuvl_cli.commands.{name}:command")


COMMANDS: Final = (
    _own("run", "Run a workflow to its end, live in the terminal."),
    _own("validate", "Check a project without running any of it."),
    _own("explain", "Explain a workflow: ways, reach, and what a run costs at most."),
    _own("graph", "Draw a workflow."),
    _own("kinds", "List step kinds, document kinds and sections, and what each declares."),
    _own("plugins", "List plugins, and why any of them is left out."),
    _own("config", "List settings, their values and where they come from."),
    _own("schema", "Print the JSON Schema of a project's files, or set an editor up with it."),
    _own("lock", "Write down what lies outside the project, so that a run notices when it changes."),
    _own("rule", "Explain the code of a diagnostic."),
    _own("new", "Start a new project."),
)
