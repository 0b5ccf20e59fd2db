"""Writes docs/reference/hooks.md from the hooks' own docstrings, or checks that it is current.

python tools/hooks_page.py [--check]
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tuvl_core import hookspecs

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "hooks.md"
OWNED = {
    "tuvl_models.hookspecs": "tuvl-models",
    "tuvl_cli.hookspecs": "tuvl-cli",
    "tuvl_server.hookspecs": "tuvl-server",
    "tuvl_supervisor.hookspecs": "tuvl-supervisor",
}
HEAD = """# Hooks

This page is made from the hooks' own docstrings by `make docs`.

A plugin is a module that an entry point of the group `tuvl` names, or a file in a project's `plugins/`. It
implements hooks: functions marked with `@hookimpl`. Hooks *contribute objects*, synchronously; the objects do the
asynchronous work. Nothing calls a hook per step or turn. One implementation at a time is called, each in its own
guard, in the order of distribution and entry point; an implementation names only the arguments it uses.

```text
load      tuvl_settings, tuvl_step_kinds, tuvl_document_kinds, tuvl_workflow_sections,
          tuvl_step_sections, tuvl_validators, tuvl_secret_resolvers, tuvl_cli_commands, tuvl_lock_sections
compile   tuvl_tool_parameters, tuvl_chat_models
app       tuvl_app_scope, tuvl_authenticate
run       tuvl_authorize, tuvl_progress_sinks, tuvl_effect_handlers, tuvl_run_scope
loop      tuvl_loop_scope
```

A module that specifies hooks of its own names it: `TUVL_HOOKSPECS = "acme_pay.hookspecs"`. Whoever implements
a hook that another distribution specifies marks it with `@hookimpl(optionalhook=True)`, so that the plugin also
loads where the owner is missing. `TUVL_API = 1` names the contract that a plugin was written for.
"""


def main(arguments: list[str]) -> int:
    text = HEAD + "".join(section(function, owner) for function, owner in hooks())
    if "--check" not in arguments:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        print("docs/reference/hooks.md is not current; run: make docs")
        return 1
    return 0


def hooks() -> Iterator[tuple[Any, str]]:
    for function in hookspecs.HOOKS:
        yield function, "tuvl-core"
    for module, owner in OWNED.items():
        for name, function in sorted(vars(importlib.import_module(module)).items()):
            if name.startswith("tuvl_"):
                yield function, owner


def section(function: Any, owner: str) -> str:
    names = ", ".join(inspect.signature(function).parameters)
    doc = inspect.getdoc(function) or ""
    return f"\n## {function.__name__}\n\n`{function.__name__}({names})`, specified by {owner}.\n\n{body(doc)}\n"


def body(doc: str) -> str:
    """A Google-style docstring as Markdown: parts become bold words, their items a list."""
    lines: list[str] = []
    part = ""
    for line in doc.splitlines():
        if line in ("Args:", "Returns:", "Raises:", "Example:"):
            part = line[:-1]
            lines.append(f"**{part}**")
            lines.append("")
        elif part == "Example":
            lines.append(line[4:])
        elif part in ("Args", "Raises") and line.startswith("    ") and not line.startswith("     "):
            name, _, text = line.strip().partition(": ")
            lines.append(f"- `{name}`: {text}")
        elif part == "Returns" and line.startswith("    "):
            lines.append(line.strip())
        else:
            lines.append(f"  {line.strip()}" if part in ("Args", "Raises") and line.strip() else line.strip())
    return "\n".join(lines).strip()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
