"""Turns figures into OpenMetrics, through prometheus_client."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

from holdfast.errors import UsageError
from holdfast.metrics.families import JOB_LABELS, Face, Family, families_of
from holdfast.metrics.figures import JobFigures

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.metrics_core import Metric


def require_metrics_extra() -> None:
    """Raise HF1021 if prometheus_client is not installed."""
    if find_spec("prometheus_client") is None:
        raise UsageError("HF1021", "metrics need prometheus_client, which is not installed")


def registry_of(face: Face, figures: Callable[[], Iterable[JobFigures]]) -> CollectorRegistry:
    """Return a registry that asks for the figures whenever it is collected."""
    from prometheus_client import CollectorRegistry

    registry = CollectorRegistry()
    registry.register(_Collector(face, figures))
    return registry


def metrics_text(face: Face, figures: Iterable[JobFigures]) -> bytes:
    """Return the figures as OpenMetrics text."""
    from prometheus_client.openmetrics.exposition import generate_latest

    known = tuple(figures)
    text: bytes = generate_latest(registry_of(face, lambda: known))  # type: ignore[no-untyped-call]
    return text


class _Collector:
    """What prometheus_client asks for metrics."""

    def __init__(self, face: Face, figures: Callable[[], Iterable[JobFigures]]) -> None:
        self._families = families_of(face)
        self._figures = figures

    def describe(self) -> Iterator[Metric]:
        """Yield every family without samples."""
        return map(_metric, self._families)

    def collect(self) -> Iterator[Metric]:
        """Yield every family that has samples now."""
        figures, now = list(self._figures()), time.time()
        for family in self._families:
            metric = _metric(family)
            labels = (*JOB_LABELS, *family.labels)
            for one in figures:
                for values, number in family.samples(one, now):
                    metric.add_sample(family.name, dict(zip(labels, values, strict=True)), number)
            if metric.samples:
                yield metric


def _metric(family: Family) -> Metric:
    from prometheus_client.metrics_core import Metric

    kind = "counter" if family.is_counter else "gauge"
    return Metric(family.name.removesuffix("_total"), family.help, kind, family.unit)
