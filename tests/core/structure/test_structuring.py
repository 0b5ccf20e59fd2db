"""Plain data becomes typed values, strictly; what does not fit is located and explained."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NewType

import attrs
import pytest

from tuvl_core.diagnostics import Diagnostic
from tuvl_core.documents import read_text
from tuvl_core.structure import Environment, field, structure
from tuvl_core.templates import Condition, Path, Template
from tuvl_core.views import Secret

ENVIRONMENT = Environment(values={"N": "3", "WORD": "word", "KEY": "sk-secret", "YES": "true"})


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


Seconds = NewType("Seconds", float)


@attrs.frozen(kw_only=True)
class Tool:
    ref: str = field(source_text=True)
    description: str | None = None
    writes_context: bool = False


@attrs.frozen(kw_only=True)
class Outcome:
    enum: list[str] = field(factory=list, source_text=True)
    output_key: str | None = field(default=None, source_text=True)


@attrs.frozen(kw_only=True)
class Agent:
    model: str
    steering: Template[str] | None = field(default=None, prose=True, lookalikes=("goal",))
    tools: list[Tool] = field(factory=list)
    outcome: Outcome = field(factory=Outcome)
    max_iterations: int = field(default=8, min=1)


@attrs.frozen(kw_only=True)
class Step:
    agent: Agent


@attrs.frozen(kw_only=True)
class Everything:
    text: str = ""
    count: int = field(default=0, min=0, max=10)
    ratio: float = field(default=0.5, min=0)
    flag: bool = False
    nothing: None = None
    method: Literal["GET", "POST", 3] = "GET"
    size: str = field(default="s", choices=("s", "m", "l"))
    colour: Colour = Colour.RED
    key: Secret | None = None
    numbers: list[int] = field(factory=list, max=3)
    pair: tuple[str, int] | None = None
    names: frozenset[str] = frozenset()
    sequence: Sequence[float] = ()
    limits: Mapping[str, int] = field(factory=dict)
    bare_list: list = field(factory=list)  # type: ignore[type-arg]
    bare_dict: dict = field(factory=dict)  # type: ignore[type-arg]
    anything: Any = None
    note: Annotated[str, "words"] = ""
    seconds: Seconds = Seconds(1.0)
    either: Tool | list[str] | str | None = None
    shape: Outcome | Tool | None = None
    number_or_text: int | str = 0
    as_: str = field(name="as", default="")
    json: Template[Any] = field(default=None)
    delay: Template[float] = Template.of(1.0)
    headers: dict[str, Template[str]] = field(factory=dict, reveals=True)
    prose: str = field(default="", prose=True)
    where: Path | None = None
    when: Condition | None = None


def read(
    text: str, cls: type[Any] = Everything, environment: Environment = ENVIRONMENT
) -> tuple[Any, list[Diagnostic]]:
    (document,), problems = read_text(text, "w.yaml")
    assert problems == []
    return structure(document.data, cls, document=document, environment=environment)


def good(text: str, cls: type[Any] = Everything) -> Any:
    value, problems = read(text, cls)
    assert [str(item) for item in problems] == []
    return value


def bad(text: str, cls: type[Any] = Everything) -> str:
    value, (problem,) = read(text, cls)
    assert value is None
    return str(problem)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("text: no", "no"),
        ("text: '1'", "1"),
        ("text: ${WORD}", "word"),
        ("text: a${N}b", "a3b"),
        ("text: $${N}", "${N}"),
        ("text: ${NOPE:}", ""),
        ("text: '${NOPE:a b: c}'", "a b: c"),
        ("count: 3", 3),
        ("count: ${N}", 3),
        ("count: ${NOPE:0x5}", 5),
        ("ratio: 2", 2.0),
        ("ratio: 1.5", 1.5),
        ("ratio: ${N}", 3.0),
        ("flag: true", True),
        ("flag: ${YES}", True),
        ("nothing:", None),
        ("method: POST", "POST"),
        ("method: 3", 3),
        ("size: m", "m"),
        ("colour: blue", Colour.BLUE),
        ("numbers: [1, '${N}']", [1, 3]),
        ("pair: [a, 1]", ("a", 1)),
        ("names: [a, b, a]", frozenset({"a", "b"})),
        ("sequence: [1, 2.5]", [1.0, 2.5]),
        ("limits: { yes: 1, 2: 2 }", {"yes": 1, "2": 2}),
        ("bare_list: [1, a]", [1, "a"]),
        ("bare_dict: { a: [1] }", {"a": [1]}),
        ("anything: { a: ['${WORD}', 1, null, true] }", {"a": ["word", 1, None, True]}),
        ("note: x", "x"),
        ("seconds: 2", 2.0),
        ("either: x", "x"),
        ("either: [x]", ["x"]),
        ("either: { ref: on }", Tool(ref="on")),
        ("either:", None),
        ("shape: { ref: a }", Tool(ref="a")),
        ("shape: { enum: [true] }", Outcome(enum=["true"])),
        ("shape: {}", Outcome()),
        ("number_or_text: 1", 1),
        ("number_or_text: a", "a"),
        ("number_or_text: ${N}", 3),
        ("number_or_text: ${WORD}", "word"),
        ("prose: pay ${AMOUNT} now", "pay ${AMOUNT} now"),
    ],
)
def test_what_fits(text: str, value: object) -> None:
    name = text.partition(":")[0]
    got = getattr(good(text), name)
    assert got == value
    assert type(got) is type(value)


def test_python_words_are_keys() -> None:
    assert good("as: x").as_ == "x"
    assert "`as_` is no known key" in bad("as_: x")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("text: 1", "w.yaml:1:7: error TUVL-S003: `text`: expected text, got the number 1 (quote"),
        ("text: true", "expected text, got true (quote it if it is text)"),
        ("text: [a]", "expected text, got a list"),
        ("text:", "expected text, got nothing (null)"),
        ("count: '3'", "expected a whole number, got the text '3' (remove the quotes)"),
        ("count: 3.0", "expected a whole number, got the number 3.0"),
        ("count: true", "expected a whole number, got true"),
        ("count: yes", "expected a whole number, got the text 'yes'"),
        ("count: ${WORD}", "expected a whole number, and the text '${WORD}' gives something else"),
        ("count: -1", "TUVL-S004: `count`: must be at least 0 and at most 10, got the number -1"),
        ("count: 11", "must be at least 0 and at most 10"),
        ("count: ${NOPE:99}", "must be at least 0 and at most 10"),
        ("ratio: .inf", "expected a number"),
        ("ratio: .nan", "expected a number"),
        ("ratio: -0.1", "must be at least 0, got the number -0.1"),
        ("flag: yes", "expected true or false, got the text 'yes'"),
        ("flag: 1", "expected true or false, got the number 1"),
        ("nothing: x", "expected nothing (null)"),
        ("method: get", "expected one of GET, POST, 3; got the text 'get' (did you mean `GET`?)"),
        ("method: true", "expected one of GET, POST, 3; got true"),
        ("size: xl", "expected one of s, m, l"),
        ("colour: bleu", "did you mean `blue`?"),
        ("numbers: 1", "expected a list, got the number 1"),
        ("numbers: abc", "expected a list, got the text 'abc'"),
        ("numbers: [1, a]", "w.yaml:1:14: error TUVL-S003: `numbers[1]`: expected a whole number"),
        ("numbers: [1, 2, 3, 4]", "must have at most 3, got a length of 4"),
        ("pair: [a]", "expected a list of 2 items"),
        ("limits: { a: x }", "w.yaml:1:14: error TUVL-S003: `limits.a`: expected a whole number"),
        ("limits: [a]", "expected a mapping, got a list"),
        ("either: 5", "expected a mapping or a list or text, got the number 5"),
        ("either: { rf: a, ref: b }", "`either.rf` is no known key (did you mean `ref`?)"),
        ("either: [1]", "`either[0]`: expected text"),
        ("shape: { ref: a, nope: 1 }", "`shape.nope` is no known key"),
        ("json: { a: [1, '{{ x'] }", "w.yaml:1:17: error TUVL-S007: `json.a[1]`"),
        ("delay: fast", "expected a number, got the text 'fast'"),
        ("delay: '5'", "expected a number, got the text '5' (remove the quotes)"),
        ("delay: [1]", "expected a number or a template, got a list"),
        ("headers: { X: 2 }", "`headers.X`: expected text, got the number 2"),
        ("where: a..b", "TUVL-S007: `where`"),
        ("when: 'a >'", "TUVL-S007: `when`"),
        ("when: true", "expected a condition, got true"),
        ("text: ${NOPE}", "TUVL-S005: `text`: the environment variable NOPE is not set"),
        ("text: ${1}", "TUVL-S006: `text`: the text '${1}' names no variable"),
        ("text: 'a ${'", "w.yaml:1:10: error TUVL-S006"),
        ("text: ${vault://x}", "no plugin resolves secrets of `vault://`"),
    ],
)
def test_what_does_not_fit(text: str, says: str) -> None:
    assert says in bad(text)


def test_templates_are_compiled_with_their_type() -> None:
    value = good("delay: '{{ a.b }}'\nheaders: { A: 'Bearer ${KEY}' }\njson: { a: '{{ x }}', b: 2 }")
    assert (value.delay.type, value.delay.lone) == (float, True)
    assert value.headers["A"].reveals
    assert value.headers["A"].render({}) == "Bearer sk-secret"
    assert value.json.render({"x": 7}) == {"a": 7, "b": 2}
    assert good("delay: ${N}").delay.render({}) == 3.0
    assert good("delay: 2").delay.render({}) == 2.0
    assert str(good("where: a.0.b").where) == "a.0.b"
    assert good("when: 'a > 1'").when.evaluate({"a": 2})


def test_secrets_do_not_show() -> None:
    assert good("key: ${KEY}").key == Secret("sk-secret")
    assert "12345" not in bad("key: 12345")
    environment = Environment(values={}, resolvers={"vault": lambda ref: Secret(f"<{ref}>")})
    value, problems = read("key: ${vault://a/b}\nheaders: {A: 'x ${vault://c}'}", environment=environment)
    assert not problems
    assert value.key == Secret("<a/b>")
    assert value.headers["A"].render({}) == Secret("x <c>")
    _, (problem,) = read("text: ${vault://a}", environment=environment)
    assert "a secret cannot stand here" in problem.message


def test_a_resolver_that_fails_tells_nothing_of_what_it_guards() -> None:
    def resolve(ref: str) -> str:
        raise RuntimeError("password hunter2")

    _, (problem,) = read("key: ${vault://a}", environment=Environment(resolvers={"vault": resolve}))
    assert problem.code == "TUVL-S006"
    assert "RuntimeError" in problem.message
    assert "hunter2" not in str(problem)


def test_a_variable_of_the_wrong_type_is_not_shown() -> None:
    assert "sk-secret" not in bad("count: ${KEY}")
    assert "sk-secret" not in bad("method: ${KEY}")
    assert "sk-secret" not in bad("size: ${KEY}")


def test_source_text_is_what_was_written() -> None:
    text = "agent: {model: m, outcome: {enum: [yes, no, true, 1.10, null, 0x1], output_key: 1e3}}"
    outcome = good(text, Step).agent.outcome
    assert outcome.enum == ["yes", "no", "true", "1.10", "null", "0x1"]
    assert outcome.output_key == "1e3"
    text = "agent: {model: m, outcome: {output_key: null}}"
    assert good(text, Step).agent.outcome.output_key is None


def test_every_problem_of_a_value_is_found() -> None:
    text = """\
agent:
  modl: m
  max_iterations: 2.5
  max_iteration: 2
  goal: be nice
  tools:
    - ref: a
      writes_contxt: true
    - 3
    - {}
  outcome: { enum: a, tools: [] }
tools: []
"""
    _, problems = read(text, Step)
    found = {str(item.location): f"{item.code} {item.message} | {item.hint}" for item in problems}
    assert found == {
        "w.yaml:1:1": "TUVL-S002 `agent.model` must be given | None",
        "w.yaml:2:3": "TUVL-S001 `agent.modl` is no known key | did you mean `model`?",
        "w.yaml:3:19": "TUVL-S003 `agent.max_iterations`: expected a whole number, got the number 2.5 | None",
        "w.yaml:4:3": "TUVL-S001 `agent.max_iteration` is no known key | did you mean `max_iterations`?",
        "w.yaml:5:3": "TUVL-S001 `agent.goal` is no known key | did you mean `steering`?",
        "w.yaml:8:7": "TUVL-S001 `agent.tools[0].writes_contxt` is no known key | did you mean `writes_context`?",
        "w.yaml:9:7": "TUVL-S003 `agent.tools[1]`: expected a mapping, got the number 3 | None",
        "w.yaml:10:7": "TUVL-S002 `agent.tools[2].ref` must be given | None",
        "w.yaml:11:20": "TUVL-S003 `agent.outcome.enum`: expected a list, got the text 'a' | None",
        "w.yaml:11:23": "TUVL-S001 `agent.outcome.tools` is no known key | `tools` belongs under `agent`",
        "w.yaml:12:1": "TUVL-S001 `tools` is no known key | `tools` belongs under `agent`",
    }


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("agent: { model: m, ref: x }", "`ref` belongs under `agent.tools`"),
        ("agent: { model: m, enumm: [] }", "did you mean `enum`, under `agent.outcome`?"),
        ("agent: { model: m, tools: [{ ref: a, model: m }] }", "`model` belongs under `agent`"),
        ("agent: { model: m, xyz: 1 }", "known here: max_iterations, model, outcome, steering,"),
    ],
)
def test_where_a_key_belongs(text: str, hint: str) -> None:
    assert hint in bad(text, Step)


@attrs.frozen(kw_only=True)
class Pins:
    models: tuple[str | Tool, ...] = ()
    outcome: Outcome | None = None
    tools: tuple[Tool, ...] = ()


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("tools: [find]", "write `{ ref: find }`"),
        ("tools: find", None),
        ("tools: ['find: it']", "its keys: ref, description, writes_context"),
        ("outcome: done", "its keys: enum, output_key"),
    ],
)
def test_a_text_in_the_place_of_a_mapping(text: str, hint: str | None) -> None:
    assert bad(text, Pins).endswith(f" ({hint})" if hint else ", got the text 'find'")


def test_a_class_refuses_by_its_own_validators() -> None:
    def is_even(instance: Any, attribute: Any, value: int) -> None:
        if value % 2:
            raise ValueError("must be even")

    @attrs.frozen(kw_only=True)
    class Even:
        n: int = field(default=0, validator=is_even)
        m: int = attrs.field(default=1, validator=attrs.validators.ge(1))

        def __attrs_post_init__(self) -> None:
            if self.n > self.m * 100:
                raise ValueError("`n` is too far above `m`")

    assert good("n: 2", Even) == Even(n=2)
    assert "w.yaml:1:4: error TUVL-S004: `n`: must be even" in bad("n: 3", Even)
    assert "w.yaml:1:4: error TUVL-S004: `m`: 'm' must be >= 1: 0" in bad("m: 0", Even)
    assert "`n` is too far above `m`" in bad("n: 1000", Even)


def test_a_class_that_yaml_cannot_fill_is_the_plugins_mistake() -> None:
    @attrs.frozen(kw_only=True)
    class Odd:
        when: complex = 0j

    problem = bad("when: 1", Odd)
    assert "TUVL-S008" in problem
    assert "report it to the authors of the plugin" in problem


def test_types_without_a_class() -> None:
    (document,), _ = read_text("context: [A, {models: 1}]", "w.yaml")
    value, problems = structure(
        document.data["context"],
        str | list[str],
        document=document,
        path=("context",),
        environment=ENVIRONMENT,
    )
    assert value is None
    assert str(problems[0]).startswith("w.yaml:1:14: error TUVL-S003: `context[1]`: expected text")


def test_a_class_may_hold_itself() -> None:
    value = good("children: [{ name: a, children: [{ name: true }] }]", Tree)
    assert value.children[0].children[0].name == "true"
    assert "`children[0].nam` is no known key" in bad("children: [{ nam: a }]", Tree)


@attrs.frozen(kw_only=True)
class Tree:
    name: str = field(default="", source_text=True)
    children: list[Tree] = field(factory=list)
