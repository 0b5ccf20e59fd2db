"""The endpoint that Prometheus scrapes."""

from __future__ import annotations

import asyncio
from typing import Any

__all__ = ["metrics"]


async def metrics(request: Any) -> Any:
    """Answer `GET /metrics` in the format that the scraper asks for.

    Args:
        request: A Starlette `Request`.

    Returns:
        A Starlette `Response`; 404 where the process has providers of somebody else.
    """
    from prometheus_client.exposition import choose_encoder
    from starlette.responses import PlainTextResponse, Response

    from tuvl_otel.providers import registry

    found = registry()
    if found is None:
        return PlainTextResponse("metrics are collected by providers of another\n", status_code=404)
    encode, content_type = choose_encoder(request.headers.get("accept", ""))
    body = await asyncio.to_thread(encode, found)
    return Response(body, headers={"content-type": content_type})
