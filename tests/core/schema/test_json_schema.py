"""The schema says what the loader does, in both directions."""

from __future__ import annotations

import enum
import json
from typing import Any, Literal

import attrs
import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuvl_core.documents import read_text
from tuvl_core.schema import class_description, json_schema, key_descriptions
from tuvl_core.structure import Environment, field, structure
from tuvl_core.templates import Template
from tuvl_core.views import Secret


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@attrs.frozen(kw_only=True)
class Tool:
    """A step that the model may call."""

    ref: str = field(source_text=True)
    """Id of the step."""
    writes_context: bool = False
    tools: list[Tool] = field(factory=list)


@attrs.frozen(kw_only=True)
class Base:
    """What all have.

    Attributes:
        name: Its name,
            on two lines.
        unused: Not there.
    """

    name: str = ""


@attrs.frozen(kw_only=True)
class Config(Base):
    """A config.

    More words that stay out.

    Attributes:
        count (int): How many.
    """

    count: int = field(default=1, min=1, max=5)
    ratio: float | None = field(default=None, min=0, doc="A share.")
    method: Literal["GET", "POST"] = "GET"
    size: str = field(default="s", choices=("s", "m"))
    colour: Colour = Colour.RED
    key: Secret | None = None
    tools: list[Tool] = field(factory=list, max=2)
    as_: str = field(name="as", default="", max=3)
    delay: Template[float] = Template.of(1.0)
    mode: Template[Literal["a", "b"]] = Template.of("a")
    body: Template[dict[str, Any]] | None = None
    headers: dict[str, Template[str]] = field(factory=dict)
    either: Tool | list[int] | str | None = None
    pair: tuple[str, int] | None = None
    extra: Any = None
    signals: list[str] = field(factory=list, source_text=True)


SCHEMA = json_schema(Config)
ENVIRONMENT = Environment(values={"N": "2"})


def test_the_schema_is_one() -> None:
    jsonschema_rs.meta.validate(SCHEMA)
    assert SCHEMA["additionalProperties"] is False
    assert set(SCHEMA["$defs"]) == {"Tool"}
    assert "as" in SCHEMA["properties"]
    assert SCHEMA["$defs"]["Tool"]["required"] == ["ref"]
    assert json_schema(Tool)["$ref"] == "#/$defs/Tool"
    assert json_schema(str | list[int]) == {
        "anyOf": [
            {"type": "string"},
            {"type": "array", "items": {"type": ["integer", "string"], "pattern": r"\$\{"}},
        ]
    }


def test_descriptions_come_from_the_source() -> None:
    assert SCHEMA["description"] == "A config."
    said = {key: value.get("description") for key, value in SCHEMA["properties"].items()}
    assert said["count"] == "How many."
    assert said["ratio"] == "A share."
    assert said["name"] == "Its name, on two lines."
    assert said["method"] is None
    assert key_descriptions(Tool) == {"ref": "Id of the step."}
    assert class_description(attrs.make_class("Made", [])) == ""
    assert key_descriptions(attrs.make_class("Made", {"x": attrs.field(type=int)})) == {}


def is_read(data: dict[str, Any]) -> bool:
    (document,), problems = read_text(json.dumps(data), "c.yaml")
    assert not problems
    value, problems = structure(document.data, Config, document=document, environment=ENVIRONMENT)
    assert (value is None) == bool(problems)
    return value is not None


SCALARS = st.none() | st.booleans() | st.integers(-2, 7) | st.sampled_from([0.5, -1.5])
TEXTS = st.sampled_from(["", "s", "abcd", "GET", "red", "{{ x }}", "${N}", "b {{ x.y }}", "ref"])
TREES = st.recursive(
    SCALARS | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["ref", "tools", "x", "writes_context"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*SCHEMA["properties"], "nope"]), TREES | TEXTS | SCALARS, max_size=2))
def test_what_is_read_fits_the_schema(data: dict[str, Any]) -> None:
    if is_read(data):
        assert jsonschema_rs.is_valid(SCHEMA, data)


@given(
    st.dictionaries(
        # Of a text the schema only knows that a reference or template may make it fit.
        st.sampled_from(["name", "count", "tools", "either", "pair", "signals", "extra", "nope"]),
        TREES | SCALARS,
        max_size=2,
    )
)
def test_what_fits_the_schema_is_read(data: dict[str, Any]) -> None:
    if "${" not in json.dumps(data) and jsonschema_rs.is_valid(SCHEMA, data):
        assert is_read(data)


@pytest.mark.parametrize(
    ("data", "fits"),
    [
        ({"count": "${N}"}, True),
        ({"count": "3"}, False),
        ({"delay": "{{ x }}"}, True),
        ({"delay": "soon"}, False),
        ({"method": "${M:GET}"}, True),
        ({"method": "PUT"}, False),
        ({"mode": "c"}, False),
        ({"mode": "{{ x }}"}, True),
        ({"body": "{{ x }}"}, True),
        ({"body": {"a": 1}}, True),
        ({"body": [1]}, False),
        ({"signals": [True, 1.5, "x"]}, True),
        ({"signals": [None]}, True),
        ({"tools": [{"ref": "a", "tools": [{"ref": 5}]}]}, True),
        ({"tools": [{}]}, False),
        ({"as": "abcd"}, False),
        ({"pair": ["a", 1]}, True),
        ({"pair": ["a", 1, 2]}, False),
        ({"headers": {"a": 1}}, False),
    ],
)
def test_samples(data: dict[str, Any], fits: bool) -> None:
    assert jsonschema_rs.is_valid(SCHEMA, data) == fits
    assert is_read(data) == fits
