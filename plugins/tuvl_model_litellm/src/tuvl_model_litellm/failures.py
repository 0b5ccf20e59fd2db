"""From LiteLLM's exceptions to a `ModelError` that says whether another try may help."""

from __future__ import annotations

import re
from typing import Any, Final

from tuvl_models import ModelError

__all__ = ["as_model_error"]

_RETRYABLE: Final = (
    "RateLimitError",
    "APIConnectionError",
    "ServiceUnavailableError",
    "InternalServerError",
    "BadGatewayError",
)
_LONGEST: Final = 600
_BARE: Final = re.compile(r"Error code: \d+\Z")
_NO_KEY: Final = re.compile(
    r"missing credentials|missing [\w ]{0,30}api[ _]?key|_key is not set|unable to locate credentials|api[ _]?key "
    r"(is )?(missing|not set|required)",
    re.IGNORECASE,
)
"""How LiteLLM and the clients below it say that they were given no key: mostly as a fault of the server."""
_NO_SCHEMA: Final = re.compile(r"response_?format|json[_ ]?schema|structured output|grammar", re.IGNORECASE)
"""How providers name what they refuse; there is no code for it."""


def as_model_error(litellm: Any, error: Exception, model: str) -> ModelError:
    """Say in one line what went wrong."""
    status = getattr(error, "status_code", None)
    text = _text(error)
    if _NO_KEY.search(text) is not None and not isinstance(error, litellm.RateLimitError):
        return ModelError(
            f"model {model}: no key for it: set {_variables(litellm, model)}, or `api_key` of the AgentModel"
        )
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    shown = f"model {model}: {type(error).__name__}: {text}"
    if isinstance(error, litellm.Timeout):
        return ModelError(shown, type="llm_timeout", retryable=True)
    if isinstance(error, litellm.ContentPolicyViolationError):
        return ModelError(shown, type="content_filter")
    if isinstance(error, litellm.AuthenticationError):
        shown += (
            f" (the provider takes no such key: look at `api_key` of the AgentModel, or {_variables(litellm, model)})"
        )
    return ModelError(
        shown,
        retryable=_may_pass(litellm, error, status),
        retry_after_s=_retry_after(error),
        schema_refused=_refuses_schema(litellm, error, status),
    )


def _text(error: Exception) -> str:
    """What it says, in one line; what the server said, too, where LiteLLM found no message in that."""
    text = " ".join(str(error).partition("Traceback (most recent call last)")[0].split())
    body = getattr(error, "body", None)
    return f"{text}: {body}" if body and _BARE.search(text) else text


def _may_pass(litellm: Any, error: Exception, status: Any) -> bool:
    known = tuple(cls for name in _RETRYABLE if (cls := getattr(litellm, name, None)) is not None)
    return isinstance(error, known) or status in (408, 409, 429) or (isinstance(status, int) and status >= 500)


def _refuses_schema(litellm: Any, error: Exception, status: Any) -> bool:
    """Whether the request was refused for the schema that the answer had to fit."""
    refused = status in (400, 404, 415, 422, 501) or isinstance(error, litellm.UnsupportedParamsError)
    return refused and _NO_SCHEMA.search(_text(error)) is not None


def _retry_after(error: Exception) -> float | None:
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        seconds = float(headers["retry-after"])
    except (LookupError, TypeError, ValueError):
        return None
    return seconds if 0 <= seconds < float("inf") else None


def _variables(litellm: Any, model: str) -> str:
    """The environment variables that LiteLLM takes the provider's key from."""
    try:
        names = litellm.validate_environment(model=model)["missing_keys"]
    except Exception:
        names = ()
    return " or ".join(sorted(names)) or f"{model.partition('/')[0].upper()}_API_KEY"
