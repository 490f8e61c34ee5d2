"""Partitions of all stores side by side: each holds the state of the newest committed batch."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.checkpoint.recovery.goingon import going_on
from holdfast.checkpoint.recovery.state import state_failure
from holdfast.checkpoint.statefiles import PartitionFiles
from holdfast.checkpoint.writer import start_releases
from holdfast.diagnosis.inspection.state import every_partition, place_of
from holdfast.diagnosis.inspection.subject import Subject
from holdfast.findings import Finding, Place, Severity

_MOST_NAMED = 20


def check_partition_versions(subject: Subject) -> Iterator[Finding]:
    """Report partitions that end at an older version than others: a part of a copy, or a loss."""
    picture = subject.picture
    committed = picture.newest_commit_id
    if committed is None:
        return
    newest: dict[str, int] = {}
    found: dict[str, PartitionFiles] = {}
    for operator, store, partition, files in every_partition(picture):
        found[place_of(operator, store, partition)] = files
        # What a pending batch wrote may be in some partitions alone.
        versions = [version for version in files.versions() if version <= committed + 1]
        newest[place_of(operator, store, partition)] = max(versions, default=0)
    last = max(newest.values(), default=0)
    behind = {place: version for place, version in newest.items() if version < last}
    if behind:
        first = min(behind, key=lambda place: (behind[place], place))
        path = found[first].missing_path(first, behind[first] + 1)
        message = (
            f"{len(behind)} of {len(newest)} partitions end at an older version of the state than "
            f"the others: {first} at {behind[first]}, others at {last}; {path} is missing"
        )
        evidence = {"newest_version": last, "behind": dict(list(behind.items())[:_MOST_NAMED])}
        release = start_releases(picture)[0]
        fails = state_failure(picture, going_on(picture), release) is not None
        severity = Severity.FATAL if fails else Severity.ERROR
        yield Finding("HF2317", severity, message, Place(path), evidence)
