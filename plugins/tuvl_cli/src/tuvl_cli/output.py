"""What the command itself writes to stdout, kept apart from whatever else prints.

Plugins, kinds, nodes and the programs they start may print. A command that claims stdout keeps the real
one for its own output; everything else that goes there from then on, through Python or through the file
descriptor, lands on stderr.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Iterable
from typing import IO, Any, Final, NoReturn

import click

__all__ = [
    "Unbreakable",
    "abandon",
    "claim_stdout",
    "colored_terminal",
    "colors_wanted",
    "echo",
    "echo_bytes",
    "echo_json",
    "flush",
    "leave",
    "let_go",
    "own_fileno",
    "shown",
    "shown_json",
    "styled",
    "warn",
]

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)")
_own: IO[str] | None = None
_abandoned: list[Any] = []


class Unbreakable:
    """A stream that nobody may read any more, or whose disk is full: what it cannot write is lost, and no more.

    Args:
        stream: The stream that it stands before.
    """

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write if that is possible."""
        try:
            return self._stream.write(text)
        except (OSError, ValueError):
            return len(text)

    def flush(self) -> None:
        """Flush if that is possible."""
        with contextlib.suppress(OSError, ValueError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def claim_stdout() -> None:
    """Take stdout for the command alone, until the process ends."""
    global _own
    if _own is not None:
        return
    real = sys.stdout
    if real is None:
        _own = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - lives as long as the process
    else:
        real.flush()
        try:
            kept, shared = os.dup(real.fileno()), real.fileno()
            os.dup2(_stderr_fileno(), shared)
        except (OSError, ValueError):
            _own = real  # no descriptor behind it, as inside a test
        else:
            _own = os.fdopen(kept, "w", encoding=real.encoding, errors="backslashreplace", newline="\n")
    sys.stdout = sys.stderr


def shown(text: str) -> str:
    """Text that a terminal shows and does not obey, whoever wrote it: control characters but line ends and tabs go."""
    return _CONTROL.sub("\ufffd", text)


def shown_json(value: Any) -> str:
    """A value as JSON for people, with every control character in its escaped form."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def colored_terminal() -> IO[str] | None:
    """The stream behind stdout if people see colours there; None where it is no terminal, or they want none.

    `NO_COLOR` (no-color.org) with any value but an empty one turns them off, and so does `TERM=dumb`.
    """
    stream = _own if _own is not None else sys.stdout
    try:
        seen = stream is not None and stream.isatty()
    except (OSError, ValueError):
        seen = False
    return stream if seen and colors_wanted() else None


def colors_wanted() -> bool:
    """Whether colours may be shown where there is a terminal."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM", "").lower() not in ("dumb", "unknown")


def styled(text: str, color: str | None, *, bold: bool = False) -> str:
    """A text with a colour, unless nobody wants one; click takes it out again where there is no terminal."""
    return click.style(text, fg=color, bold=bold or None) if colors_wanted() else text


def echo(text: str) -> None:
    """Write a line of text."""
    click.echo(shown(text), file=_own)


def echo_bytes(data: bytes) -> None:
    """Write what is no text."""
    stream = _own if _own is not None else sys.stdout
    if stream is None:
        return
    stream.flush()
    binary = getattr(stream, "buffer", None)
    if binary is not None:
        binary.write(data)
        binary.flush()


def echo_json(value: Any, *, compact: bool = False) -> None:
    """Write a value as strict JSON in UTF-8, for programs; readable for people too unless compact."""
    text = json.dumps(
        value,
        ensure_ascii=False,
        allow_nan=False,
        indent=None if compact else 2,
        separators=(",", ":") if compact else None,
    )
    stream = _own if _own is not None else sys.stdout
    if stream is None:
        return
    # The escape of half a surrogate pair, as in a file name that is no text, is valid JSON as well.
    data = f"{text}\n".encode("utf-8", "backslashreplace")
    stream.flush()
    binary = getattr(stream, "buffer", None)
    if binary is None:
        stream.write(data.decode("utf-8"))
    else:
        binary.write(data)
        binary.flush()


def warn(text: str) -> None:
    """Write one line to stderr, as a warning."""
    click.echo(f"{styled('warning', 'yellow')}: {shown(' '.join(text.split()))}", err=True)


def own_fileno() -> int | None:
    """The descriptor behind the claimed stdout, for a thread that writes by itself; None if there is none."""
    try:
        return _own.fileno() if _own is not None else None
    except (OSError, ValueError):
        return None


def flush() -> None:
    """Write out what is still held back.

    Raises:
        OSError: It cannot be written.
    """
    for stream in (_own, sys.stdout):
        if stream is not None:
            stream.flush()


def abandon(work: Iterable[Any]) -> None:
    """Keep work that never ends until the process does: what swallows every exception would spin when destroyed."""
    _abandoned.extend(work)


def leave(code: int) -> NoReturn:
    """End the process; without tidying up where that would wait for abandoned work."""
    if _abandoned:
        if sys.stderr is not None:
            sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def let_go() -> None:
    """Nobody reads any more: what Python would still flush at its end goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (_own, sys.__stdout__):
        try:
            if stream is not None:
                os.dup2(nowhere, stream.fileno())
        except (OSError, ValueError):
            continue


def _stderr_fileno() -> int:
    if sys.stderr is not None:
        return sys.stderr.fileno()
    return os.open(os.devnull, os.O_WRONLY)
