"""Sizes and prices of models, from LiteLLM's list, without LiteLLM."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from tuvl_model_litellm import prices
from tuvl_models import ModelSettings

LIST: dict[str, dict[str, Any]] = {
    "gpt-x": {
        "litellm_provider": "openai",
        "max_input_tokens": 1000,
        "max_output_tokens": 200,
        "input_cost_per_token": 1.0,
        "input_cost_per_token_above_128k_tokens": 2.0,
        "input_cost_per_token_batches": 9.0,
        "input_cost_per_token_priority": 9.0,
        "cache_creation_input_token_cost": 1.5,
        "output_cost_per_token": 3.0,
        "output_cost_per_reasoning_token": 4.0,
    },
    "acme/own": {"litellm_provider": "acme", "input_cost_per_token": 1.0, "output_cost_per_token": 1.0},
    "by-the-call": {
        "litellm_provider": "openai",
        "max_input_tokens": 10,
        "max_output_tokens": 10,
        "input_cost_per_request": 1.0,
        "input_cost_per_token": 1.0,
        "output_cost_per_token": 1.0,
    },
    "by-time": {"litellm_provider": "openai", "input_cost_per_second": 1.0, "output_cost_per_token": 1.0},
}


@pytest.fixture(autouse=True)
def listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prices, "_prices", lambda: LIST)


def limits(model: str, **more: Any) -> Any:
    return prices.limits_of(ModelSettings(model=model, **more))


def test_the_dearest_price_that_may_be_asked_counts():
    found = limits("openai/gpt-x")
    assert (found.usd_per_prompt_token, found.usd_per_answer_token) == (2.0, 4.0)
    assert found.call_tokens == 1200 and found.usd_per_call == 1000 * 2.0 + 200 * 4.0
    assert found.calls_in_an_answer == 200


def test_max_tokens_bounds_an_answer():
    assert limits("openai/gpt-x", max_tokens=50).answer_tokens == 50
    assert limits("openai/gpt-x", max_tokens=5000).answer_tokens == 200


@pytest.mark.parametrize("model", ["azure/gpt-x", "openai/unheard-of", "unheard-of"])
def test_another_provider_s_model_is_another_model(model: str):
    found = limits(model, max_tokens=7)
    assert found.call_tokens is None and found.usd_per_call is None and found.answer_tokens == 7


def test_the_full_name_counts_first():
    found = limits("acme/own")
    assert found.usd_per_prompt_token == 1.0 and found.usd_per_call is None  # how much it holds is not known


@pytest.mark.parametrize("model", ["openai/by-the-call", "openai/by-time"])
def test_what_is_not_paid_by_the_token_alone_has_no_known_price(model: str):
    assert limits(model).usd_per_call is None


def test_a_server_of_one_s_own_is_another_model():
    found = limits("openai/gpt-x", api_base="https://llm.example.com", max_tokens=9)
    assert (found.call_tokens, found.usd_per_call, found.answer_tokens) == (None, None, 9)


def test_the_list_is_read_without_litellm():
    script = (
        "import sys; from tuvl_model_litellm.prices import limits_of; from tuvl_models import ModelSettings; "
        "found = limits_of(ModelSettings(model='openai/gpt-4o-mini')); "
        "print(found.call_tokens, 'litellm' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["144384", "False"]
