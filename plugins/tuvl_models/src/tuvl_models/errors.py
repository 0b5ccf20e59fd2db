"""What can go wrong with a model call."""

from __future__ import annotations

from typing import Literal

from tuvl_core import TuvlError

__all__ = ["ModelError"]

ModelErrorType = Literal["llm_error", "llm_timeout", "content_filter"]


class ModelError(TuvlError):
    """A model gave no answer.

    Args:
        message: What went wrong. Never a key or a header.
        type: Becomes `_last_error_type`.
        retryable: Whether another try may help: a rate limit, a lost connection, a server's fault.
        retry_after_s: How long the provider asks to wait before that.
        attempts: How many calls were made.
        schema_refused: The provider does not take the JSON Schema that the answer had to fit; asked without
            one, it may answer.
    """

    def __init__(
        self,
        message: str,
        *,
        type: ModelErrorType = "llm_error",
        retryable: bool = False,
        retry_after_s: float | None = None,
        attempts: int = 1,
        schema_refused: bool = False,
    ) -> None:
        super().__init__(message)
        self.type = type
        self.retryable = retryable
        self.retry_after_s = retry_after_s
        self.attempts = attempts
        self.schema_refused = schema_refused
