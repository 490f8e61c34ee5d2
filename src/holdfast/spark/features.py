"""Tells which Java libraries jobs need beside Spark, from what they read and write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdfast.jobs.ready import ReadyJob
from holdfast.storage.schemes import SCHEMES

DELTA = "delta"
KAFKA = "kafka"
S3 = "s3"
POSTGRES = "postgres"

_BY_FORMAT = {"delta": DELTA, "kafka": KAFKA}
_POSTGRES_URL = "jdbc:postgresql:"


def features_of(jobs: Sequence[ReadyJob]) -> frozenset[str]:
    """Give `delta`, `kafka`, `s3` and `postgres`, each where some job needs it."""
    return frozenset(feature for job in jobs for feature in _features(job))


def _features(job: ReadyJob) -> Iterator[str]:
    for kind in (job.sink.format, *(source.format for source in job.sources)):
        if feature := _BY_FORMAT.get(kind.lower()):
            yield feature
    if any(_is_s3(place) for place in _places(job)):
        yield S3
    if any(url.lower().startswith(_POSTGRES_URL) for url in _urls(job)):
        yield POSTGRES


def _places(job: ReadyJob) -> Iterator[str]:
    yield job.checkpoint.url
    yield from (job.sink.path or "", job.sink.options.get("path", ""))
    for source in job.sources:
        yield from (source.path or "", source.options.get("path", ""))


def _urls(job: ReadyJob) -> Iterator[str]:
    # The sink `postgres` is written without the JVM.
    if job.sink.format != "postgres":
        yield from (job.sink.url or "", job.sink.options.get("url", ""))
    for source in job.sources:
        yield source.options.get("url", "")


def _is_s3(place: str) -> bool:
    scheme, separator, _ = place.partition("://")
    return bool(separator) and SCHEMES.get(scheme.lower()) == "s3"
