"""The settings, and what they come to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import unquote

import attrs

from tuvl_core import Setting, Settings, SettingsError

__all__ = ["Options", "settings"]

_TRACES: Final = ("otlp", "console", "none")
_METRICS: Final = ("otlp", "console", "prometheus", "none")


def settings() -> list[Setting]:
    """Declare them."""
    return [*_exporting(), *_showing()]


def _exporting() -> list[Setting]:
    return [
        Setting(
            name="otel.traces",
            type=tuple,
            default=(),
            env="OTEL_TRACES_EXPORTER",
            help="Where spans go: `otlp`, `console`. Empty: to `otlp` if `otel.endpoint` is set, else nowhere.",
        ),
        Setting(
            name="otel.metrics",
            type=tuple,
            default=(),
            env="OTEL_METRICS_EXPORTER",
            help="Where metrics go: `otlp`, `console`, `prometheus` (at /metrics). Empty: as for `otel.traces`.",
        ),
        Setting(
            name="otel.endpoint",
            default="",
            env="OTEL_EXPORTER_OTLP_ENDPOINT",
            help="A collector that takes OTLP over HTTP: `http://localhost:4318`.",
        ),
        Setting(
            name="otel.headers",
            default="",
            env="OTEL_EXPORTER_OTLP_HEADERS",
            secret=True,
            help="Headers for the collector: `name=value,name=value`, values percent-encoded.",
        ),
        Setting(
            name="otel.service_name",
            default="tuvl",
            env="OTEL_SERVICE_NAME",
            help="What this service is called in traces and metrics.",
        ),
        Setting(
            name="otel.disabled",
            type=bool,
            default=False,
            env="OTEL_SDK_DISABLED",
            help="Install no providers, whatever else is set.",
        ),
        Setting(
            name="otel.flush_s",
            type=float,
            default=3.0,
            minimum=0,
            help="Seconds that the end of the process may wait for a collector.",
        ),
    ]


def _showing() -> list[Setting]:
    return [
        Setting(
            name="otel.metrics_public",
            type=bool,
            default=False,
            help="Let anybody read /metrics; otherwise callers must be known to the server.",
        ),
        Setting(
            name="otel.log_format",
            default="off",
            choices=("json", "console", "off"),
            help="How the `tuvl` command writes log lines: `json`, `console`, or `off`: as ever.",
        ),
        Setting(
            name="otel.log_level",
            default="info",
            choices=("debug", "info", "warning", "error"),
            help="The least level of tuvl's own lines with `otel.log_format`; `--debug` goes below it.",
        ),
    ]


@attrs.frozen(kw_only=True)
class Options:
    """What is to be installed.

    Attributes:
        traces: Exporters of spans: `otlp`, `console`.
        metrics: Exporters of metrics: `otlp`, `console`, `prometheus`.
        endpoint: The collector's base address; empty: the SDK's own default.
        headers: For the collector; None: none of ours.
        service_name: What this service is called.
        flush_s: Seconds that the end may take.
        log_format: `json`, `console` or `off`.
        log_level: The least level of tuvl's lines.
    """

    traces: frozenset[str]
    metrics: frozenset[str]
    endpoint: str
    headers: dict[str, str] | None = attrs.field(repr=False)
    service_name: str
    flush_s: float
    log_format: str
    log_level: str

    @classmethod
    def of(cls, values: Settings) -> Options:
        """Read them.

        Raises:
            SettingsError: An exporter has a name that is none.
        """
        endpoint = values["otel.endpoint"]
        usual = ("otlp",) if endpoint else ()
        disabled = values["otel.disabled"]
        traces = _exporters("otel.traces", values["otel.traces"] or usual, _TRACES)
        metrics = _exporters("otel.metrics", values["otel.metrics"] or usual, _METRICS)
        return cls(
            traces=frozenset() if disabled else traces,
            metrics=frozenset() if disabled else metrics,
            endpoint=endpoint.rstrip("/"),
            headers=_headers(values["otel.headers"]),
            service_name=values["otel.service_name"],
            flush_s=values["otel.flush_s"],
            log_format=values["otel.log_format"],
            log_level=values["otel.log_level"],
        )

    @property
    def wanted(self) -> bool:
        """Whether they ask for anything."""
        return bool(self.traces or self.metrics) or self.log_format != "off"


def _exporters(setting: str, named: Iterable[str], known: tuple[str, ...]) -> frozenset[str]:
    found = {name.lower() for name in named}
    for name in sorted(found):
        if name not in known:
            raise SettingsError(f"setting {setting}: there is no exporter {name!r}; there are: {', '.join(known)}")
    return frozenset(found - {"none"})


def _headers(text: Any) -> dict[str, str] | None:
    pairs = (part.partition("=") for part in str(text).split(",") if "=" in part)
    return {unquote(name).strip().lower(): unquote(value).strip() for name, _, value in pairs} or None
