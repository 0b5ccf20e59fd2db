"""From plain data to attrs classes: strict, with every problem located and explained."""

from __future__ import annotations

from tuvl_core.structure.codes import CODES
from tuvl_core.structure.environment import Environment, SecretResolver
from tuvl_core.structure.fields import Key, Meaning, field, keys_of
from tuvl_core.structure.levels import Level, level_of, suggest
from tuvl_core.structure.nearest import did_you_mean
from tuvl_core.structure.plain import plain_data
from tuvl_core.structure.problems import shown_path
from tuvl_core.structure.read import structure

__all__ = [
    "CODES",
    "Environment",
    "Key",
    "Level",
    "Meaning",
    "SecretResolver",
    "did_you_mean",
    "field",
    "keys_of",
    "level_of",
    "plain_data",
    "shown_path",
    "structure",
    "structured",
    "suggest",
]

structured = structure
"""Its name in `tuvl_core`, where this package itself is `structure`."""
