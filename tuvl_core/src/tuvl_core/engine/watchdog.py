"""Says so when code blocks the event loop past a time limit.

A limit fires on the event loop; code that never awaits keeps the loop from firing it. Only another
thread can notice. It cannot stop such code: the limit takes effect at the code's next await.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Final, Protocol

__all__ = ["WATCHDOG", "Watchdog"]

_log = logging.getLogger("tuvl.engine")


class Watched(Protocol):
    """Work with a time limit."""

    @property
    def due(self) -> float:
        """When the limit passes, by `time.monotonic`."""
        ...

    @property
    def label(self) -> str:
        """Names the work."""
        ...


class Watchdog:
    """Watches time limits from a thread that exists only while limits are running.

    Args:
        slack: How far past its limit work may be before it is reported, in seconds.
        interval: How often to look, in seconds.
    """

    def __init__(self, slack: float = 0.5, interval: float = 0.25) -> None:
        self._slack = slack
        self._interval = interval
        self._watched: dict[Watched, None] = {}
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def watch(self, work: Watched) -> None:
        """Report the work if it is still watched well after it was due."""
        self._watched[work] = None
        if self._thread is None:
            self._ensure_thread()

    def forget(self, work: Watched) -> None:
        """The work is done, or its limit has fired."""
        self._watched.pop(work, None)

    def _ensure_thread(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._look, name="tuvl-watchdog", daemon=True)
                self._thread.start()

    def _look(self) -> None:
        idle = 0
        while idle < 40:
            time.sleep(self._interval)
            idle = idle + 1 if not self._watched else 0
            now = time.monotonic()
            for work in list(self._watched):
                if now > work.due + self._slack:
                    self._report(work)
        with self._lock:
            self._thread = None

    def _report(self, work: Watched) -> None:
        if self._watched.pop(work, self) is None:
            _log.warning(
                "%s blocks the event loop past its time limit; it ends at its next await. "
                "Make it a plain `def`, which runs in a worker thread, or await inside it",
                work.label,
            )


WATCHDOG: Final = Watchdog()
