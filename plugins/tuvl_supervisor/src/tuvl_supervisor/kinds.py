"""Kinds of rules: what one is, which there are, and the four that ship."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import attrs

from tuvl_core import Project, ProjectError

if TYPE_CHECKING:
    from tuvl_core import LoopShape

__all__ = ["Rule", "RuleKind", "called", "rule_kinds"]


class Rule(Protocol):
    """One rule, watching one loop. It may keep what it counts: each loop has rules of its own."""

    def check(self, what: str, fields: Mapping[str, Any], loop: Mapping[str, Any]) -> str | None:
        """Look at what the loop has just done; must return at once, and change nothing.

        Args:
            what: `iteration`: the model has answered a turn; `tool_call`: a call of it has its result.
            fields: The fields of the loop's progress event: an iteration has `iteration`, `tool_calls` (how many
                the model asks for) and `tokens_used`; a tool call has `iteration`, `tool`, `signal`, and where they
                are more than 1 `repeats` (this very call so many times in a row) and `unchanged` (with this very
                result so many times in a row).
            loop: The loop's numbers: `iteration`, `max_iterations`, `tokens_used`, `token_budget` (or None),
                `tool_calls` by declared tool, `undeclared_calls`.

        Returns:
            What is wrong, in one line for people, of numbers and declared names only; None: nothing is.
        """
        ...


@attrs.frozen(kw_only=True)
class RuleKind:
    """A kind of rule.

    Attributes:
        name: What stands after `when:`, such as `acme.chatty`; first-party names are unprefixed.
        config: A frozen attrs class: the rule's own keys beside `when` and `then`.
        create: Makes a rule for one loop, of such a config.
        never: Says why a rule of this config can never fire in a loop of this shape, None if it can: for
            `tuvl validate`. Must not run user code. None: any rule of the kind may fire.
        hardly: The same of a rule that can fire, and yet hardly does, or changes nothing by it.
    """

    name: str
    config: type[Any]
    create: Callable[[Any], Rule]
    never: Callable[[Any, LoopShape], str | None] | None = None
    hardly: Callable[[Any, LoopShape], str | None] | None = None


class _Known:
    """The rule kinds of one project."""

    def __init__(self, project: Project) -> None:
        owners: dict[str, list[str]] = {}
        self.kinds: dict[str, RuleKind] = {}
        for candidate, found in project.plugins.call("tuvl_rule_kinds"):
            for kind in found or ():
                owners.setdefault(kind.name, []).append(candidate.dist)
                self.kinds.setdefault(kind.name, kind)
        self.twins = {name: dists for name, dists in owners.items() if len(dists) > 1}


def rule_kinds(project: Project) -> Mapping[str, RuleKind]:
    """The kinds of rules that a project can use, by name.

    Raises:
        ProjectError: Two plugins bring a kind of one name.
    """
    known: _Known | None = project.kept.get(_Known)
    if known is None:
        known = project.kept[_Known] = _Known(project)
    for name, dists in known.twins.items():
        owners = " and ".join(sorted(dists))
        raise ProjectError(f"the rule kind {name!r} is brought by {owners}; block one of them")
    return known.kinds


def called(tool: Any, loop: Mapping[str, Any]) -> str:
    """How a rule names a tool in what it says: by its ref; what a model invented is not repeated."""
    return f"tool {tool!r}" if tool in (loop.get("tool_calls") or ()) else "a tool that is not declared"
