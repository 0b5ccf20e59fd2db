"""What counts as the answer of a model, whatever stands around it."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuvl_kinds_agent.outcome import Answer, NoAnswer, read_answer
from tuvl_models import find_objects

EXITS = ("resolved", "escalate")
TEXT = "Run this:\n```python\nprint('hi')\n```\nIt begins with ```json in a sentence, and {\"outcome\": 1}."
ANSWER = {"outcome": "resolved", "result": TEXT}
PLAIN = json.dumps(ANSWER)


@pytest.mark.parametrize(
    "content",
    [
        PLAIN,
        json.dumps(ANSWER, indent=2),
        f"```json\n{PLAIN}\n```",
        f"```\n{PLAIN}\n```\n",
        f"  \n```JSON\r\n{PLAIN}\r\n```",
        f"Here is my answer:\n\n{PLAIN}\n\nLet me know.",
        f'<think>maybe {{"outcome": "escalate"}}</think>{PLAIN}',
        f'maybe {{"outcome": "escalate", "result": 1}}</think>\n{PLAIN}',
        f'[THINK]{{"outcome": "escalate"}}[/THINK] {PLAIN}',
        f"<reasoning>{{</reasoning>{PLAIN}",
        f"{PLAIN}\n\n{json.dumps(ANSWER, indent=1)}",
        f'I looked at {{"order": 5}} and [1], [link](x) and {{x | x > 0}}.\n{PLAIN}',
        f'I sent {{"order"}} and {{ broken: }}. {PLAIN}',
        "see [link](url) and {x}. " * 1000 + PLAIN,
        f'{PLAIN}\n<think>was that right? {{"outcome": "escalate"}}',
    ],
)
def test_the_answer_is_found_and_its_text_is_not_touched(content: str) -> None:
    assert read_answer(content, EXITS) == Answer("resolved", TEXT)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "   ",
        "done",
        "[1]",
        '["resolved"]',
        '"resolved"',
        "resolved",
        "null",
        "{}",
        '[{"outcome": "resolved", "result": 1}]',
        '[{"outcome": "resolved"}, oops]',
        '{"outcome": "Resolved "}',
        '{"outcome": "RESOLVED"}',
        '{"outcome": ["resolved"]}',
        '{"outcome": null}',
        '{"outcome": true}',
        '{"outcome": 1}',
        '{"outcome": {"outcome": "resolved"}}',
        '{"outcome": "aborted"}',
        '{"outcome": "error"}',
        '{"outcome": ""}',
        '{"outcome": "resol',
        '{"outcome": "resolved", "result": {"outcome": "escalate"}',
        '{"result": oops {"outcome": "escalate"}}',
        '{"outcome": "resolved", "result": NaN}',
        '{"answer": {"outcome": "resolved"}}',
        "{'outcome': 'resolved'}",
        '{"outcome": "resolved"} {"outcome": "escalate"}',
        '{"outcome": "resolved", "result": 1} or {"outcome": "resolved", "result": 2}',
        '<think>{"outcome": "resolved"}</think>',
        '<think>{"outcome": "resolved"}',
        '{"outcome": "resolved", "result": ' + "[" * 5000 + "]" * 5000 + "}",
        '{"outcome": "resolved", "result": ' + "[" * 200 + "]" * 200 + "}",
        '{"outcome": "resolved", "result": ' + "9" * 5000 + "}",
    ],
)
def test_anything_else_is_no_answer(content: str) -> None:
    with pytest.raises(NoAnswer) as caught:
        read_answer(content, EXITS)
    assert len(str(caught.value)) < 300


def test_blanks_around_the_outcome_are_trimmed_and_case_counts() -> None:
    assert read_answer('{"outcome": " resolved\\n", "result": 1}', EXITS).signal == "resolved"


def test_without_a_result_the_whole_object_is_the_value() -> None:
    answer = read_answer('{"outcome": "resolved", "refund": 3}', EXITS)
    assert answer.value == {"outcome": "resolved", "refund": 3}
    assert read_answer('{"outcome": "resolved", "result": null}', EXITS).value is None


def test_a_reserved_word_cannot_be_chosen_even_if_it_is_declared() -> None:
    with pytest.raises(NoAnswer):
        read_answer('{"outcome": "aborted"}', ("resolved", "aborted"))


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ("all orders were looked up", "all orders were looked up"),
        ("", ""),
        ("  two\nlines ", "  two\nlines "),
        ('{"a": 1}', {"a": 1}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('Sure: {"a": 1}', {"a": 1}),
        ('{"result": [1]}', [1]),
        ('{"outcome": "x", "result": 2}', 2),
        ('Given {"a": 1}, it is {"result": 2}', 2),
        ('Either {"a": 1} or {"a": 2}.', 'Either {"a": 1} or {"a": 2}.'),
        ('[{"a": 1}, {"a": 2}]', [{"a": 1}, {"a": 2}]),
        ("```json\n[1, 2]\n```", [1, 2]),
        ("[1] and [2]", "[1] and [2]"),
        ("42", "42"),
        ("null", "null"),
        ("<think>hm</think>\nhello ", "hello "),
        ("```\nplain\n```", "```\nplain\n```"),
    ],
)
def test_without_declared_exits_text_is_an_answer_too(content: str, value: object) -> None:
    assert read_answer(content, ()) == Answer("default", value)


def test_without_declared_exits_two_results_compete() -> None:
    with pytest.raises(NoAnswer, match="contradict"):
        read_answer('{"result": 1} {"result": 2}', ())
    assert read_answer('{"result": 1} {"result": 1}', ()).value == 1


@given(st.text(alphabet='{}[]":,\\ \n`ntu1<think>/outcomersvd', max_size=120))
def test_any_text_ends_in_a_declared_exit_or_in_no_answer(content: str) -> None:
    for exits in (EXITS, ()):
        try:
            answer = read_answer(content, exits)
        except NoAnswer:
            continue
        assert answer.signal in (exits or ("default",))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
prose = st.text(alphabet=st.characters(exclude_characters="{}[]<>", exclude_categories=["Cs"]))


@given(json_values, prose, prose)
def test_a_value_survives_whatever_prose_surrounds_it(value: object, before: str, after: str) -> None:
    content = before + json.dumps({"outcome": "escalate", "result": value}) + after
    assert read_answer(content, EXITS) == Answer("escalate", value)


@pytest.mark.parametrize(
    "piece", ['{"a":', "[", '{"', "{", '{"a": "', "[[", '{"a}', "<think>", "{{}", "[1,", "[true a"]
)
def test_long_hostile_texts_are_read_in_linear_time(piece: str) -> None:
    began = time.perf_counter()
    find_objects(piece * 50_000)
    assert time.perf_counter() - began < 2
