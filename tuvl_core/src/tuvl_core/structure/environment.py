"""`${VAR}`, `${VAR:default}` and `${scheme://ref}`: expanded once, when a project is loaded.

A default counts where the variable is not set at all; one that is set to nothing is nothing. `$${`
stands for `${` itself. What a reference brings in is not looked at again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import attrs

from tuvl_core.structure import codes
from tuvl_core.structure.problems import Problem, ProblemsError, shown
from tuvl_core.views import Secret

__all__ = ["Environment", "SecretResolver"]

SecretResolver = Callable[[str], Any]
"""Turns `scheme://ref` into the secret's text; called with what stands behind `scheme://`."""

_REFERENCE: Final = re.compile(r"\$(?:\$\{|\{(?P<body>[^{}]*)(?P<end>\}?))")
_SECRET: Final = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<ref>.+)", re.DOTALL)
_VARIABLE: Final = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::(?P<default>.*))?", re.DOTALL)


@attrs.frozen(kw_only=True, eq=False)
class Environment:
    """Where references get their values from.

    Attributes:
        values: Variables by name: the project's `.env` below the real environment.
        resolvers: Secret resolvers by scheme.
    """

    values: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    resolvers: Mapping[str, SecretResolver] = attrs.field(factory=dict)

    def expand(self, text: str) -> Any:
        """Expand a text: to text, or to a `Secret` where one is part of it.

        Raises:
            ProblemsError: A variable is not set, or a reference makes no sense.
        """
        if "${" not in text:
            return text
        problems: list[Problem] = []
        parts: list[Any] = []
        for part in self._parts(text):
            (problems if isinstance(part, Problem) else parts).append(part)
        if problems:
            raise ProblemsError(*problems)
        if any(isinstance(part, Secret) for part in parts):
            opened = (part.reveal() if isinstance(part, Secret) else part for part in parts)
            return Secret("".join(opened))
        return "".join(parts)

    def _parts(self, text: str) -> Iterator[Any]:
        at = 0
        for match in _REFERENCE.finditer(text):
            yield text[at : match.start()]
            at = match.end()
            yield "${" if match["body"] is None else self._value(match)
        yield text[at:]

    def _value(self, match: re.Match[str]) -> Any:
        body, offset = match["body"], match.start()
        if match["end"] and (secret := _SECRET.fullmatch(body)) is not None:
            return self._resolve(secret["scheme"], secret["ref"], offset)
        variable = _VARIABLE.fullmatch(body) if match["end"] else None
        if variable is None:
            return Problem(
                code=codes.BAD_REFERENCE,
                message=f"{shown(match[0])} names no variable: write `${{NAME}}` or `${{NAME:default}}`",
                hint="write `$${` for a literal `${`",
                offset=offset,
            )
        name, default = variable["name"], variable["default"]
        value = self.values.get(name, default)
        if value is None:
            return Problem(
                code=codes.MISSING_VARIABLE,
                message=f"the environment variable {name} is not set",
                hint=f"set it, add `{name}=…` to .env, or give a default: `${{{name}:…}}`",
                offset=offset,
            )
        return value

    def _resolve(self, scheme: str, ref: str, offset: int) -> Secret | Problem:
        resolver = self.resolvers.get(scheme)
        if resolver is None:
            known = ", ".join(sorted(self.resolvers)) or "none"
            return Problem(
                code=codes.BAD_REFERENCE,
                message=f"no plugin resolves secrets of `{scheme}://` (known schemes: {known})",
                hint=f"install a plugin that does, or write `$${{{scheme}://…}}` if it is text",
                offset=offset,
            )
        try:
            return Secret(resolver(ref))
        except Exception as error:
            # What a vault says may hold what it guards: only the kind of failure is shown.
            return Problem(
                code=codes.BAD_REFERENCE,
                message=f"the secret `{scheme}://…` could not be read: {type(error).__name__}",
                offset=offset,
            )
