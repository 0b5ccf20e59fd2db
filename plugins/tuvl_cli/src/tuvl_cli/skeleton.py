"""The files of a new project."""

from __future__ import annotations

from typing import Final

__all__ = ["files"]

_WORKFLOW: Final = """\
# A workflow is a list of steps; each leaves by a signal, and `routes` says where that leads.
# `default` without a route leads to the next step; any other signal needs one. `tuvl kinds` lists every kind.
kind: Workflow
metadata:
  name: greet
  description: Greets somebody, loudly on request.
spec:
  input:
    type: object
    additionalProperties: false
    properties:
      name: { type: string }
      loud: { type: boolean }
  steps:
    - id: greet
      kind: Functional
      runner: greet # a function in nodes/greeting.py

    - id: is_loud
      kind: Router
      condition: { field: loud, operator: eq, value: true }
      routes: { "true": shout, "false": answer }

    - id: shout
      kind: Functional
      runner: shout

    - id: answer
      kind: Response
      source: greeting # this context key is the run's result
"""

_NODES: Final = '''\
"""Functions that workflow steps name as their `runner`."""

from tuvl_kinds_functional import node


@node("greet")
def greet(context):
    return {"greeting": f"Hello, {context.get('name', 'world')}!"}


@node("shout")
async def shout(context):
    return {"greeting": context["greeting"].upper()}
'''

_SETTINGS: Final = """\
# Settings of this project: `tuvl config` lists all of them, with their values and where they come from.

[agent]
tool_timeout_s = 60
"""

_IGNORED: Final = """\
.env
.tuvl/
__pycache__/
.venv/
"""

_README: Final = """\
# {name}

A tuvl project.

    tuvl validate
    tuvl run greet --input '{{"name": "Ada", "loud": true}}'

- `workflows/` holds what runs: steps, and where their signals lead.
- `nodes/` holds the Python functions that steps call.
- `tuvl.toml` holds settings; `.env` holds secrets and stays out of version control.

`tuvl kinds` lists the kinds of step, `tuvl rule CODE` explains what `tuvl validate` says.
"""


def files(name: str) -> dict[str, str]:
    """Give the text of each file of a new project, by path.

    Args:
        name: The project's name.
    """
    return {
        "README.md": _README.format(name=name),
        "workflows/greet.yaml": _WORKFLOW,
        "nodes/greeting.py": _NODES,
        "tuvl.toml": _SETTINGS,
        ".gitignore": _IGNORED,
    }
