"""The hook through which plugins add kinds of rules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tuvl_core import hookspec

if TYPE_CHECKING:
    from tuvl_supervisor.kinds import RuleKind


@hookspec
def tuvl_rule_kinds() -> Iterable[RuleKind]:  # type: ignore[empty-body]
    """Kinds of supervisor rules that this plugin brings.

    Called once per project, when something first looks at a workflow with a supervisor. Mark the
    implementation with `@hookimpl(optionalhook=True)`, so that the plugin also loads without tuvl-supervisor.

    Returns:
        Rule kinds. A second owner of a name is an error that names both.

    Raises:
        Exception: Anything: workflows with a supervisor are then refused, and the message names the plugin.

    Example:
        ```python
        import attrs
        from tuvl_core import field, hookimpl
        from tuvl_supervisor import RuleKind

        @attrs.frozen(kw_only=True)
        class Chatty:
            most: int = field(min=1, doc="The most calls of tools in one turn.")

        class ChattyRule:
            def __init__(self, config):
                self.most = config.most

            def check(self, what, fields, loop):
                if what == "iteration" and fields["tool_calls"] > self.most:
                    return f"turn {fields['iteration']} calls {fields['tool_calls']} tools"
                return None

        @hookimpl(optionalhook=True)
        def tuvl_rule_kinds():
            return [RuleKind(name="acme.chatty", config=Chatty, create=ChattyRule)]
        ```
    """
