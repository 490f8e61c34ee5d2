"""Figures and scrapes for the tests of metrics."""

from __future__ import annotations

import urllib.request
from collections.abc import Mapping

from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from holdfast.metrics.figures import Counted, JobFigures, LastRun
from holdfast.records.run import Measures, OperatorState, SourceLag

OPENMETRICS = "application/openmetrics-text; version=1.0.0"
MEASURES = Measures(
    7,
    {"addBatch": 1.5, "triggerExecution": 2.25},
    (OperatorState(0, "stateStoreSave", 12, 4096),),
    (
        SourceLag("orders", 10, "records"),
        SourceLag("orders", 3, "files"),
        SourceLag("orders", 2, "table versions"),
        SourceLag("orders", 512, "bytes"),
        SourceLag("orders", 4, "steps"),
    ),
)
EVERYTHING = JobFigures(
    "shop", "orders", "running", up=True, ended=False, failed=False, batch_id=7, batch_rows=100,
    pending=8, committed=1000.0, measures=MEASURES, lease_held=True, generation=3,
    counted=Counted(5, 500, 1, 2), last_run=LastRun(4, 400, 0, 9.5), looked_at=1010.0,
)  # fmt: skip
"""A job of which everything is known."""

Scraped = Mapping[tuple[str, frozenset[tuple[str, str]]], float]


def families_in(text: str) -> list[Metric]:
    """Return what the real parser of OpenMetrics reads."""
    return [*text_string_to_metric_families(text)]  # type: ignore[no-untyped-call]


def parsed(text: str) -> Scraped:
    """Return every sample by its name and labels."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in families_in(text)
        for sample in family.samples
    }


def scrape(url: str) -> Scraped:
    """Return what the server shows to Prometheus now."""
    request = urllib.request.Request(url, headers={"Accept": OPENMETRICS})
    with urllib.request.urlopen(request, timeout=10) as answer:
        assert answer.headers["Content-Type"].startswith("application/openmetrics-text")
        return parsed(answer.read().decode())


def value(scraped: Scraped, name: str, job: str, project: str = "shop", **labels: str) -> float:
    """Return one sample; KeyError if it is absent."""
    return scraped[name, frozenset({"project": project, "job": job, **labels}.items())]


def names_of(scraped: Scraped, job: str) -> set[str]:
    """Return the names of a job's samples."""
    return {name for name, labels in scraped if ("job", job) in labels}
