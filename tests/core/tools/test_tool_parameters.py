"""Parameters derived from what a step declares."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuvl_core.kinds import Keys, StepKind
from tuvl_core.templates import Template, compile_condition, parse_path
from tuvl_core.tools import ToolSpec, derive_parameters


@attrs.frozen(kw_only=True)
class Step:
    """As much of a step as derivation looks at."""

    config: Any
    id: str = "step"


@attrs.frozen(kw_only=True)
class Http:
    url: Template[str] = Template.of("")
    params: dict[str, Template[Any]] = attrs.field(factory=dict)
    json: Template[Any] | None = None
    timeout: Template[float] = Template.of(30)
    retries: Template[int | None] = Template.of(None)
    verify: Template[bool] = Template.of(True)


@attrs.frozen(kw_only=True)
class Config:
    http: Http = Http()
    extra: Any = None


PLAN: Any = object()


def derive(config: Any, kind: type[StepKind] = StepKind) -> dict[str, Any]:
    parameters = derive_parameters(Step(config=config), PLAN, kind())
    ToolSpec(ref="t", wire_name="t", description="d", parameters=parameters)
    return parameters


def of(*texts: str) -> Config:
    return Config(http=Http(params={str(i): Template.of(text) for i, text in enumerate(texts)}))


def test_variables_are_strings_and_required_where_they_must_not_be_missing() -> None:
    config = Config(
        http=Http(
            url=Template.of("https://x.test/{{ order_id }}"),
            json=Template.of({"q": ["{{ query | default('') }}"], "n": "{{ note or 'none' }}"}),
        )
    )
    assert derive(config) == {
        "type": "object",
        "properties": {
            "order_id": {"type": "string"},
            "query": {"type": "string"},
            "note": {"type": "string"},
        },
        "required": ["order_id", "note"],
        "additionalProperties": False,
    }


def test_a_lone_variable_has_the_type_of_the_field_it_fills() -> None:
    http = Http(
        timeout=Template.of("{{ seconds }}", float),
        retries=Template.of("{{ retries }}", int | None),
        verify=Template.of("{{ verify }}", bool),
    )
    assert derive(Config(http=http))["properties"] == {
        "seconds": {"type": "number"},
        "retries": {"type": "integer"},
        "verify": {"type": "boolean"},
    }


def test_a_dotted_variable_is_an_object_that_holds_it() -> None:
    parameters = derive(of("{{ order.customer.id }} {{ order.note | default(1) }} {{ tags.1.name }}"))
    assert parameters["properties"] == {
        "order": {
            "type": "object",
            "properties": {
                "customer": {
                    "type": "object",
                    "properties": {"id": {"type": "string"}},
                    "required": ["id"],
                },
                "note": {"type": "string"},
            },
            "required": ["customer"],
        },
        "tags": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}},
                "required": ["name"],
            },
            "minItems": 2,
        },
    }


@pytest.mark.parametrize("name", ["tenant_id", "user_id", "principal", "_run_id", "_last_error"])
def test_the_runs_identity_and_the_engines_names_are_never_parameters(name: str) -> None:
    parameters = derive(of("{{ " + name + " }} {{ order_id }}"))
    assert list(parameters["properties"]) == ["order_id"]
    spec = ToolSpec(ref="t", wire_name="t", description="d", parameters=parameters)
    assert spec.check({"order_id": "1", name: "x"})[1] is not None


def test_conditions_and_paths_in_a_config_count() -> None:
    config = Config(extra=[compile_condition("amount > 1"), parse_path("order.id")])
    assert derive(config)["properties"] == {
        "amount": {"type": "string"},
        "order": {
            "type": "object",
            "properties": {"id": {"type": "string"}},
        },
    }


def test_without_variables_the_schema_is_open_unless_the_step_reads_nothing() -> None:
    class Known(StepKind):
        reads: ClassVar[Any] = Keys()

    class Some(StepKind):
        reads: ClassVar[Any] = Keys("amount")

    open_schema = {"type": "object", "properties": {}, "additionalProperties": True}
    assert derive(Config()) == open_schema
    assert derive(None) == open_schema
    assert derive(Config(), Some) == open_schema
    assert derive(Config(), Known) == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }


def test_what_the_kind_declares_counts() -> None:
    declared = {"type": "object", "properties": {"x": {"type": "integer"}}}

    class Constant(StepKind):
        tool_parameters: ClassVar[Any] = declared

    class Computed(StepKind):
        def tool_parameters(self, step: Any, plan: Any) -> Any:
            return {"properties": {step.id: {}}}

    assert derive(of("{{ other }}"), Constant) == declared
    assert derive(of("{{ other }}"), Constant) is not declared
    assert derive(of("{{ other }}"), Computed) == {"properties": {"step": {}}}


PATHS = st.lists(
    st.lists(st.sampled_from(["a", "b", "c", "0", "2"]), max_size=2).map(lambda rest: ".".join(["root", *rest]))
    | st.sampled_from(["x", "y.z"]),
    max_size=4,
)


def example_of(schema: dict[str, Any]) -> Any:
    """The smallest value that a derived schema accepts."""
    if schema["type"] == "object":
        names = schema.get("required", ())
        return {name: example_of(schema["properties"][name]) for name in names}
    if schema["type"] == "array":
        return [example_of(schema["items"])] * schema["minItems"]
    return "text"


@given(PATHS)
def test_arguments_that_fit_the_derived_schema_satisfy_the_templates(paths: list[str]) -> None:
    config = of(*["{{ " + path + " }}" for path in paths])
    parameters = derive(config)
    arguments, error = ToolSpec(ref="t", wire_name="t", description="d", parameters=parameters).check(
        example_of(parameters)
    )
    assert error is None
    assert arguments is not None
    for template in config.http.params.values():
        template.render(arguments)
