"""State that only grows: its snapshots get larger, and no watermark ever removes from it."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.statefiles import OperatorFiles, PartitionFiles
from holdfast.diagnosis.checks.state.rockssnapshots import snapshot_bytes
from holdfast.diagnosis.inspection.subject import Subject
from holdfast.findings import Finding, Place, Severity

LARGE_STATE_BYTES = 256 * 1024 * 1024
GROWN = 1.2
_CLEANED_BY_WATERMARK = (
    "stateStoreSave",
    "StatefulStreamlineAggregate",
    "dedupe",
    "symmetricHashJoin",
    "sessionWindowStateStoreSaveExec",
)
"""Other operators remove state by other means: their own code, timers, times to live."""

Sizes = tuple[int, int, int, int]
"""The oldest version, its bytes, the newest version, its bytes."""


def check_state_growth(subject: Subject) -> Iterator[Finding]:
    """Report operators whose large state has grown over the kept batches, without a watermark."""
    if not _without_watermark(subject.picture):
        return
    for operator in subject.picture.layout.state.operators.values():
        metadata = subject.picture.operators.get(operator.id)
        if metadata is not None and metadata.name not in _CLEANED_BY_WATERMARK:
            continue
        sizes = _sizes(subject, operator)
        if sizes is None or sizes[3] < LARGE_STATE_BYTES or sizes[3] < sizes[1] * GROWN:
            continue
        first, before, last, after = sizes
        message = (
            f"the state of operator {operator.id} grew from {before:,} to {after:,} bytes between "
            f"batches {first - 1} and {last - 1}, and the query has no watermark"
        )
        evidence = {"bytes": after, "bytes_before": before, "versions": [first, last]}
        place = Place(f"state/{operator.id}")
        yield Finding("HF2319", Severity.WARNING, message, place, evidence)


def _without_watermark(picture: Picture) -> bool:
    entry = picture.newest_offsets
    return entry is not None and entry.metadata is not None and not entry.metadata.watermark_ms


def _sizes(subject: Subject, operator: OperatorFiles) -> Sizes | None:
    """Add the oldest and the newest snapshots of all partitions; None where one has not two."""
    first, before, last, after = 0, 0, 0, 0
    for store in operator.stores.values():
        for files in store.partitions.values():
            wholes = _wholes(subject, files)
            if len(wholes) < 2:
                return None
            first, last = max(first, min(wholes)), max(last, *wholes)
            before, after = before + wholes[min(wholes)], after + wholes[max(wholes)]
    return (first, before, last, after) if last else None


def _wholes(subject: Subject, files: PartitionFiles) -> dict[int, int]:
    """Give the versions that are kept whole, with their bytes, as far as they are known."""
    sizes = {version: item.size for version, item in files.snapshots.items()}
    for (version, _), item in files.zips.items():
        size = snapshot_bytes(subject.snapshots.get(item.path))
        if size is not None:
            sizes[version] = size
    return sizes
