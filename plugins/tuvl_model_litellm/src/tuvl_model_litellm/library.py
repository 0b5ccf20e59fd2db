"""Imports LiteLLM on first use, with everything off that would reach for the network by itself.

The import takes seconds and 200 MB, so it happens in a thread, once, when a model is first asked.
"""

from __future__ import annotations

import asyncio
import os
import threading
import warnings
from typing import Any

__all__ = ["library"]

_lock = threading.Lock()
_litellm: Any = None


async def library() -> Any:
    """The module `litellm`, imported and quiet."""
    return _litellm if _litellm is not None else await asyncio.to_thread(_load)


def _load() -> Any:
    global _litellm
    with _lock:
        if _litellm is not None:
            return _litellm
        # Without it, LiteLLM looks for a newer price map on the network when it is imported.
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import litellm
        litellm.telemetry = False
        litellm.suppress_debug_info = True
        litellm.disable_hf_tokenizer_download = True
        litellm.success_callback = []
        litellm.failure_callback = []
        litellm.callbacks = []
        litellm.num_retries = 0
        _litellm = litellm
        return litellm
