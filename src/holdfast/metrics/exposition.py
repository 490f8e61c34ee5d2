"""Turns figures into OpenMetrics, and writes them to a file whole or not at all."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError, UsageError
from holdfast.metrics.families import JOB_LABELS, Face, Family, families_of
from holdfast.metrics.figures import JobFigures
from holdfast.storage.local import is_inside
from holdfast.storage.localwriter import replace_whole
from holdfast.storage.location import shown_path

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.metrics_core import Metric


def require_metrics_extra() -> None:
    """Raise HF1021 if prometheus_client is not installed."""
    if find_spec("prometheus_client") is None:
        raise UsageError("HF1021", "metrics require prometheus_client, which is not installed")


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


SUFFIX = ".prom"
"""The only files that the collector reads."""
_OURS = b"# HELP holdfast_"
"""How a file of ours begins."""


def refuse_bad_file(path: Path, checkpoints: Iterable[Path]) -> None:
    """Raise HF1023 for a place that metrics must not be written to."""
    if (reason := _bad(path, checkpoints)) is not None:
        raise UsageError("HF1023", reason, at=shown_path(str(path)))


def write_metrics(path: Path, text: bytes) -> None:
    """Replace the metrics file, so that a reader sees the old one or the new one."""
    try:
        replace_whole(path, text)
    except OSError as failure:
        raise _unwritable(path, failure) from failure


def _bad(path: Path, checkpoints: Iterable[Path]) -> str | None:
    if path.suffix != SUFFIX:
        return f"the name of the metrics file does not end in {SUFFIX}"
    folder = os.path.realpath(path.parent)
    if not Path(folder).is_dir():
        return "the directory of the metrics file does not exist"
    if any(is_inside(folder, os.path.realpath(one)) for one in checkpoints):
        return "the metrics file would be inside a checkpoint"
    if not os.access(folder, os.W_OK | os.X_OK):
        return "the directory of the metrics file cannot be written"
    if path.is_dir():
        return "the metrics file is a directory"
    if os.path.lexists(path) and not _is_ours(path):
        return "the file exists and is not a metrics file of Holdfast"
    return None


def _is_ours(path: Path) -> bool:
    """Whether the file is one that may be replaced; an empty one holds nothing."""
    try:
        with path.open("rb") as file:
            begins = file.read(len(_OURS))
    except OSError as failure:
        raise _unwritable(path, failure) from failure
    return begins in (_OURS, b"")


def _unwritable(path: Path, failure: OSError) -> HoldfastError:
    reason = (failure.strerror or "unknown reason").lower()
    message = f"the metrics file cannot be written: {reason}"
    return UsageError("HF1023", message, at=shown_path(str(path)))
