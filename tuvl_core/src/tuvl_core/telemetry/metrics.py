"""Instruments that are made when somebody collects, and cost a look-up until then."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

__all__ = ["Counter", "Histogram", "counter", "histogram", "metrics_active"]

_INACTIVE: Final = frozenset({"_ProxyMeterProvider", "NoOpMeterProvider"})


class Counter(Protocol):
    """Something that counts."""

    def add(self, amount: int, attributes: Mapping[str, Any] | None = None) -> None:
        """Count something."""
        ...


class Histogram(Protocol):
    """Something that keeps how values are spread."""

    def record(self, amount: float, attributes: Mapping[str, Any] | None = None) -> None:
        """Keep a value."""
        ...


def _provider() -> Any:
    """The meter provider that collects, if there is one."""
    metrics = sys.modules.get("opentelemetry.metrics")
    if metrics is None:
        return None
    provider = metrics.get_meter_provider()
    return None if type(provider).__name__ in _INACTIVE else provider


def metrics_active() -> bool:
    """Whether a meter provider that collects is installed in this process."""
    return _provider() is not None


class _Lazy:
    """An instrument of whatever provider is installed at the time."""

    __slots__ = ("_instrument", "_make", "_meter", "_of", "_options")

    def __init__(self, make: str, meter: str, options: Mapping[str, Any]) -> None:
        self._make, self._meter, self._options = make, meter, options
        self._instrument: Any = None
        self._of: Any = None

    def _now(self) -> Any:
        provider = _provider()
        if provider is None or provider is self._of:
            return self._instrument if provider is not None else None
        self._instrument = getattr(provider.get_meter(self._meter), self._make)(**self._options)
        self._of = provider
        return self._instrument

    def add(self, amount: int, attributes: Mapping[str, Any] | None = None) -> None:
        instrument = self._now()
        if instrument is not None:
            instrument.add(amount, attributes)

    def record(self, amount: float, attributes: Mapping[str, Any] | None = None) -> None:
        instrument = self._now()
        if instrument is not None:
            instrument.record(amount, attributes)


def counter(meter: str, name: str, *, unit: str = "1", description: str = "") -> Counter:
    """Name a counter of a meter; safe to call at import, costs nothing until metrics are collected.

    Args:
        meter: The meter's name, such as `tuvl.agent`.
        name: The counter's name.
        unit: What it counts, as a UCUM unit: `{run}`.
        description: One line for people.
    """
    return _Lazy("create_counter", meter, {"name": name, "unit": unit, "description": description})


def histogram(
    meter: str, name: str, *, unit: str, description: str = "", boundaries: Sequence[float] | None = None
) -> Histogram:
    """Name a histogram of a meter; safe to call at import, costs nothing until metrics are collected.

    Args:
        meter: The meter's name.
        name: The histogram's name.
        unit: The unit of its values, in UCUM: `s`.
        description: One line for people.
        boundaries: The upper bounds of its buckets, where nobody who collects wants others.
    """
    options: dict[str, Any] = {"name": name, "unit": unit, "description": description}
    if boundaries is not None:
        options["explicit_bucket_boundaries_advisory"] = list(boundaries)
    return _Lazy("create_histogram", meter, options)
