"""Which processes are alive, by what /proc says."""

from __future__ import annotations

import os
import time
from pathlib import Path


def processes(*words: str) -> list[int]:
    """Ids of living processes whose command line holds every word."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                state = (folder / "stat").read_text().rpartition(") ")[2][:1]
            except OSError:
                continue
            if state != "Z" and all(word in line for word in words):
                found.append(int(folder.name))
    return found


def none_left(*words: str, within: float = 3.0) -> bool:
    """Whether such processes are gone, or go in time."""
    due = time.monotonic() + within
    while processes(*words):
        if time.monotonic() > due:
            return False
        time.sleep(0.05)
    return True
