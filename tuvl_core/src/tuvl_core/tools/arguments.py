"""The arguments of a tool call, as a model sent them, turned into data or into what to mend."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from typing import Any, Final, NoReturn

__all__ = ["IDENTITY", "ArgumentCheck", "Checked"]

Checked = tuple[dict[str, Any] | None, str | None]
"""The arguments, or the error text for the model."""

IDENTITY: Final = frozenset({"tenant_id", "user_id", "principal"})
"""Names that come from the run alone, unless an author declares them as parameters."""

_MAX_PREVIEW: Final = 200
_MAX_PROBLEMS: Final = 5
_MAX_NAMES: Final = 20


class ArgumentCheck:
    """Checks the arguments of one tool; built once, called for every call. Never raises.

    Args:
        tool: What the model knows the tool as.
        parameters: The JSON Schema of its arguments.
        names: The names it declares.
        open: Whether others are welcome.
        validator: The compiled schema.
    """

    __slots__ = ("_is_valid", "_names", "_open", "_parameters", "_tool", "_validator")

    def __init__(
        self,
        tool: str,
        parameters: Mapping[str, Any],
        *,
        names: Collection[str],
        open: bool,
        validator: Any,
    ) -> None:
        self._tool = tool
        self._parameters = parameters
        self._names = frozenset(names)
        self._open = open
        self._validator = validator
        self._is_valid = validator.is_valid

    def __call__(self, arguments: str | Mapping[str, Any] | None) -> Checked:
        """Check what a model sent.

        Args:
            arguments: JSON text, or what a provider parsed already. Missing or blank text is `{}`.

        Returns:
            The arguments and None, or None and an error text that says what to mend.
        """
        try:
            if type(arguments) is str:
                values = _read(arguments) if arguments and not arguments.isspace() else {}
            else:
                values = {} if arguments is None else _copied(arguments)
        except (ValueError, TypeError, RecursionError) as problem:
            return None, self._error(f"invalid JSON: {_short(problem)}", arguments)
        if type(values) is not dict:
            text = f"the arguments have to be a JSON object, not {_JSON_NAMES[type(values)]}"
            return None, self._error(text, arguments)
        if not values.keys() <= self._names:
            refused = self._refused(values)
            if refused:
                return None, self._error(self._surplus(refused))
        return self._fitting(values)

    def _fitting(self, values: dict[str, Any]) -> Checked:
        try:
            if self._is_valid(values):
                return values, None
            return None, self._error(self._problems(values))
        except Exception as problem:  # such as half of a surrogate pair, which no schema can read
            return None, self._error(f"the arguments cannot be checked: {_short(problem)}")

    # --- what is refused ----------------------------------------------------------------------

    def _refused(self, values: Mapping[str, Any]) -> list[str]:
        surplus = [name for name in values if name not in self._names]
        if not self._open:
            return surplus
        return [name for name in surplus if name[:1] == "_" or name in IDENTITY]

    def _surplus(self, refused: list[str]) -> str:
        shown = ", ".join(repr(_cut(name, 60)) for name in refused[:_MAX_PROBLEMS])
        if self._open:
            return f"{shown} cannot be given: such names come from the run alone"
        word = "is no parameter" if len(refused) == 1 else "are no parameters"
        return f"{shown} {word}"

    def _problems(self, values: Mapping[str, Any]) -> str:
        problems = []
        for error in self._validator.iter_errors(values):
            path = ".".join(str(part) for part in error.instance_path)
            message = _cut(error.message, _MAX_PREVIEW)
            problems.append(f"{_cut(path, 100)}: {message}" if path else message)
            if len(problems) == _MAX_PROBLEMS:
                break
        return "; ".join(problems) or "the arguments do not fit the parameters"

    # --- how it is said -----------------------------------------------------------------------

    def _error(self, problem: str, sent: object = None) -> str:
        text = f"tool {self._tool!r}: {problem}. {self._allowed()}"
        if isinstance(sent, str) and sent:
            text += f" What was sent: {_cut(sent, _MAX_PREVIEW)}"
        return text

    def _allowed(self) -> str:
        properties = self._parameters.get("properties")
        required = self._parameters.get("required")
        known = properties if isinstance(properties, Mapping) else {}
        needed = required if isinstance(required, (list, tuple)) else ()
        shown = [
            _described(name, known.get(name), name in needed)
            for name in sorted(self._names, key=lambda name: (name not in needed, name))
        ]
        if len(shown) > _MAX_NAMES:
            shown[_MAX_NAMES:] = [f"… ({len(shown)} in all)"]
        if self._open:
            shown.append(f"any {'other ' if shown else ''}name without a leading '_'")
        return f"It takes {', '.join(shown)}." if shown else "It takes no arguments: send {}."


def _described(name: str, schema: object, required: bool) -> str:
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    words = [kind] if isinstance(kind, str) else []
    if required:
        words.append("required")
    return f"{_cut(name, 60)} ({', '.join(words)})" if words else _cut(name, 60)


_JSON_NAMES: Final[Mapping[type, str]] = {
    list: "a list",
    str: "text",
    int: "a number",
    float: "a number",
    bool: "a boolean",
    type(None): "null",
}


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _read_float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError("a number is too large")
    return number


# Built once: `json.loads` with hooks would build a decoder for every call.
_decode: Final = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_read_float).decode


def _read(text: str) -> Any:
    values = _decode(text)
    if "\\u" in text or not text.isascii():
        # Half of a surrogate pair can be written as JSON, and sent to nobody.
        json.dumps(values, ensure_ascii=False).encode()
    return values


def _copied(arguments: object) -> Any:
    """Take over what a provider parsed, as JSON data of our own."""
    if isinstance(arguments, Mapping):
        arguments = dict(arguments)
    return _read(json.dumps(arguments, allow_nan=False))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _short(problem: BaseException) -> str:
    return _cut(str(problem) or type(problem).__name__, _MAX_PREVIEW)
