"""From a file to documents, or to diagnostics: never to an exception, whatever the file holds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tuvl_core.diagnostics import Code, Diagnostic, Location
from tuvl_core.documents import codes
from tuvl_core.documents.breaks import disguise, undisguise
from tuvl_core.documents.build import Builder
from tuvl_core.documents.document import Document
from tuvl_core.documents.nodes import Node
from tuvl_core.documents.parser import TooLargeError, compose
from tuvl_core.documents.position import line_and_column
from tuvl_core.documents.syntax import syntax_diagnostic

__all__ = ["MAX_BYTES", "decode", "read_bytes", "read_documents", "read_text"]

MAX_BYTES: Final = 4 * 1024 * 1024
# What YAML 1.2 calls not printable. Written as what is refused: the complement takes 4 ms to compile.
_CONTROL: Final = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]|[\ud800-\udfff]|\ufffe|\uffff"
_ASCII_CONTROL: Final = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
"""The same where all text is ASCII: it takes a tenth of the time to compile."""
_MAX_TAG_DIRECTIVES: Final = 20
_TAG_DIRECTIVE: Final = r"^%TAG\b"


def read_documents(path: Path, shown: str) -> tuple[list[Document], list[Diagnostic]]:
    """Read a file.

    Args:
        path: The file.
        shown: Its name in diagnostics: relative to the project's root, with `/`.

    Returns:
        The documents that could be read, and everything that is wrong with the file. Problems
        inside one document are its `problems` too.
    """
    data, problem = read_bytes(path, shown)
    if problem is not None:
        return [], [problem]
    return read_text(data, shown)


def read_bytes(path: Path, shown: str) -> tuple[bytes, Diagnostic | None]:
    """Read a regular file of bounded size, or say why not."""
    try:
        if not path.is_file():
            return b"", _at_start(codes.UNREADABLE, "this is not a regular file", shown)
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return b"", _at_start(codes.UNREADABLE, f"the file cannot be read: {reason}", shown)
    if len(data) > MAX_BYTES:
        message = f"the file is larger than {MAX_BYTES // 1024 // 1024} MiB"
        return b"", _at_start(codes.TOO_LARGE, message, shown)
    return data, None


def read_text(text: str | bytes, shown: str) -> tuple[list[Document], list[Diagnostic]]:
    """Read documents from text, or from the bytes of a file; see `read_documents`."""
    if isinstance(text, bytes):
        text, problem = decode(text, shown)
        if problem is not None:
            return [], [problem]
    if (problem := _unreadable_text(text, shown)) is not None:
        return [], [problem]
    documents: list[Document] = []
    problems: list[Diagnostic] = []
    try:
        for document, found in _documents(text, shown):
            problems += found
            if document is not None:
                documents.append(document)
    except TooLargeError as error:
        problems.append(_at_start(codes.TOO_LARGE, f"the file is refused: {error}", shown))
    except Exception as error:
        if not _is_syntax_error(error):
            raise
        problems.append(syntax_diagnostic(error, text, shown))
    return documents, problems


def _documents(text: str, shown: str) -> Iterator[tuple[Document | None, list[Diagnostic]]]:
    parsed, back = disguise(text)
    for root in compose(parsed):
        if back:
            undisguise(root, back)
        yield _document(root, text, shown)


def _document(root: Node, text: str, shown: str) -> tuple[Document | None, list[Diagnostic]]:
    builder = Builder(text, shown)
    data = builder.build(root)
    problems = builder.problems
    if isinstance(data, dict):
        document = Document(path=shown, data=data, root=root, text=text, problems=tuple(problems))
        return document, problems
    if not problems:
        mark = root.start_mark
        location = Location(path=shown, line=mark.line + 1, column=mark.column + 1)
        message = f"a document is a mapping with `kind`, `metadata` and `spec`, not a {root.id}"
        problems.append(Diagnostic.of(codes.NOT_A_MAPPING, message, location=location))
    return None, problems


def _is_syntax_error(error: Exception) -> bool:
    from yaml import YAMLError

    # ValueError: the pure parser converts the number in a `%YAML` line without looking at it.
    return isinstance(error, (YAMLError, ValueError))


def decode(data: bytes, shown: str) -> tuple[str, Diagnostic | None]:
    """Decode UTF-8, with or without a byte order mark; say where it is not."""
    try:
        return data.decode("utf-8-sig"), None
    except UnicodeDecodeError as error:
        readable = data[: error.start].decode("utf-8-sig", "replace")
        line, column = line_and_column(readable, len(readable))
        other = data[:2] in (b"\xff\xfe", b"\xfe\xff")
        found = "it looks like UTF-16" if other else f"byte 0x{data[error.start]:02x}"
        location = Location(path=shown, line=line, column=column)
        message = f"the file is not UTF-8 text: {found} at this place"
        hint = "save the file as UTF-8"
        return "", Diagnostic.of(codes.NOT_UTF8, message, location=location, hint=hint)


def _unreadable_text(text: str, shown: str) -> Diagnostic | None:
    """Say what the parser would refuse without a place, or would take quadratic time for."""
    if (match := re.search(_ASCII_CONTROL if text.isascii() else _CONTROL, text)) is not None:
        line, column = line_and_column(text, match.start())
        location = Location(path=shown, line=line, column=column)
        message = f"the character U+{ord(match[0]):04X} cannot stand in YAML as it is"
        hint = 'remove it, or write it as an escape inside double quotes ("\\u0007")'
        return Diagnostic.of(codes.SYNTAX, message, location=location, hint=hint)
    if text.count("%TAG") > _MAX_TAG_DIRECTIVES and len(re.findall(_TAG_DIRECTIVE, text, re.M)) > _MAX_TAG_DIRECTIVES:
        return _at_start(codes.TOO_LARGE, "the file is full of `%TAG` lines", shown)
    return None


def _at_start(code: Code, message: str, shown: str) -> Diagnostic:
    return Diagnostic.of(code, message, location=Location(path=shown, line=1, column=1))
