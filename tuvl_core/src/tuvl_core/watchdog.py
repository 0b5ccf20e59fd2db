"""Says so when code blocks an event loop past a time limit.

It cannot stop such code: the limit takes effect at the code's next await.
"""

from __future__ import annotations

import logging
import threading
import time
import weakref
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tuvl_core.deadlines import Deadlines, Limit

__all__ = ["WATCHDOG", "Watchdog"]

_log = logging.getLogger("tuvl.engine")


class Watchdog:
    """Watches tables of time limits from a thread that exists only while limits are running.

    Args:
        slack: How far past its limit work may be before it is reported, in seconds.
        interval: How often to look, in seconds.

    Attributes:
        sleeps: Whether there is no thread; `wake` starts one.
    """

    def __init__(self, slack: float = 0.5, interval: float = 0.25) -> None:
        self._slack = slack
        self._interval = interval
        self._tables: weakref.WeakSet[Deadlines] = weakref.WeakSet()
        self._lock = threading.Lock()
        self.sleeps = True

    def look_into(self, table: Deadlines) -> None:
        """Watch the limits of one more event loop."""
        with self._lock:
            self._tables.add(table)

    def wake(self) -> None:
        """Start the thread, if there is none."""
        with self._lock:
            if self.sleeps:
                self.sleeps = False
                threading.Thread(target=self._watch, name="tuvl-watchdog", daemon=True).start()

    def _watch(self) -> None:
        idle = 0
        reported: set[Limit] = set()
        while idle < 40:
            time.sleep(self._interval)
            running = self._running()
            idle = 0 if running else idle + 1
            since = time.monotonic() - self._slack
            late = {limit for limit in running if limit.due < since}
            for limit in late - reported:
                _report(limit)
            reported = late
        self.sleeps = True
        if self._running():  # one that began meanwhile
            self.wake()

    def _running(self) -> list[Limit]:
        with self._lock:
            tables = list(self._tables)
        return [limit for table in tables for limit in list(table.running)]


def _report(limit: Limit) -> None:
    _log.warning(
        "%s blocks the event loop past its time limit; it ends at its next await. "
        "Make it a plain `def`, which runs in a worker thread, or await inside it",
        limit.label,
    )


WATCHDOG: Final = Watchdog()
