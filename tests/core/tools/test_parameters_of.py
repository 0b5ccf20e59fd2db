"""Parameters of the variables in a value, for kinds that know more than the types of their fields."""

from __future__ import annotations

from tuvl_core import Template, check_parameters, parameters_of

NOTHING = {"type": "object", "properties": {}, "additionalProperties": False}


def test_a_value_that_reads_nothing():
    assert parameters_of({}) == NOTHING
    assert parameters_of([Template.of("plain"), 3, None]) == NOTHING


def test_schemas_are_asked_for_variables_that_stand_alone():
    asked = []

    def schema_of(template):
        asked.append(template.source)
        return {"enum": [1, 2]}

    lone, text = Template.of("{{ a }}"), Template.of("x{{ b }}")
    defaulted, computed = Template.of("{{ c | default(1) }}"), Template.of("{{ d | upper }}")
    found = parameters_of([lone, text, defaulted, computed], schema_of)
    assert asked == [lone.source, defaulted.source]
    assert found["properties"] == {
        "a": {"enum": [1, 2]}, "b": {"type": "string"}, "c": {"enum": [1, 2]}, "d": {"type": "string"},
    }  # fmt: skip
    assert found["required"] == ["a", "b", "d"]
    assert check_parameters(found) is None


def test_the_type_of_the_field_counts_where_no_schema_is_known():
    fields = [Template.of("{{ a }}", type=float), Template.of("{{ b | default(3) }}", type=int)]
    assert parameters_of(fields, lambda template: None)["properties"] == {
        "a": {"type": "number"},
        "b": {"type": "integer"},
    }


def test_two_variables_in_a_default_are_strings():
    found = parameters_of([Template.of("{{ a | default(b) }}", type=int)])
    assert found["properties"]["a"] == {"type": "string"}


def test_names_of_the_run_are_left_out():
    assert parameters_of([Template.of("{{ tenant_id }}{{ _run_id }}")]) == NOTHING
