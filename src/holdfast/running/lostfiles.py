"""Finds files of a pending batch that are gone, before Spark runs the batch without them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from holdfast.checkpoint.picture import Picture
from holdfast.diagnosis.inspection.sourcefiles import (
    NamesIn,
    look_for_pending,
    lost_files,
    may_be_missing,
    names_with,
)
from holdfast.findings import Finding
from holdfast.jobs.ready import ReadyJob
from holdfast.records.facts import SourceFacts
from holdfast.storage.location import Location
from holdfast.storage.options import StorageSettings

_LISTED_SECONDS = 5.0
"""How long the storage of a source may take; nobody waits for one that does not answer."""


def lost_before_start(
    job: ReadyJob, picture: Picture, settings: Mapping[str, str]
) -> Finding | None:
    """Return that the batch which a start runs again needs files that are gone.

    `settings` are those of Spark: one of them, and options of a source, can say that files may be
    missing.
    """
    # A program gives the settings of its checkpoint; those of its sources are Spark's alone.
    only = () if job.project is not None else (job.checkpoint.scheme,)
    options = [source.options for source in job.sources]
    return _lost(picture, {**settings, **job.conf}, options, names_with(job.settings, only=only))


def lost_before_program(
    sources: Collection[SourceFacts],
    checkpoint: Location,
    storage: StorageSettings,
    picture: Picture,
    settings: Mapping[str, str],
) -> Finding | None:
    """Return the same of a program's query."""
    names_in = names_with(storage, only=(checkpoint.scheme,), timeout=_LISTED_SECONDS)
    return _lost(picture, settings, [one.options for one in sources], names_in)


def _lost(
    picture: Picture,
    settings: Mapping[str, str],
    options: Iterable[Mapping[str, str]],
    names_in: NamesIn,
) -> Finding | None:
    if picture.pending is None or may_be_missing(settings, options):
        return None
    return lost_files(picture.pending, look_for_pending(picture, names_in, here=True))
