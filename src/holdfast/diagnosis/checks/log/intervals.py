"""The distances between compact entries of a log of files."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise

from holdfast.diagnosis.inspection.subject import Subject
from holdfast.findings import Finding, Place, Severity
from holdfast.ledgers.sparkfilesink import LOG_FOLDER


def check_compaction_interval(subject: Subject) -> Iterator[Finding]:
    """Mention a log whose compact entries are not evenly apart."""
    for name in sorted(subject.picture.source_logs):
        compact = subject.picture.layout.sources[name].compact_ids
        if _distances(compact):
            yield _finding(f"sources/{name}", Place(f"sources/{name}"), compact)
    log = subject.sink.files if subject.sink is not None else None
    if log is not None and _distances(log.compact_ids):
        yield _finding(LOG_FOLDER, Place("", root=log.location), log.compact_ids)


def _distances(compact: Collection[int]) -> bool:
    """Tell whether the distances differ."""
    return len({after - before for before, after in pairwise(sorted(compact))}) > 1


def _finding(what: str, place: Place, compact: Collection[int]) -> Finding:
    newest = sorted(compact)[-10:]
    message = f"{what} was compacted at {', '.join(map(str, newest))}: the interval changed"
    return Finding("HF2308", Severity.INFO, message, place, {"compact_ids": newest})
