"""What holds for every template: it never crashes, changes nothing, and reads what it says."""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tuvl_core.codec import wire_dumps
from tuvl_core.context import Names
from tuvl_core.errors import StepError, TemplateError, UndefinedNameError
from tuvl_core.templates import Read, Template, compare, compile_condition, compile_expression, parse_path

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
PARTS = st.sampled_from(["a", "b", "items", "0", "1", "get", "größe", "_id"])


@given(JSON)
def test_any_json_value_goes_through_a_lone_placeholder_unchanged(value: Any) -> None:
    before = copy.deepcopy(value)
    context = {"x": value, "o": {"in": [value]}}
    assert Template.of("{{ x }}").render(Names(context)) is value
    assert Template.of("{{ o.in.0 }}").render(Names(context)) is value
    rendered = Template.of({"a": ["{{ x }}"], "b": "{{ x | default(1) }}"}).render(context)
    assert rendered == {"a": [value], "b": value}
    assert value == before


@given(JSON)
def test_any_json_value_in_text_is_itself_or_its_json(value: Any) -> None:
    text = Template.of("<{{ x }}>").render({"x": value})[1:-1]
    assert text == (value if isinstance(value, str) else wire_dumps(value))
    if not isinstance(value, str):
        assert json.loads(text) == value


@given(st.text())
def test_text_without_placeholders_is_itself(text: str) -> None:
    text = text.replace("{{", "{ {")
    assert Template.of(text).render({}) == text


WORDS = (
    "a b.c _x __class__ 1 2.5 'q' \"r\" true none ( ) [ ] { } , : . | = == != < > ** * / // % ~ + -"
    " and or not in is if else default upper join defined {{ }} {% %} \\ ' \" \n ? é \ud800"
)
FRAGMENTS = st.lists(st.sampled_from(WORDS.split(" ")), max_size=12).map(" ".join)


@given(st.text() | FRAGMENTS)
@example("{{ a")
@example("{{" * 50)
@settings(max_examples=300)
def test_no_text_crashes_the_compiler_or_the_rendering(text: str) -> None:
    context = {"a": [1, {"c": "x"}], "b": {"c": 2}, "x": None}
    offsets = []
    for source in (text, "{{ " + text + " }}", "x {{" + text + "}}"):
        for compiled in (Template.of, compile_condition, compile_expression):
            try:
                made = compiled(source)
            except TemplateError as error:
                offsets.append((error.offset, len(source)))
                continue
            with contextlib.suppress(StepError):
                made.render(context) if isinstance(made, Template) else made.evaluate(context)
    assert all(0 <= offset <= length for offset, length in offsets)


@given(st.text())
def test_no_text_crashes_a_path(text: str) -> None:
    try:
        path = parse_path(text)
    except TemplateError:
        return
    path.get({"a": [1]})
    assert path.get([], "nothing") == "nothing"


OPERATORS = ["eq", "neq", "gt", "gte", "lt", "lte", "in", "contains"]


@given(st.sampled_from(OPERATORS), JSON, JSON)
def test_comparing_gives_a_boolean_or_a_step_error(operator: str, left: Any, right: Any) -> None:
    try:
        assert isinstance(compare(operator, left, right), bool)
    except StepError:
        assert operator not in ("eq", "neq")


@given(JSON)
def test_a_value_equals_itself(value: Any) -> None:
    assert compare("eq", value, copy.deepcopy(value))


# --- reads are sound ------------------------------------------------------------------------

NAMES = st.builds(
    lambda root, rest: ".".join([root, *rest]),
    st.sampled_from(["a", "b", "c"]),
    st.lists(PARTS.filter(str.isidentifier) | st.sampled_from(["0", "1"]), max_size=2),
)
LITERALS = st.sampled_from(["1", "0", "'x'", "'false'", "true", "none", "[]", "[1, 'x']"])


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    signs = st.sampled_from(["and", "or", "==", "!=", "<", "+", "~", "in", "not in"])
    filters = st.sampled_from(["string", "length", "default('d')", "first", "tojson"])
    return (
        st.builds("({} {} {})".format, inner, signs, inner)
        | st.builds("({} if {} else {})".format, inner, inner, inner)
        | st.builds("({} | {})".format, inner, filters)
        | st.builds("({} | default({}))".format, inner, inner)
        | st.builds("({} is {}defined)".format, inner, st.sampled_from(["", "not "]))
        | st.builds("(not {})".format, inner)
        | st.builds("{}[{}]".format, NAMES, inner)
        | st.builds("[{}, {}]".format, inner, inner)
    )


EXPRESSIONS = st.recursive(NAMES | LITERALS, _grown, max_leaves=8)
CONTEXTS = st.fixed_dictionaries(
    {},
    optional={
        name: st.recursive(
            st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["x", "a", "false", ""]),
            lambda inner: st.lists(inner, max_size=2) | st.dictionaries(PARTS, inner, max_size=3),
            max_leaves=6,
        )
        for name in ("a", "b", "c")
    },
)


def only(value: Any, paths: Sequence[tuple[str, ...]]) -> Any:
    """What is left of a value when nothing but these paths may be looked at."""
    if () in paths:
        return value
    if isinstance(value, dict):
        roots = {path[0] for path in paths}
        return {
            key: only(item, [path[1:] for path in paths if path[0] == key])
            for key, item in value.items()
            if key in roots
        }
    if isinstance(value, list):
        return [only(item, [p[1:] for p in paths if p[0] == str(i)]) for i, item in enumerate(value)]
    return value


def outcome(text: str, context: dict[str, Any]) -> Any:
    try:
        return ("value", compile_expression(text).evaluate(context))
    except UndefinedNameError:
        return ("undefined",)
    except StepError:
        return ("error",)


@given(EXPRESSIONS, CONTEXTS)
@settings(max_examples=400)
def test_an_expression_reads_nothing_but_what_it_declares(text: str, context: Any) -> None:
    reads = compile_expression(text).reads
    pruned = only(context, [read.path for read in reads])
    assert outcome(text, pruned) == outcome(text, context)


def required(reads: Sequence[Read]) -> Iterator[tuple[str, ...]]:
    return (read.path for read in reads if read.required)


@given(EXPRESSIONS, CONTEXTS)
@settings(max_examples=400)
def test_nothing_required_can_be_missing(text: str, context: Any) -> None:
    if outcome(text, context)[0] != "value":
        return
    for path in required(compile_expression(text).reads):
        without = {key: item for key, item in context.items() if key != path[0]}
        assert outcome(text, without) == ("undefined",), path
