"""What supervisors ask of a loop, as a value that can be sent, repeated and recorded."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any, Final, Literal, get_args

import attrs

from tuvl_core.errors import InputError

__all__ = ["Applied", "Directive", "DirectiveAction", "DirectiveSource", "Directives"]

DirectiveAction = Literal["pause", "resume", "steer", "abort"]
DirectiveSource = Literal["operator", "rule", "judge"]
Applied = Literal["applied", "ignored", "repeated"]
"""What became of a directive: it took effect; it had nothing to act on (resuming what is not paused, anything
for a loop that is over); or one of its id came before."""

_ACTIONS: Final = get_args(DirectiveAction)
_SOURCES: Final = get_args(DirectiveSource)
MAX_TEXT_CHARS: Final = 8000


@attrs.frozen(kw_only=True)
class Directives:
    """What supervisors asked of a loop since its last turn.

    Attributes:
        steer: Guidance in the order sent.
        aborted: The reason of an abort, or None.
        abort_type: `aborted` by request, `pause_expired` when a pause outlived its allowance.
    """

    steer: tuple[str, ...] = ()
    aborted: str | None = None
    abort_type: str = "aborted"


@attrs.frozen(kw_only=True)
class Directive:
    """One thing asked of one loop. It is obeyed once, however often it arrives.

    Attributes:
        action: `pause`, `resume`, `steer` or `abort`.
        text: The guidance of `steer`; the reason of `abort`.
        force: Whether `abort` cancels what is in flight instead of waiting for it.
        source: `operator`, `rule` or `judge`.
        name: Who it is: an operator's subject, or a rule's kind.
        id: What makes it the same directive when it arrives again.
    """

    action: DirectiveAction
    text: str | None = None
    force: bool = False
    source: DirectiveSource = "operator"
    name: str | None = None
    id: str = attrs.field(factory=lambda: uuid.uuid4().hex)

    def to_dict(self) -> dict[str, Any]:
        """The directive as JSON-ready data."""
        return attrs.asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Directive:
        """Read what `to_dict` gave, or what somebody sent.

        Raises:
            InputError: It is no directive; names the field.
        """
        problems = list(_problems(data))
        if problems:
            raise InputError("; ".join(f"{path}: {text}" for path, text in problems), problems)
        known = {field.name: data[field.name] for field in attrs.fields(cls) if data.get(field.name) is not None}
        return cls(**known)


def _problems(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    problems = []
    action, text = data.get("action"), data.get("text")
    if action not in _ACTIONS:
        problems.append(("action", f"must be one of {', '.join(_ACTIONS)}"))
    if text is not None and not isinstance(text, str):
        problems.append(("text", "must be text"))
    elif isinstance(text, str) and len(text) > MAX_TEXT_CHARS:
        problems.append(("text", f"must have at most {MAX_TEXT_CHARS} characters"))
    elif action == "steer" and not (text or "").strip():
        problems.append(("text", "must say what the agent should mind"))
    if not isinstance(data.get("force", False), bool):
        problems.append(("force", "must be true or false"))
    if data.get("source", "operator") not in _SOURCES:
        problems.append(("source", f"must be one of {', '.join(_SOURCES)}"))
    problems += [
        (key, "must be text") for key in ("name", "id") if data.get(key) is not None and not isinstance(data[key], str)
    ]
    return problems
