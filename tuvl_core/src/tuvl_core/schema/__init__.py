"""JSON Schema of what authors write, from the classes that read it."""

from __future__ import annotations

from tuvl_core.schema.build import json_schema
from tuvl_core.schema.descriptions import class_description, key_descriptions

__all__ = ["class_description", "json_schema", "key_descriptions"]
