"""What tuvl-otel brings: providers of the OpenTelemetry SDK, `/metrics`, and log lines as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tuvl_core import hookimpl

if TYPE_CHECKING:
    from tuvl_core import App, AppScope, HttpRoute, RunService, Setting

TUVL_API = 1


@hookimpl
def tuvl_settings() -> list[Setting]:
    """What is exported, and where to; most of it by OpenTelemetry's own variables."""
    from tuvl_otel.options import settings

    return settings()


@hookimpl
def tuvl_app_scope(app: App) -> AppScope | None:
    """Install what the settings ask for; nothing is imported where they ask for nothing."""
    from tuvl_otel.options import Options

    options = Options.of(app.settings)
    if not options.wanted:
        return None
    from tuvl_otel.scope import OtelScope

    return OtelScope(options)


@hookimpl(optionalhook=True)
def tuvl_http_routes(service: RunService) -> list[HttpRoute]:
    """`GET /metrics`, where metrics go to Prometheus."""
    from tuvl_core import HttpRoute
    from tuvl_otel.options import Options

    settings = service.app.settings
    if "prometheus" not in Options.of(settings).metrics:
        return []
    from tuvl_otel.scraping import metrics

    return [
        HttpRoute(
            path="/metrics",
            endpoint=metrics,
            public=settings["otel.metrics_public"],
            help="What Prometheus scrapes: counters and histograms of this worker.",
        )
    ]
