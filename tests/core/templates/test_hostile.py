"""Expressions written to break out, to hang or to exhaust memory: refused, quickly and cheaply."""

from __future__ import annotations

import time
import tracemalloc
from typing import Any

import pytest

from tuvl_core.errors import StepError, TemplateError
from tuvl_core.templates import Template, compile_condition, compile_expression

MAX_BYTES = 20_000_000

CONTEXT: dict[str, Any] = {
    "a": "x" * 1000,
    "big": "y" * 900_000,
    "many": list(range(50_000)),
    "n": 10,
    "huge": 10**3000,
    "order": {"items": [1]},
    "dunder": "__class__",
}

REFUSED = [
    # reaching for Python
    "().__class__.__base__.__subclasses__()",
    "__import__('os')",
    "a.__class__",
    "order.__class__.__mro__",
    "order['__class__']",
    "(order)['__globals__']",
    "[order][0].__dict__",
    "(order | list).__class__",
    "order.items()",
    "''.join(many)",
    "'{0.__class__}'.format(a)",
    "a | attr('__class__')",
    "a | format(1)",
    "many | map('upper')",
    "lipsum.__globals__",
    "cycler()",
    "range(10**9)",
    "dict(a=1)",
    "namespace(a=1)",
    "_session",
    "_db.bind",
    "_step",
    "__builtins__",
    # statements and other syntax
    "n = 3",
    "n := 3",
    "lambda: 1",
    "[x for x in many]",
    "{% for x in many %}{% endfor %}",
    "n; n",
    "n\\n",
    "n ? 1 : 2",
    "`n`",
    "n if n",
    "*many",
    "f'{n}'",
    "import os",
    # more than any machine can hold
    "(9**9)**9**9",
    "2 ** n",
    "'x' * 10**10",
    "'x' * 1000000000",
    "1000000000 * 'x'",
    "[1] * 1000000000",
    "{'a': 1} * 2",
    "n * 'x'",
    "'%1000000000d' % 1",
    "'%1000000000d' % n",
    "a | center(1000000000)",
    "a | ljust(1000000000)",
    "a | indent(1000000000)",
    "a | wordwrap(1)",
    "1e999999",
    "1" * 5000,
    "0." + "1" * 5000,
    # deeper or longer than the grammar goes
    "(" * 5000,
    "[" * 5000,
    "{" * 5000,
    "{'a':" * 5000,
    "-" * 5000 + "1",
    "not " * 5000 + "1",
    "a" + ".b" * 5000,
    "a" + "[0]" * 5000,
    "(a)" + ".b[0]" * 5000,
    "1" + "+1" * 5000,
    "n if n else " * 5000 + "n",
    "a" + " or a" * 5000,
    "a" + " ~ a" * 5000,
    "many" + " | sort" * 21,
    "a" + " | upper" * 5000,
    "a | default(" * 5000,
    "'" * 5001,
    "'" + "\\\\" * 50_001,
]

FAILING = [
    "a * 1000000000",
    "1000000000 * a",
    "many * 1000000",
    "a % n",
    "a | replace('', big)",
    "big | replace('y', big)",
    "many | join(big)",
    "big ~ big",
    "big + big",
    "many + many + many",
    "[big, big] | join",
    "[big, big] | tojson",
    "[big, big] | string | upper",
    "huge * huge * huge * huge",
    "huge / 0.1",
    "huge | float",
    "n | round(1000000000)",
    "n | round(-1000000000)",
    "n // 0",
    "many | map(attribute='__class__')",
    "many | map(attribute=dunder)",
    "many[dunder]",
    "order[dunder]",
    "a[dunder]",
    "(a | first)",
    "cycler",
    "lipsum",
    "self._TemplateReference__context",
]

SLOW_IF_UNBOUNDED = [
    "many" + " | sort | reverse" * 10,
    "big" + " | upper | lower" * 10,
    " and ".join(["-1 not in many"] * 40),
    "[" + "big," * 100 + "big] | length",
    "n" + " * 99999999999" * 150,
    "many | unique | length",
]


def bounded(text: str, limit: float = 10.0) -> Any:
    """Compile and evaluate within bounds of time and memory; give the value or the error."""
    tracemalloc.start()
    start = time.perf_counter()
    try:
        return compile_expression(text).evaluate(CONTEXT)
    except (TemplateError, StepError) as error:
        return error
    finally:
        seconds = time.perf_counter() - start
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert seconds < limit, f"{seconds:.2f} s"
        assert peak < MAX_BYTES, f"{peak} bytes"


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:40])
def test_what_can_be_seen_is_refused_before_anything_runs(text: str) -> None:
    error = bounded(text)
    assert isinstance(error, TemplateError)
    assert len(str(error)) < 500
    for compiled in (compile_condition, Template.of):
        with pytest.raises(TemplateError):
            compiled("{{ " + text + " }}")


@pytest.mark.parametrize("text", FAILING)
def test_what_depends_on_values_is_a_step_error(text: str) -> None:
    error = bounded(text)
    assert isinstance(error, StepError)
    assert len(str(error)) < 500


@pytest.mark.parametrize("text", SLOW_IF_UNBOUNDED, ids=lambda text: text[:40])
def test_what_adds_up_stays_within_bounds(text: str) -> None:
    bounded(text, limit=60.0)  # tracing memory slows it down about five times


def test_texts_of_the_context_that_look_like_code_are_data() -> None:
    for text in [*REFUSED[:60], "{{ n }}"]:
        assert compile_condition("x == x").evaluate({"x": text}) is True
        assert Template.of("<{{ x }}>").render({"x": text}) == f"<{text}>"


class Trap:
    """An object whose every hook would be code that an expression runs."""

    secret = "reached"

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"attribute {name} was reached")

    def __getitem__(self, key: Any) -> Any:
        raise AssertionError("an item was reached")

    def __call__(self) -> Any:
        raise AssertionError("it was called")


@pytest.mark.parametrize("text", ["trap.secret", "trap['secret']", "trap[0]", "trap.upper", "trap.0"])
def test_objects_have_no_entries(text: str) -> None:
    with pytest.raises(StepError, match=r"not in the context|nothing under"):
        compile_expression(text).evaluate({"trap": Trap()})


class Awkward:
    """A value whose own methods misbehave."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparison")

    def __bool__(self) -> bool:
        raise RuntimeError("no truth")

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize("text", ["x == 1", "not x", "x in [1]", "[x] == [1]", "x or 1", "x | sum"])
def test_values_that_misbehave_are_step_errors(text: str) -> None:
    with pytest.raises(StepError, match="x"):
        compile_expression(text).evaluate({"x": Awkward()})


def test_data_nested_without_end_is_a_step_error() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    endless: dict[str, Any] = {}
    endless["me"] = endless
    for thing in (deep, endless):
        for text in ("<{{ x }}>", "{{ x | tojson }}", "{{ x ~ '' }}", "{{ [x] == [y] }}"):
            with pytest.raises(StepError):
                Template.of(text).render({"x": thing, "y": [thing] if thing is deep else thing})
