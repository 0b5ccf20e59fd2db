"""Sees to it that no server outlives this process, even if it is killed with no time to tidy up.

Servers should end when their input is closed, which also happens when we are killed. Some do not. A small
shell reads from us which process groups are alive; when we are gone, it gives them a moment and kills them.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from typing import Final

__all__ = ["Guard"]

_SHELL: Final = "/bin/sh"
_SCRIPT: Final = """
groups=' '
while read -r what group; do
  case "$what" in
    add) groups="$groups$group " ;;
    drop) groups="${groups%% $group *} ${groups#* $group }" ;;
  esac
done
sleep 2
for group in $groups; do kill -s KILL -- "-$group"; done
"""


class Guard:
    """Watches over the process groups of servers. Without a shell, as on Windows, it does nothing."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def add(self, group: int) -> None:
        """Kill this group when we are gone."""
        if self._process is None and sys.platform != "win32":
            with suppress(OSError):
                self._process = subprocess.Popen(  # noqa: S603 - a constant script
                    [_SHELL, "-c", _SCRIPT],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env={},
                    start_new_session=True,
                )
        self._tell(f"add {group}\n")

    def drop(self, group: int) -> None:
        """Forget a group that is gone: its number may come to belong to others."""
        self._tell(f"drop {group}\n")

    def close(self) -> None:
        """End the guard; every group has been told to it as gone."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            assert process.stdin is not None
            with suppress(OSError):
                process.stdin.close()

    def _tell(self, line: str) -> None:
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.write(line.encode())
                self._process.stdin.flush()
