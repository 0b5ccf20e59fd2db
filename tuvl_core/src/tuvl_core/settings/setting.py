"""One declared setting, and how texts and TOML values become its type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

__all__ = ["Setting"]

TYPES: Final = (bool, int, float, str, tuple, dict, list)
_TRUE: Final = frozenset({"1", "true", "yes", "on"})
_FALSE: Final = frozenset({"0", "false", "no", "off", ""})


# A dataclass and not attrs: the policy about plugins is read for `tuvl --help` too, and the standard
# library's is loaded by then anyway.
@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """A setting that somebody declares.

    Attributes:
        name: Section and key, such as `acme.region`; the section is the plugin's own.
        type: `bool`, `int`, `float`, `str`, `tuple` (of texts: comma-separated in the environment, a
            list in TOML), `dict` (a TOML table of free keys, without a variable) or `list` (of TOML tables
            of texts, without a variable; its value is a tuple of dicts).
        default: The value when nothing sets it; None is always allowed here.
        env: Its environment variable; "" makes one of the name: `TUVL_ACME_REGION`.
        help: What it does, in one sentence.
        minimum: The smallest number that makes sense.
        choices: The only values that make sense, if they can be listed.
        secret: Its value is never shown.
    """

    name: str
    type: type[Any] = str
    default: Any = None
    env: str = ""
    help: str = ""
    minimum: float | None = None
    choices: tuple[str, ...] = ()
    secret: bool = False

    def __post_init__(self) -> None:
        if self.type not in TYPES:
            names = ", ".join(item.__name__ for item in TYPES)
            raise TypeError(f"setting {self.name!r}: its type must be one of {names}")
        if not all(part.isidentifier() for part in self.name.split(".")) or self.name.count(".") > 1:
            raise ValueError(f"setting {self.name!r}: its name must read `section.key`")
        if not self.env:
            variable = "TUVL_" + self.name.upper().replace(".", "_")
            object.__setattr__(self, "env", variable)

    def from_text(self, text: str) -> Any:
        """Read the value of an environment variable.

        Raises:
            ValueError: The text is no value of this setting; the message says what is.
        """
        text = text.strip()
        if self.type is tuple:
            return tuple(part for part in (piece.strip() for piece in text.split(",")) if part)
        if self.type is bool:
            return self._flag(text)
        if self.type in (int, float):
            return self._check(self._number(text))
        if self.type in (dict, list):
            raise ValueError("is a table: set it in tuvl.toml, not in the environment")
        return self._check(text)

    def from_toml(self, value: Any) -> Any:
        """Take a value from a TOML file; types are strict there, but an int is a float too.

        Raises:
            ValueError: The value is none of this setting; the message says what is.
        """
        if self.type is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if self.type is tuple:
            if isinstance(value, list) and all(isinstance(item, str) for item in value):
                return tuple(value)
            raise ValueError(f'must be a list of texts, such as ["a", "b"], not {value!r}')
        if self.type is list:
            if isinstance(value, list) and all(map(_is_table_of_texts, value)):
                return tuple(value)
            raise ValueError(f'must be a list of tables of texts, such as [{{ a = "b" }}], not {value!r}')
        if type(value) is not self.type:
            raise ValueError(f"must be {_said(self.type)}, not {value!r}")
        return self._check(value)

    def _flag(self, text: str) -> bool:
        folded = text.lower()
        if folded in _TRUE or folded in _FALSE:
            return folded in _TRUE
        raise ValueError(f"must be 1 or 0 (or true, false, yes, no, on, off), not {text!r}")

    def _number(self, text: str) -> int | float:
        try:
            return int(text) if self.type is int else float(text)
        except ValueError:
            raise ValueError(f"must be {_said(self.type)}, not {text!r}") from None

    def _check(self, value: Any) -> Any:
        # NaN and the infinities are no limit of anything.
        if isinstance(value, float) and not abs(value) < float("inf"):
            raise ValueError(f"must be a finite number, not {value!r}")
        if self.minimum is not None and value < self.minimum:
            raise ValueError(f"must be at least {self.minimum:g}, not {value!r}")
        if self.choices and value not in self.choices:
            raise ValueError(f"must be one of {', '.join(self.choices)}, not {value!r}")
        return value


def _is_table_of_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())


def _said(kind: type[Any]) -> str:
    names = {
        bool: "true or false",
        int: "a whole number",
        float: "a number",
        str: "a text",
        dict: "a table",
    }
    return names[kind]
