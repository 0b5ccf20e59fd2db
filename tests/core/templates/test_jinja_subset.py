"""The language is a subset of Jinja's: what both understand means the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tuvl_core.errors import StepError, TemplateError
from tuvl_core.templates import compile_expression

jinja2 = pytest.importorskip("jinja2")
JINJA = jinja2.Environment(undefined=jinja2.StrictUndefined, optimized=False)

# Texts that are numbers or booleans compare by rules of our own, so none of them is in here.
CONTEXT: dict[str, Any] = {
    "i": 3,
    "j": 0,
    "neg": -7,
    "s": "word",
    "t": "or d",
    "l": [1, 2, 3],
    "e": [],
    "m": {"k": 1, "n": {"x": "y"}},
    "yes": True,
    "no": False,
}
WORDS = "i j neg s t l e yes no m.k m.n.x l.0 l[1] m['k'] 1 2 0.5 'ord' [1,'word'] (i) (s)"
OPERANDS = st.sampled_from(WORDS.split(" "))
SIGNS = st.sampled_from(
    ["+", "-", "*", "/", "//", "%", "~", "==", "!=", "<", "<=", ">", ">="]
    + ["and", "or", "in", "not in", "if i else", "if no else"]
)
BEFORE = st.sampled_from(["", "", "", "", "-", "not ", "+", "not not "])
AFTER = st.sampled_from(
    ["", "", "", "", "|abs", "|length", "|upper", "|first", "|last", "|lower|title", "|default(1)"]
    + ["|join('-')", "|replace('o','0')", " is defined", " is not none", " is string"]
)


@st.composite
def expressions(draw: st.DrawFn) -> str:
    """Operands and operators in a row: only precedence and association say what it means."""
    text = ""
    for index in range(draw(st.integers(1, 5))):
        if index:
            text += f" {draw(SIGNS)} "
        text += draw(BEFORE) + draw(OPERANDS) + draw(AFTER)
    return text


def by_jinja(text: str) -> Any:
    """Jinja's value, or None where it has none or one that we write differently."""
    try:
        value = JINJA.compile_expression(text, undefined_to_none=False)(**CONTEXT)
    except Exception:
        return None
    if isinstance(value, jinja2.Undefined) or "True" in str(value) or "False" in str(value):
        return value if isinstance(value, bool) else None
    if isinstance(value, str) and "'" in value:
        return None  # a list inside a text: ours is JSON
    return value


@given(expressions())
@settings(max_examples=600)
def test_what_both_understand_means_the_same(text: str) -> None:
    try:
        ours = compile_expression(text).evaluate(CONTEXT)
    except (StepError, TemplateError):
        return  # stricter is fine
    theirs = by_jinja(text)
    if theirs is None:
        return
    assert ours == theirs, text
    assert type(ours) is type(theirs), text


@pytest.mark.parametrize(
    "text",
    [
        "not i == 3 and no or yes",
        "1 ~ 3 * 4 ~ 5",
        "-i | abs",
        "i - -i",
        "1 if no else 2 if no else 3",
        "(1 if no else 2) if yes else 3",
        "1 < i < 4 == yes",
        "l | first + 1",
        "s in ['word'] and not i in l",
        "'%' ~ s",
        "m.n.x ~ m['n']['x']",
        "10 // 3 * 3 + 10 % 3",
        "(i + 1) * 2 / 4",
    ],
)
def test_examples(text: str) -> None:
    assert compile_expression(text).evaluate(CONTEXT) == JINJA.compile_expression(text)(**CONTEXT)
