"""Templates, conditions and dotted paths: how a workflow reads its context.

`{{ expression }}` in a text stands for a value. The language is a small closed subset of Jinja's
expressions: dotted paths, literals, comparisons, `and`/`or`/`not`/`in`, arithmetic on numbers,
inline `if`, `is` tests and an allow-list of filters. It calls nothing, reaches no attribute of an
object, and what it computes is bounded. `{%` and `{#` are plain text.
"""

from __future__ import annotations

from tuvl_core.templates.expressions import Condition, Expression, compile_condition, compile_expression
from tuvl_core.templates.nodes import Read
from tuvl_core.templates.paths import Path, parse_path
from tuvl_core.templates.template import Template, reads_of
from tuvl_core.templates.values import compare, is_empty, text_of, truth

__all__ = [
    "Condition",
    "Expression",
    "Path",
    "Read",
    "Template",
    "compare",
    "compile_condition",
    "compile_expression",
    "is_empty",
    "parse_path",
    "reads_of",
    "text_of",
    "truth",
]
