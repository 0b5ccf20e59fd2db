"""Secrets in templates: what is made of one is one, and none shows."""

from __future__ import annotations

from typing import Any

import pytest

from tuvl_core.codec import from_lossless, to_lossless
from tuvl_core.errors import StepError
from tuvl_core.templates import Template, compile_condition
from tuvl_core.views import Secret

CONTEXT: dict[str, Any] = {"qty": 3}


def test_a_lone_secret_is_the_secret() -> None:
    secret = Secret("s3cr3t")
    assert Template.of("{{ key }}").render({"key": secret}) is secret
    typed = Template.of("{{ key }}", float).render({"key": Secret("1.5")})
    assert typed == Secret(1.5)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("Bearer {{ key }}", "Bearer s3cr3t"),
        ("{{ key ~ '!' }}", "s3cr3t!"),
        ("{{ key + 'x' }}", "s3cr3tx"),
        ("{{ key | upper }}", "S3CR3T"),
        ("{{ key | length }}", 6),
        ("{{ 'a-b' | replace('b', key) }}", "a-s3cr3t"),
        ("{{ cred.password }}", "pw"),
        ("{{ cred['password'] | upper }}", "PW"),
        ("{{ -number }}", -5),
        ("{{ number * 2 }}", 10),
        ("{{ [1, 2, 3, 4, 5, 6][number] }}", 6),
        ("<{{ row }}>", '<{"id":1,"token":"s3cr3t"}>'),
        ("{{ row | tojson }}", '{"id":1,"token":"s3cr3t"}'),
        ("{{ [key, key] | join('-') }}", "s3cr3t-s3cr3t"),
        ("{{ key if key else 'none' }}", "s3cr3t"),
    ],
)
def test_what_is_made_of_a_secret_is_a_secret(source: str, expected: Any) -> None:
    key = Secret("s3cr3t")
    context = {
        "key": key,
        "number": Secret(5),
        "cred": Secret({"password": "pw"}),
        "row": {"id": 1, "token": key},
    }
    result = Template.of(source).render(context)
    assert isinstance(result, Secret)
    assert result.reveal() == expected
    assert "s3cr3t" not in f"{result} {result!r}"


def test_a_secret_inside_a_list_stays_one_of_its_own() -> None:
    rows = {"rows": [{"id": 1, "token": Secret("a")}, {"id": 2, "token": Secret("b")}]}
    assert Template.of("{{ (rows | first).id }}").render(rows) == 1
    assert Template.of("{{ (rows | last).token }}").render(rows) == Secret("b")
    assert Template.of("{{ rows | length }}").render(rows) == 2
    assert Template.of("{{ rows | map(attribute='id') }}").render(rows) == [1, 2]


@pytest.mark.parametrize(
    "source",
    [
        "{{ key == 's3cr3t' }}",
        "{{ 's3cr3t' == key }}",
        "{{ key != 'x' }}",
        "{{ number > 4 }}",
        "{{ number in [5] }}",
        "{{ 5 in [number] }}",
        "{{ 's3' in key }}",
        "{{ [key] == ['s3cr3t'] }}",
        "{{ not off }}",
        "{{ key is string }}",
    ],
)
def test_comparisons_look_at_what_a_secret_hides_and_give_plain_booleans(source: str) -> None:
    context = {"key": Secret("s3cr3t"), "number": Secret(5), "off": Secret("false")}
    assert Template.of(source).render(context) is True


def test_a_secret_text_may_be_a_template_and_shows_nowhere() -> None:
    template = Template.of(Secret("Bearer s3cr3t {{ qty }}"))
    assert template.render(CONTEXT) == Secret("Bearer s3cr3t 3")
    assert Template.of(Secret("abc")).render({}) == Secret("abc")
    assert Template.of({"h": Secret("abc")}).render({}) == {"h": Secret("abc")}
    broken = Template.of(Secret("{{ 's3cr3t' + 1 }}"))
    with pytest.raises(StepError) as caught:
        broken.render({})
    assert "s3cr3t" not in str(caught.value) + repr(template) + repr(broken)
    assert "abc" not in repr(Template.of("abc", reveals=True))


def test_a_secret_out_of_a_record_cannot_decide() -> None:
    sealed = from_lossless(to_lossless(Secret("x")))
    for text in ("key", "key == 'x'", "key.part", "not key"):
        with pytest.raises(StepError, match="record"):
            compile_condition(text).evaluate({"key": sealed})
    with pytest.raises(StepError, match="record"):
        Template.of("<{{ key }}>").render({"key": sealed})
