"""The supervisor's side of a loop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from tuvl_core.loops.directives import Applied, Directive, Directives

if TYPE_CHECKING:
    from tuvl_core.loops.handle import LoopHandle

__all__ = ["LoopControl"]

_REMEMBERED: Final = 1000
"""How many directives' ids a loop remembers, so that none is obeyed twice."""


class LoopControl:
    """The supervisor's side of a loop. Every call is safe in any order, doubled or late."""

    def __init__(self, handle: LoopHandle) -> None:
        self._handle = handle
        self._steer: list[str] = []
        self._aborted: str | None = None
        self._abort_type = "aborted"
        self._forced = False
        self._paused = False
        self._changed = asyncio.Event()
        self._seen: dict[str, None] = {}

    @property
    def paused(self) -> bool:
        """Whether the loop is to wait at its next turn, or waits already."""
        return self._paused

    @property
    def aborted(self) -> str | None:
        """The reason of an abort, or None."""
        return self._aborted

    @property
    def forced(self) -> bool:
        """Whether an abort has cancelled what was in flight."""
        return self._forced

    def apply(self, directive: Directive) -> Applied:
        """Obey a directive, once; what took effect is told as an event, a log line and a count.

        Returns:
            `applied`; `ignored` where there was nothing to act on; `repeated` where it came before.
        """
        if directive.id in self._seen:
            return "repeated"
        self._seen[directive.id] = None
        if len(self._seen) > _REMEMBERED:
            del self._seen[next(iter(self._seen))]
        if not self._obey(directive):
            return "ignored"
        self._handle._told(directive)
        return "applied"

    def _obey(self, directive: Directive) -> bool:
        match directive.action:
            case "pause":
                return self._pause()
            case "resume":
                return self._resume()
            case "steer":
                return self._guide(directive.text or "")
            case _:
                return self._abort(directive.text or "aborted", directive.force)

    def pause(self) -> bool:
        """Have the loop wait at the top of its next turn; False if it has ended or was aborted."""
        return self.apply(Directive(action="pause")) == "applied"

    def resume(self) -> bool:
        """Let a paused loop go on; False if it was not paused."""
        return self.apply(Directive(action="resume")) == "applied"

    def steer(self, message: str) -> bool:
        """Queue guidance for the next turn; False if the loop has ended and will not see it."""
        return self.apply(Directive(action="steer", text=message)) == "applied"

    def abort(self, reason: str, *, force: bool = False) -> bool:
        """End the loop on `aborted` at its next turn or between two calls.

        Args:
            reason: Shown to people and written to `_last_error`.
            force: Cancel what is in flight instead of waiting for it.
        """
        return self.apply(Directive(action="abort", text=reason, force=force)) == "applied"

    def _pause(self) -> bool:
        if self._handle.ended or self._aborted is not None:
            return False
        self._paused = True
        return True

    def _resume(self) -> bool:
        was, self._paused = self._paused, False
        self._changed.set()
        return was and not self._handle.ended

    def _guide(self, message: str) -> bool:
        if self._handle.ended or self._aborted is not None:
            return False
        self._steer.append(message)
        return True

    def _abort(self, reason: str, force: bool) -> bool:
        # A forced abort may follow one that waits for what is in flight.
        if self._handle.ended or self._forced or (self._aborted is not None and not force):
            return False
        if self._aborted is None:
            self._aborted = reason
        self._changed.set()
        if force:
            self._forced = True
            self._handle._cancel_in_flight()
        return True

    async def checkpoint(self, max_pause_s: float) -> Directives:
        """Wait while paused, then hand over what was asked: the loop's side, at the top of a turn.

        Each pause has its own full allowance; one that outlives it becomes an abort.
        """
        while self._paused and self._aborted is None:
            await self._wait_paused(max_pause_s)
        if self._aborted is not None:
            return Directives(aborted=self._aborted, abort_type=self._abort_type)
        steer, self._steer = tuple(self._steer), []
        return Directives(steer=steer)

    async def _wait_paused(self, max_pause_s: float) -> None:
        self._changed.clear()
        self._handle._enter_pause()
        try:
            async with asyncio.timeout(max_pause_s):
                await self._changed.wait()
        except TimeoutError:
            if self._paused and self._aborted is None:
                self._aborted = f"paused for longer than {max_pause_s:g} s"
                self._abort_type = "pause_expired"
        finally:
            self._handle._leave_pause()

    def undelivered(self) -> tuple[str, ...]:
        """Guidance that came too late for any turn."""
        return tuple(self._steer)
