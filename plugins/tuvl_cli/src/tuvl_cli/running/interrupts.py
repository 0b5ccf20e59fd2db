"""Ctrl-C and SIGTERM: the first cancels the run, the second ends the process at once."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, Self

__all__ = ["INTERRUPTED", "Interrupts", "leave_soon"]

INTERRUPTED = 130
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_GRACE_S = 1.0
_SHOW_CURSOR = "\x1b[?25h"


class Interrupts:
    """Handles interrupts while a run is prepared, on its way, and told about.

    The handlers run between two bytecodes of the main thread and not on the event loop, so that they
    also work where a step blocks the loop.

    Attributes:
        cancel: Asks the run to stop; None while there is none, which makes an interrupt end the command.
        over: The run is over and only its output is still being written.
    """

    def __init__(self) -> None:
        self.cancel: Callable[[], None] | None = None
        self.over = False
        self._count = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *exc: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._count += 1
        if self._count > 1 or self.over:
            _leave_now()
        if self.cancel is None:
            raise KeyboardInterrupt
        # Not through `sys.stderr`: whoever was interrupted may be in the middle of a write to it.
        _write("\ncancelling the run; once more ends it at once\n")
        self.cancel()


def leave_soon(code: int) -> None:
    """See to it that the process ends with this code, even if a thread of some step never does."""
    main = threading.main_thread()
    if all(thread.daemon or thread is main for thread in threading.enumerate()):
        return

    def wait() -> None:
        time.sleep(_GRACE_S)
        os._exit(code)

    threading.Thread(target=wait, name="tuvl-leave", daemon=True).start()


def _leave_now() -> None:
    if os.isatty(2):
        _write(_SHOW_CURSOR)
    os._exit(INTERRUPTED)


def _write(text: str) -> None:
    try:
        os.write(2, text.encode())
    except OSError:
        return
