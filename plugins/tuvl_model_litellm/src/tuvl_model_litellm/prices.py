"""Sizes and list prices of models, from the file that LiteLLM brings; LiteLLM itself is not imported for it."""

from __future__ import annotations

import functools
import importlib.util
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tuvl_model_litellm.model import base_of
from tuvl_models import ModelLimits, ModelSettings

__all__ = ["limits_of"]

FILE: Final = "model_prices_and_context_window_backup.json"
SOURCE: Final = "LiteLLM's bundled prices"

# What a long question, or one that is put into a provider's cache, costs more counts; what nobody asks for here, such
# as batches or a faster service, does not.
_ASKED: Final = re.compile(r"(?:input_cost_per_token|cache_creation_input_token_cost)(?:_above_\d+k_tokens)?")
_ANSWERED: Final = re.compile(r"(?:output_cost_per_token|output_cost_per_reasoning_token)(?:_above_\d+k_tokens)?")
_BY_THE_CALL: Final = ("perplexity",)
"""Providers whose models also cost something for each call, which no price of tokens holds."""


def limits_of(settings: ModelSettings) -> ModelLimits:
    """What one call of a model can take at most; nothing but the answer's limit of a server of one's own."""
    known = _entry(settings.model) if base_of(settings) is None else None
    if known is None:
        return ModelLimits(answer_tokens=settings.max_tokens)
    asked, answered = _number(known, "max_input_tokens"), _number(known, "max_output_tokens")
    limits = [tokens for tokens in (answered, settings.max_tokens) if tokens is not None]
    dear = known.get("litellm_provider") in _BY_THE_CALL or "input_cost_per_request" in known
    return ModelLimits(
        prompt_tokens=asked,
        answer_tokens=min(limits, default=None),
        usd_per_prompt_token=None if dear else _dearest(known, _ASKED, "input_cost_per_token"),
        usd_per_answer_token=None if dear else _dearest(known, _ANSWERED, "output_cost_per_token"),
        source=SOURCE,
    )


def _entry(model: str) -> Mapping[str, Any] | None:
    """What the file says of a model string, or of the name behind its provider where that is the provider's."""
    prices = _prices()
    found = prices.get(model)
    if found is None:
        provider, _, name = model.partition("/")
        found = prices.get(name)
        if found is not None and found.get("litellm_provider") != provider:
            return None
    return found


@functools.cache
def _prices() -> Mapping[str, Mapping[str, Any]]:
    spec = importlib.util.find_spec("litellm")
    if spec is None or spec.origin is None:
        return {}
    try:
        found = json.loads((Path(spec.origin).parent / FILE).read_bytes())
    except (OSError, ValueError):
        return {}  # another version of LiteLLM may keep them elsewhere
    return {name: entry for name, entry in found.items() if isinstance(entry, dict)}


def _number(entry: Mapping[str, Any], key: str) -> int | None:
    value = entry.get(key)
    return int(value) if isinstance(value, (int, float)) and value > 0 else None


def _dearest(entry: Mapping[str, Any], keys: re.Pattern[str], needed: str) -> float | None:
    """The dearest of several prices of a token; None where the file has none."""
    if not isinstance(entry.get(needed), (int, float)):
        return None
    return max(float(value) for key, value in entry.items() if keys.fullmatch(key) and isinstance(value, (int, float)))
