"""What the compiler tells: where a mistake is, and what an expression reads."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from tuvl_core.errors import TemplateError
from tuvl_core.templates import Path, Template, compile_condition, compile_expression, parse_path, reads_of


@pytest.mark.parametrize(
    ("text", "offset", "says"),
    [
        ("{{ a", 0, "has no `}}`"),
        ("x {{ }}", 5, "missing here"),
        ("x {{ a b }}", 7, "`b` is not expected here"),
        ("{{ a && b }}", 5, "write `and`"),
        ("{{ a || b }}", 5, "write `or`"),
        ("{{ !a }}", 3, "write `not`"),
        ("{{ a = 1 }}", 5, "write `==`"),
        ("{{ a ** 2 }}", 5, "no powers"),
        ("{{ a() }}", 4, "nothing can be called"),
        ("{{ a[1:2] }}", 6, "no slices"),
        ("{{ a if b }}", 10, "`else` is missing"),
        ("{{ a | nope }}", 7, "no filter `nope`; there are: abs,"),
        ("{{ a | upper(1) }}", 7, "takes: none"),
        ("{{ a | replace('x') }}", 7, "needs: old, new"),
        ("{{ a | round(places=1) }}", 7, "takes: precision"),
        ("{{ a | sort(reverse=1, 2) }}", 23, "without a name"),
        ("{{ a is odd }}", 8, "`is` cannot ask for `odd`; it can for: boolean"),
        ("{{ 'abc }}", 3, "has no end"),
        ("{{ it's }}", 5, "has no end"),
        ("{{ a.__class__ }}", 3, "`__class__` is no data"),
        ("{{ 'a'.upper }}", 6, "a literal has no entries"),
        ("{{ {a: 1} }}", 4, "quoted text"),
        ("{{ [1, }}", 7, "missing here"),
        ("{{- a }}", 2, "leave a blank"),
        ("{{ in }}", 3, "`in` is not expected here"),
        ("{{ true.x }}", 3, "`true"),
        ("{{ a not b }}", 9, "`in` is missing after `not`"),
        ("{{ 1.5.x }}", 6, "a literal has no entries"),
        ("ok {{ a }} {{ b ? c }}", 16, "'?' has no meaning"),
    ],
)
def test_a_mistake_is_named_and_located(text: str, offset: int, says: str) -> None:
    with pytest.raises(TemplateError) as caught:
        Template.of(text)
    assert says in str(caught.value)
    assert caught.value.offset == offset


@pytest.mark.parametrize(
    ("text", "required", "optional"),
    [
        ("order.items.0.id", {"order.items.0.id"}, set()),
        ("a + b.c", {"a", "b.c"}, set()),
        ("a | default(b)", set(), {"a", "b"}),
        ("a and b", {"a"}, {"b"}),
        ("a or b or a", {"a"}, {"b"}),
        ("x if y else z", {"y"}, {"x", "z"}),
        ("a is defined and a > 1", set(), {"a"}),
        ("a < b < c", {"a", "b"}, {"c"}),
        ("prices[country].net", {"prices", "country"}, set()),
        ("prices['line item'].net", {"prices.line item"}, set()),
        ("[a, {'k': b}]", {"a", "b"}, set()),
        ("a | replace(b, c) | join(d=e)", {"a", "b", "c", "e"}, set()),
        ("not a", {"a"}, set()),
        ("-a ~ b", {"a", "b"}, set()),
        ("'a.b' ~ 1", set(), set()),
    ],
)
def test_reads(text: str, required: set[str], optional: set[str]) -> None:
    reads = compile_expression(text).reads
    assert {".".join(read.path) for read in reads if read.required} == required
    assert {".".join(read.path) for read in reads if not read.required} == optional


def test_reads_of_a_config_are_found_wherever_they_lie() -> None:
    @attrs.frozen(kw_only=True)
    class Inner:
        text: Template[str] = Template.of("{{ c.d }} {{ a | default(1) }}")

    @attrs.frozen(kw_only=True)
    class Config:
        one: Template[str] = Template.of("{{ a }}")
        tree: Template[Any] = Template.of({"x": ["{{ b }}"]})
        inner: Inner = Inner()
        many: dict[str, Any] = attrs.field(factory=lambda: {"k": [compile_condition("e > 1")]})
        path: Path = parse_path("f.g")
        plain: str = "{{ not_a_template }}"

    found = {".".join(read.path): read.required for read in reads_of(Config())}
    assert found == {"a": True, "b": True, "c.d": True, "e": True, "f.g": False}
